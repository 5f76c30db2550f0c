// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteDocument

@Suite("Recurrence rules")
struct RecurrenceTests {
    /// The dates of a rule by the clocks of its first date, a time of 09:00:00 left out.
    private func dates(
        _ text: String, from start: String = "19970902T090000", at lower: String? = nil, _ count: Int = 300,
        budget: ICalendarBudget = ICalendarBudget()
    ) throws -> [String] {
        let (rule, first) = (try #require(ICalendarRule(text)), try #require(ICalendarTime(start)))
        let from = try #require(ICalendarTime(lower ?? start)).civil
        var dates = ICalendarDates(
            rule, from: first, at: from, until: rule.last(for: first) { $0 - 4 * 3600 }, budget)
        var found: [String] = []
        while found.count < count, let date = dates.next(budget) {
            let text = ICalendarTime(civil: date, isDate: first.isDate, zone: .floating).basic
            found.append(text.hasSuffix("T090000") ? String(text.prefix(8)) : text)
        }
        return found
    }

    /// The examples of RFC 5545 §3.8.5.3 with the dates that it names. It ends the one of three hours at 17:00 of New York, and writes that
    /// time as if it were UTC.
    private static let examples: [(rule: String, start: String, dates: String)] = [
        (
            "FREQ=DAILY;COUNT=10", "19970902",
            "19970902 19970903 19970904 19970905 19970906 19970907 19970908 19970909 19970910 19970911"
        ),
        ("FREQ=DAILY;INTERVAL=2", "19970902", "19970902 19970904 19970906 19970908 19970910 …"),
        ("FREQ=DAILY;INTERVAL=10;COUNT=5", "19970902", "19970902 19970912 19970922 19971002 19971012"),
        (
            "FREQ=WEEKLY;COUNT=10", "19970902",
            "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104"
        ),
        (
            "FREQ=WEEKLY;UNTIL=19971224T000000Z", "19970902",
            "19970902 19970909 19970916 19970923 19970930 19971007 19971014 19971021 19971028 19971104 19971111 "
                + "19971118 19971125 19971202 19971209 19971216 19971223"
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU", "19970902",
            "19970902 19970916 19970930 19971014 19971028 19971111 19971125 19971209 19971223 19980106 19980120 "
                + "…"
        ),
        (
            "FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=SU;BYDAY=TU,TH", "19970902",
            "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"
        ),
        (
            "FREQ=WEEKLY;COUNT=10;WKST=SU;BYDAY=TU,TH", "19970902",
            "19970902 19970904 19970909 19970911 19970916 19970918 19970923 19970925 19970930 19971002"
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;WKST=SU;BYDAY=MO,WE,FR", "19970901",
            "19970901 19970903 19970905 19970915 19970917 19970919 19970929 19971001 19971003 19971013 19971015 "
                + "19971017 19971027 19971029 19971031 19971110 19971112 19971114 19971124 19971126 19971128 19971208 "
                + "19971210 19971212 19971222"
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH", "19970902",
            "19970902 19970904 19970916 19970918 19970930 19971002 19971014 19971016"
        ),
        (
            "FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "19970905",
            "19970905 19971003 19971107 19971205 19980102 19980206 19980306 19980403 19980501 19980605"
        ),
        ("FREQ=MONTHLY;UNTIL=19971224T000000Z;BYDAY=1FR", "19970905", "19970905 19971003 19971107 19971205"),
        (
            "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "19970907",
            "19970907 19970928 19971102 19971130 19980104 19980125 19980301 19980329 19980503 19980531"
        ),
        ("FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "19970922", "19970922 19971020 19971117 19971222 19980119 19980216"),
        ("FREQ=MONTHLY;BYMONTHDAY=-3", "19970928", "19970928 19971029 19971128 19971229 19980129 19980226 …"),
        (
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=2,15", "19970902",
            "19970902 19970915 19971002 19971015 19971102 19971115 19971202 19971215 19980102 19980115"
        ),
        (
            "FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "19970930",
            "19970930 19971001 19971031 19971101 19971130 19971201 19971231 19980101 19980131 19980201"
        ),
        (
            "FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "19970910",
            "19970910 19970911 19970912 19970913 19970914 19970915 19990310 19990311 19990312 19990313"
        ),
        (
            "FREQ=MONTHLY;INTERVAL=2;BYDAY=TU", "19970902",
            "19970902 19970909 19970916 19970923 19970930 19971104 19971111 19971118 19971125 19980106 19980113 "
                + "19980120 19980127 19980303 19980310 19980317 19980324 19980331 …"
        ),
        (
            "FREQ=YEARLY;COUNT=10;BYMONTH=6,7", "19970610",
            "19970610 19970710 19980610 19980710 19990610 19990710 20000610 20000710 20010610 20010710"
        ),
        (
            "FREQ=YEARLY;INTERVAL=2;COUNT=10;BYMONTH=1,2,3", "19970310",
            "19970310 19990110 19990210 19990310 20010110 20010210 20010310 20030110 20030210 20030310"
        ),
        (
            "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "19970101",
            "19970101 19970410 19970719 20000101 20000409 20000718 20030101 20030410 20030719 20060101"
        ),
        ("FREQ=YEARLY;BYDAY=20MO", "19970519", "19970519 19980518 19990517 …"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "19970512", "19970512 19980511 19990517 …"),
        (
            "FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "19970313",
            "19970313 19970320 19970327 19980305 19980312 19980319 19980326 19990304 19990311 19990318 19990325 "
                + "…"
        ),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "19970902", "19980213 19980313 19981113 19990813 20001013 …"),
        (
            "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", "19970913",
            "19970913 19971011 19971108 19971213 19980110 19980207 19980307 19980411 19980509 19980613 …"
        ),
        (
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "19961105",
            "19961105 20001107 20041102 …"
        ),
        ("FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "19970904", "19970904 19971007 19971106"),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "19970929",
            "19970929 19971030 19971127 19971230 19980129 19980226 19980330 …"
        ),
        (
            "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z", "19970902",
            "19970902 19970902T120000 19970902T150000"
        ),
        (
            "FREQ=MINUTELY;INTERVAL=15;COUNT=6", "19970902",
            "19970902 19970902T091500 19970902T093000 19970902T094500 19970902T100000 19970902T101500"
        ),
        (
            "FREQ=MINUTELY;INTERVAL=90;COUNT=4", "19970902",
            "19970902 19970902T103000 19970902T120000 19970902T133000"
        ),
        (
            "FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", "19970902",
            "19970902 19970902T092000 19970902T094000 19970902T100000 19970902T102000 19970902T104000 "
                + "19970902T110000 19970902T112000 19970902T114000 19970902T120000 19970902T122000 19970902T124000 "
                + "19970902T130000 19970902T132000 19970902T134000 19970902T140000 19970902T142000 19970902T144000 "
                + "19970902T150000 19970902T152000 19970902T154000 19970902T160000 19970902T162000 19970902T164000 "
                + "19970903 19970903T092000 …"
        ),
        (
            "FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", "19970902",
            "19970902 19970902T092000 19970902T094000 19970902T100000 19970902T102000 19970902T104000 "
                + "19970902T110000 19970902T112000 19970902T114000 19970902T120000 19970902T122000 19970902T124000 "
                + "19970902T130000 19970902T132000 19970902T134000 19970902T140000 19970902T142000 19970902T144000 "
                + "19970902T150000 19970902T152000 19970902T154000 19970902T160000 19970902T162000 19970902T164000 "
                + "19970903 19970903T092000 …"
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "19970805",
            "19970805 19970810 19970819 19970824"
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "19970805",
            "19970805 19970817 19970819 19970831"
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "20070115", "20070115 20070130 20070215 20070315 20070330"),
    ]

    @Test("the examples of RFC 5545 have its dates", arguments: examples)
    func example(_ rule: String, _ start: String, _ dates: String) throws {
        let isEndless = dates.hasSuffix(" …")
        let expected = dates.split(separator: " ").filter { $0 != "…" }.map(String.init)
        #expect(
            try self.dates(rule, from: start + "T090000", isEndless ? expected.count : expected.count + 1) == expected)
    }

    @Test("the long examples of RFC 5545 have as many dates as it names, the first and last of them")
    func longExamples() throws {
        for (rule, start, count, last) in [
            ("FREQ=DAILY;UNTIL=19971224T000000Z", "19970902", 113, "19971223"),
            ("FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", "19980101", 93, "20000131"),
            ("FREQ=DAILY;UNTIL=20000131T140000Z;BYMONTH=1", "19980101", 93, "20000131"),
            ("FREQ=YEARLY;BYDAY=TH;BYMONTH=6,7,8;UNTIL=19991231", "19970605", 39, "19990826"),
        ] {
            let found = try dates(rule, from: start + "T090000")
            #expect(found.count == count && found.first == start && found.last == last, "\(rule)")
        }
    }

    /// Dates that python-dateutil 2.9 finds, too.
    private static let others: [(rule: String, start: String, dates: String)] = [
        ("FREQ=YEARLY", "20240229T090000", "20240229 20280229 20320229"),
        ("FREQ=MONTHLY", "20260131T090000", "20260131 20260331 20260531"),
        ("FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=-1", "20260101T090000", "20260228 20270228 20280229"),
        ("FREQ=YEARLY;BYYEARDAY=-1,60", "20260101T090000", "20260301 20261231 20270301"),
        ("FREQ=YEARLY;BYDAY=-1SU,53TH", "20260101T090000", "20261227 20261231 20271226"),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO", "20260101T090000", "20270104 20280103 20290101"),
        ("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SU;WKST=SU", "20260101T090000", "20261227 20271226 20281224"),
        ("FREQ=YEARLY;BYMONTH=1,7;BYDAY=1MO;BYSETPOS=-1", "20260101T090000", "20260706 20270705 20280703"),
        ("FREQ=DAILY;BYMONTHDAY=-1;BYDAY=FR", "20260101T090000", "20260731 20270430 20271231"),
        (
            "FREQ=DAILY;INTERVAL=2;BYHOUR=9,15;BYSETPOS=-1", "20260101T090000",
            "20260101T150000 20260103T150000 20260105T150000"
        ),
        (
            "FREQ=HOURLY;INTERVAL=5;BYDAY=MO;BYMINUTE=0,30", "20260101T090000",
            "20260105T030000 20260105T033000 20260105T080000"
        ),
        (
            "FREQ=MINUTELY;INTERVAL=7;BYHOUR=12;BYSECOND=0,30", "20260101T090000",
            "20260101T120200 20260101T120230 20260101T120900"
        ),
        (
            "FREQ=SECONDLY;INTERVAL=40;BYMONTH=3;BYMINUTE=1", "20260101T090000",
            "20260301T000120 20260301T010120 20260301T020120"
        ),
        ("FREQ=SECONDLY;BYHOUR=0;BYMINUTE=0;BYSECOND=60", "20260101T090000", "20260102T000059 20260103T000059"),
    ]

    @Test("limits, expansions and positions of each frequency choose their dates", arguments: others)
    func other(_ rule: String, _ start: String, _ dates: String) throws {
        let expected = dates.split(separator: " ").map(String.init)
        #expect(try self.dates(rule, from: start, expected.count) == expected)
    }

    @Test("a week without a day has the day of the first date, and times mean nothing for whole days")
    func completed() throws {
        #expect(try dates("FREQ=YEARLY;BYWEEKNO=20", from: "20260101T090000", 2) == ["20260514", "20270520"])
        #expect(try dates("FREQ=DAILY;BYHOUR=3,4;COUNT=2", from: "20260101") == ["20260101", "20260102"])
        #expect(try dates("FREQ=HOURLY", from: "20260101").isEmpty)
        #expect(try dates("FREQ=WEEKLY;BYDAY=1MO;COUNT=2", from: "20260101T090000") == ["20260105", "20260112"])
    }

    @Test(
        "the dates from a later beginning are those from the first one, with few steps",
        arguments: [
            "FREQ=DAILY;INTERVAL=3", "FREQ=DAILY;BYDAY=MO,WE", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH",
            "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO", "FREQ=WEEKLY;INTERVAL=3", "FREQ=MONTHLY",
            "FREQ=MONTHLY;INTERVAL=5;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=31", "FREQ=YEARLY;INTERVAL=4", "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
            "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "FREQ=YEARLY;BYYEARDAY=1,100,200", "FREQ=HOURLY;INTERVAL=7",
            "FREQ=MINUTELY;INTERVAL=50", "FREQ=DAILY;COUNT=5000", "FREQ=HOURLY;INTERVAL=7;COUNT=9000",
            "FREQ=WEEKLY;BYDAY=SU,TU,SA;BYHOUR=8,10;COUNT=5000", "FREQ=WEEKLY;WKST=SU;BYDAY=SU,MO;BYSETPOS=1;COUNT=900",
            "FREQ=DAILY;BYHOUR=8,10;BYMINUTE=0,30;COUNT=20000",
        ])
    func laterBeginning(_ text: String) throws {
        let (rule, first) = (try #require(ICalendarRule(text)), try #require(ICalendarTime("20050131T090000")))
        let lower = try #require(ICalendarTime("20100704T120000")).civil
        let few = ICalendarBudget()
        var late = ICalendarDates(rule, from: first, at: lower, until: nil, few)
        let found = (0..<30).compactMap { _ in late.next(few) }
        var all = ICalendarDates(rule, from: first, at: first.civil, until: nil, ICalendarBudget())
        var walked: [Int] = []
        while walked.count < found.count, let date = all.next(ICalendarBudget()) {
            if date >= lower { walked.append(date) }
        }
        #expect(found == walked && !found.isEmpty)
        #expect(few.taken < 2000, "\(few.taken)")
    }

    @Test(
        "a rule that can never match is found out at once",
        arguments: [
            "FREQ=DAILY;BYMONTHDAY=31;BYMONTH=4", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30,-30",
            "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=32",
            "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=8", "FREQ=MINUTELY;BYSETPOS=2", "FREQ=HOURLY;INTERVAL=24;BYHOUR=3",
            "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=30", "FREQ=SECONDLY;INTERVAL=60;BYSECOND=1",
        ])
    func impossible(_ text: String) throws {
        let budget = ICalendarBudget(steps: 2000)
        #expect(try dates(text, budget: budget).isEmpty && !budget.isExhausted)
    }

    @Test(
        "a search ends when the calendar has repeated",
        arguments: [
            ("FREQ=YEARLY;BYYEARDAY=366;BYMONTH=1", 8_000), ("FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=2", 20_000),
            ("FREQ=HOURLY;BYYEARDAY=100;BYMONTH=1", 12_000), ("FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", 60_000),
            ("FREQ=DAILY;INTERVAL=7;BYDAY=MO", 250_000),
        ])
    func repeated(_ text: String, _ steps: Int) throws {
        let budget = ICalendarBudget(steps: steps)
        #expect(try dates(text, budget: budget).isEmpty && !budget.isExhausted)
    }

    @Test("what a part excludes is passed over, not stepped through")
    func skipped() throws {
        let budget = ICalendarBudget(steps: 300)
        #expect(
            try dates("FREQ=SECONDLY;BYMONTH=3;BYHOUR=2;BYMINUTE=59", from: "20260402T090000", 2, budget: budget) == [
                "20270301T025900", "20270301T025901",
            ])
        #expect(
            try dates("FREQ=MINUTELY;BYMONTHDAY=29;BYMONTH=2", from: "20250101T090000", 1, budget: budget) == [
                "20280229T000000"
            ])
        #expect(
            try dates("FREQ=SECONDLY", from: "19700101T090000", at: "20260101T000000", 1, budget: budget) == [
                "20260101T000000"
            ])
        #expect(!budget.isExhausted)
    }

    @Test("what breaks the grammar is no rule")
    func grammar() {
        for text in [
            "", "FREQ=", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;INTERVAL=0", "RSCALE=CHINESE;FREQ=YEARLY",
            "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;UNTIL=soon", "FREQ=DAILY;COUNT=1,2", "FREQ=DAILY;BYMONTH=13",
            "FREQ=MONTHLY;BYMONTHDAY=0", "FREQ=MONTHLY;BYDAY=0MO", "FREQ=MONTHLY;BYDAY=MOX", "FREQ=WEEKLY;WKST=XX",
            "FREQ=DAILY;BYHOUR=24", "FREQ=DAILY;BYEASTER=0", "FREQ=DAILY;BYSECOND=",
        ] {
            #expect(ICalendarRule(text) == nil, "\(text)")
        }
        #expect(ICalendarRule("freq=daily;X-NOTE=1") != nil)
    }

    @Test("the days of a rule that stands alone end with it, or with the day that is asked for")
    func daysAlone() {
        func days(_ rule: String) -> [Int]? { RecurrenceDays.days(of: rule, from: 0, through: 100) }
        // 1970-01-01 was a Thursday.
        #expect(days("FREQ=WEEKLY;BYDAY=SU;COUNT=3") == [3, 10, 17])
        #expect(days("FREQ=MONTHLY;BYDAY=1SU") == [3, 31, 59, 94])
        #expect(days("FREQ=WEEKLY;UNTIL=19700109T120000Z") == [0, 7])
        for rule in ["FREQ=HOURLY", "FREQ=DAILY;BYHOUR=1,2", "soon", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"] {
            #expect(days(rule) == nil, "\(rule)")
        }
    }
}
