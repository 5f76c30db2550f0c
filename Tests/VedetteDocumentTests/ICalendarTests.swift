// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import VedetteDocument

@Suite("Calendars")
struct ICalendarTests {
    /// 2026-11-22T07:00:00Z, a Sunday.
    static let now = 1_795_330_800

    static func calendar(_ lines: String, zones: String = "") -> [UInt8] {
        Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(zones)\(lines)END:VCALENDAR\r\n".utf8)
    }

    /// An event with these lines, each ended by a line feed.
    static func event(_ lines: String) -> String { "BEGIN:VEVENT\nUID:u1\n\(lines)\nEND:VEVENT\n" }

    /// The dates of a calendar in the next days.
    static func dates(
        _ lines: String, zones: String = "", days: Int = 7, home: String? = "Europe/Vienna"
    ) throws -> [ICalendarOccurrence] {
        try ICalendar(calendar(lines, zones: zones), charset: nil)
            .occurrences(in: now...(now + days * 86_400), home: home).found
    }

    private func starts(
        _ lines: String, zones: String = "", days: Int = 7, home: String? = "Europe/Vienna"
    ) throws -> [String] {
        try Self.dates(Self.event(lines), zones: zones, days: days, home: home).map { $0.start?.text ?? "-" }
    }

    private func warnings(_ lines: String, zones: String = "") throws -> [String] {
        try ICalendar(Self.calendar(lines, zones: zones), charset: nil)
            .occurrences(in: Self.now...(Self.now + 86_400), home: "UTC").warnings
    }

    @Test(
        "lines are unfolded as bytes, so that a fold may stand inside a character; escapes and quoted parameters are read"
    )
    func lines() throws {
        var body = Array("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Caf".utf8)
        body += [0xC3, 13, 10, 32, 0xA9]
        body += Array(
            "\\, tea\\; cake\\nat noon\r\nLOCATION:Room\r\n\t 3\r\nORGANIZER;CN=\"Ann; the: first\":mailto:a@b\r\n"
                .utf8)
        body += Array("CATEGORIES:one\\, two,three,\r\nDTSTART:20261123T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR".utf8)
        let event = try #require(ICalendar(body, charset: nil).components.first)
        #expect(event["SUMMARY"]?.text == "Café, tea; cake\nat noon")
        #expect(event["LOCATION"]?.text == "Room 3")
        #expect(event["ORGANIZER"]?.parameters["CN"] == "Ann; the: first" && event["ORGANIZER"]?.value == "mailto:a@b")
        #expect(event["CATEGORIES"]?.texts == ["one, two", "three"])
    }

    @Test("a calendar in UTF-16 or in the charset of the response is read")
    func encodings() throws {
        let text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Grüße\nDTSTART:20261123\nEND:VEVENT\nEND:VCALENDAR\n"
        let wide: [UInt8] = text.utf16.reduce(into: [0xFF, 0xFE]) { $0 += [UInt8($1 & 255), UInt8($1 >> 8)] }
        #expect(try ICalendar(wide, charset: nil).components[0]["SUMMARY"]?.text == "Grüße")
        let latin = text.unicodeScalars.map { UInt8($0.value) }
        #expect(try ICalendar(latin, charset: "iso-8859-1").components[0]["SUMMARY"]?.text == "Grüße")
    }

    @Test("what is cut, nested wrongly or no calendar is an error with its line")
    func errors() throws {
        func kind(_ text: String) -> DocumentError.Kind? {
            failure { _ = try ICalendar(Array(text.utf8), charset: nil) }
        }
        #expect(kind(" \n") == .empty)
        #expect(kind("<!doctype html><title>Log in</title>") == .wrongType)
        #expect(kind("[]") == .wrongType)
        #expect(kind("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\n") == .truncated)
        #expect(kind("BEGIN:VCALENDAR\nEND:VEVENT\n") == .syntax)
        #expect(kind("BEGIN:VCALENDAR\nEND:VCALENDAR\nSUMMARY:x\n") == .syntax)
        #expect(kind("BEGIN:VCALENDAR\n" + String(repeating: "BEGIN:X\n", count: 9)) == .tooDeep)
        #expect(kind(String(repeating: "BEGIN:VCALENDAR\nEND:VCALENDAR\n", count: 100_001)) == .tooLarge)
        #expect(kind("BEGIN:VCALENDAR\nSUMMARY:" + String(repeating: "x", count: 17 << 20)) == .tooLarge)
    }

    @Test("a line that is no property is skipped with a warning; an event without a readable time is left out with one")
    func warned() throws {
        let found = try warnings(
            "BEGIN:VEVENT\nUID:a\nDTSTART:20261123\nno property\n;X:y\nEND:VEVENT\n"
                + "BEGIN:VEVENT\nUID:b\nDTSTART:20261131T090000\nEND:VEVENT\n")
        #expect(
            found == [
                "2 lines are no property and skipped, first line 6",
                "1 event has no time that can be read and left out, the first in line 9",
            ])
    }

    @Test("a time is read by its zone: of the calendar, of the system, UTC, or of the person")
    func zones() throws {
        let own = """
            BEGIN:VTIMEZONE
            TZID:Somewhere
            BEGIN:STANDARD
            DTSTART:19701101T000000
            TZOFFSETFROM:+0300
            TZOFFSETTO:+0230
            RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU
            END:STANDARD
            BEGIN:DAYLIGHT
            DTSTART:19700301T000000
            TZOFFSETFROM:+0230
            TZOFFSETTO:+0300
            RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=1SU
            END:DAYLIGHT
            END:VTIMEZONE

            """
        func start(_ line: String, home: String? = "Europe/Vienna") throws -> [String] {
            try starts(line, zones: own, days: 366, home: home)
        }
        #expect(try start("DTSTART;TZID=Somewhere:20261123T090000") == ["2026-11-23T07:30:00+01:00"])
        #expect(try start("DTSTART;TZID=Somewhere:20270701T090000") == ["2027-07-01T08:00:00+02:00"])
        #expect(try start("DTSTART;TZID=America/New_York:20261123T090000") == ["2026-11-23T15:00:00+01:00"])
        #expect(
            try start("DTSTART;TZID=/a.org/2026_1/America/New_York:20261123T090000") == ["2026-11-23T15:00:00+01:00"])
        #expect(try start("DTSTART:20261123T090000Z") == ["2026-11-23T10:00:00+01:00"])
        #expect(try start("DTSTART:20261123T090000") == ["2026-11-23T09:00:00+01:00"])
        #expect(try start("DTSTART:20261123T090000", home: "UTC") == ["2026-11-23T09:00:00Z"])
        #expect(try start("DTSTART;VALUE=DATE:20261123") == ["2026-11-23"])
        let unknown = Self.event("DTSTART;TZID=../../etc/passwd:20261123T090000")
        #expect(
            try warnings(unknown) == [
                "the time zone '../../etc/passwd' is unknown; its times are read by the clock of 'timezone'"
            ])
        #expect(ICalendar.isZone("Europe/Berlin") && ICalendar.isZone("UTC") && !ICalendar.isZone("Europe/Atlantis"))
    }

    @Test("a calendar's own zone counts unless one is named")
    func home() throws {
        let body = Self.calendar("X-WR-TIMEZONE:Asia/Tokyo\n" + Self.event("DTSTART:20261123T090000"))
        let calendar = try ICalendar(body, charset: nil)
        let range = Self.now...(Self.now + 86_400)
        #expect(try calendar.occurrences(in: range, home: nil).found[0].start?.text == "2026-11-23T09:00:00+09:00")
        #expect(try calendar.occurrences(in: range, home: "UTC").found[0].start?.text == "2026-11-23T09:00:00Z")
    }

    @Test(
        "the offsets of zones equal what another reader of the same table finds, at each hour around their changes",
        arguments: ["Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca"])
    func offsets(_ name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let events = (0..<18_000).map { hour in
            let time = ICalendarTime(civil: Self.now + hour * 3600, isDate: false, zone: .utc).basic
            return "BEGIN:VEVENT\nUID:\(hour)\nDTSTART:\(time)Z\nDTEND:20300101T000000Z\nEND:VEVENT\n"
        }
        let found = try Self.dates(events.joined(), home: name)
        #expect(found.count == 18_000)
        let wrong = found.filter { one in
            guard let start = one.start, let text = start.text.split(separator: "+").first else { return true }
            let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(start.seconds)))
            let civil = ICalendarTime(civil: start.seconds + offset, isDate: false, zone: .floating).extended
            return offset >= 0 ? civil != text : !start.text.hasPrefix(civil)
        }
        #expect(wrong.isEmpty, "\(wrong.first?.start?.text ?? "")")
    }

    @Test("a time that the clocks skip is as much later as they jump; of a time that they show twice, the first counts")
    func changes() throws {
        #expect(
            try starts("DTSTART;TZID=Europe/Vienna:20270328T023000", home: "UTC") == ["2027-03-28T01:30:00Z"])
        #expect(
            try starts("DTSTART;TZID=Europe/Vienna:20271031T023000", home: "UTC") == ["2027-10-31T00:30:00Z"])
    }

    @Test("a recurring event keeps its time of day over a change of the clocks")
    func clocks() throws {
        let found = try starts(
            "DTSTART;TZID=America/New_York:20260105T090000\nRRULE:FREQ=WEEKLY;BYDAY=SU;UNTIL=20270316T000000Z",
            days: 366,
            home: "UTC")
        #expect(found.first == "2026-11-22T14:00:00Z" && found.last == "2027-03-14T13:00:00Z" && found.count == 17)
    }

    @Test(
        "COUNT, UNTIL, INTERVAL and BY parts end and choose the dates; excluded ones are left out and further ones added"
    )
    func rules() throws {
        #expect(try starts("DTSTART:20261121T090000Z\nRRULE:FREQ=DAILY;COUNT=3", home: "UTC").count == 2)
        #expect(
            try starts("DTSTART:20261120T090000Z\nRRULE:FREQ=DAILY;UNTIL=20261123", home: "UTC")
                == ["2026-11-22T09:00:00Z", "2026-11-23T09:00:00Z"])
        #expect(
            try starts("DTSTART;VALUE=DATE:20261030\nRRULE:FREQ=MONTHLY;BYDAY=-1FR") == ["2026-11-27"])
        #expect(
            try starts("DTSTART;VALUE=DATE:20261109\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU") == [
                "2026-11-23", "2026-11-24",
            ])
        #expect(
            try starts(
                "DTSTART:20261101T090000Z\nRRULE:FREQ=DAILY\nEXDATE:20261123T090000Z,20261124T090000Z\nRDATE:20261125T120000Z",
                days: 4, home: "UTC") == [
                    "2026-11-22T09:00:00Z", "2026-11-25T09:00:00Z", "2026-11-25T12:00:00Z",
                ])
        #expect(
            try starts("DTSTART:20261122T000000Z\nRRULE:FREQ=HOURLY;INTERVAL=8", days: 1, home: "UTC") == [
                "2026-11-22T08:00:00Z", "2026-11-22T16:00:00Z", "2026-11-23T00:00:00Z",
            ])
        #expect(
            try starts("DTSTART:20261122T000000Z\nRRULE:FREQ=HOURLY;INTERVAL=7;COUNT=3", days: 1, home: "UTC") == [
                "2026-11-22T14:00:00Z"
            ])
    }

    @Test("the next date of a recurring event is read however far off, unless it is excluded")
    func next() throws {
        #expect(try starts("DTSTART;VALUE=DATE:19800301\nRRULE:FREQ=YEARLY") == ["2027-03-01"])
        #expect(
            try starts("DTSTART;VALUE=DATE:19800301\nRRULE:FREQ=YEARLY\nEXDATE;VALUE=DATE:20270301") == ["2028-03-01"])
        #expect(try starts("DTSTART;VALUE=DATE:19800301\nRRULE:FREQ=YEARLY;UNTIL=19900301") == [])
    }

    @Test("an event that is going on is there, one that is over is not; a whole day lasts to its end at home")
    func over() throws {
        #expect(try starts("DTSTART:20261122T063000Z\nDTEND:20261122T070001Z", home: "UTC").count == 1)
        #expect(try starts("DTSTART:20261122T063000Z\nDTEND:20261122T070000Z", home: "UTC").isEmpty)
        #expect(try starts("DTSTART:20261122T063000Z\nDURATION:PT31M", home: "UTC").count == 1)
        #expect(try starts("DTSTART;VALUE=DATE:20261122", home: "UTC").count == 1)
        #expect(try starts("DTSTART;VALUE=DATE:20261121", home: "UTC").isEmpty)
        #expect(try starts("DTSTART;VALUE=DATE:20261121", home: "America/Los_Angeles").count == 1)
        #expect(
            try starts("DTSTART:20261101T060000Z\nDTEND:20261103T080000Z\nRRULE:FREQ=WEEKLY", home: "UTC").count == 2)
    }

    @Test(
        "a changed date takes the place of its original; a cancelled one stays as cancelled; a moved one is where it is now"
    )
    func overrides() throws {
        let main =
            "DTSTART;TZID=Europe/Vienna:20261101T090000\nDTEND;TZID=Europe/Vienna:20261101T093000\nRRULE:FREQ=DAILY"
        func change(_ lines: String) -> String { "BEGIN:VEVENT\nUID:u1\n\(lines)\nEND:VEVENT\n" }
        let found = try Self.dates(
            change("RECURRENCE-ID:20261123T080000Z\nDTSTART;TZID=Europe/Vienna:20261123T150000\nSUMMARY:Later")
                + Self.event(main)
                + change("RECURRENCE-ID;TZID=Europe/Vienna:20261124T090000\nDTSTART:20261124T080000Z\nSTATUS:CANCELLED")
                + change("RECURRENCE-ID:20270101T080000Z\nDTSTART:20261125T120000Z"), days: 4)
        #expect(
            found.map { $0.start?.text } == [
                "2026-11-22T09:00:00+01:00", "2026-11-23T15:00:00+01:00", "2026-11-24T09:00:00+01:00",
                "2026-11-25T09:00:00+01:00", "2026-11-25T13:00:00+01:00",
            ])
        #expect(found.map(\.date) == ["20261122", "20261123", "20261124", "20261125", "20270101"])
        #expect(found[1].component["SUMMARY"]?.text == "Later" && found[2].component["STATUS"]?.text == "CANCELLED")
        #expect(found[0].end?.text == "2026-11-22T09:30:00+01:00")
    }

    @Test("a changed date has the day of its event's zone, also before its original is near")
    func changedDay() throws {
        func date(_ id: String, days: Int) throws -> [String?] {
            let main = "DTSTART;TZID=Asia/Tokyo:20261102T080000\nRRULE:FREQ=WEEKLY"
            let change = "BEGIN:VEVENT\nUID:u1\nRECURRENCE-ID\(id)\nDTSTART:20261124T120000Z\nSUMMARY:Now\nEND:VEVENT\n"
            return try Self.dates(Self.event(main) + change, days: days)
                .filter { $0.component["SUMMARY"] != nil }.map(\.date)
        }
        for days in [7, 40] {
            #expect(try date(":20261220T230000Z", days: days) == ["20261221"])
            #expect(try date(";TZID=Asia/Tokyo:20261221T080000", days: days) == ["20261221"])
        }
    }

    @Test("a day without a time excludes, changes or adds the date of that day of an event that has times")
    func days() throws {
        let main = "DTSTART;TZID=Europe/Vienna:20261101T090000\nRRULE:FREQ=DAILY\n"
        let excluded = try Self.dates(Self.event(main + "EXDATE;VALUE=DATE:20261123"), days: 3)
        #expect(excluded.map(\.date) == ["20261122", "20261124"])
        let change =
            "BEGIN:VEVENT\nUID:u1\nRECURRENCE-ID;VALUE=DATE:20261123\nDTSTART:20261123T080000Z\n"
            + "STATUS:CANCELLED\nEND:VEVENT\n"
        let changed = try Self.dates(Self.event(main) + change, days: 2)
        #expect(changed.map(\.date) == ["20261122", "20261123"])
        #expect(changed[1].component["STATUS"]?.text == "CANCELLED")
        #expect(
            try starts("DTSTART;TZID=Europe/Vienna:20261123T090000\nRDATE;VALUE=DATE:20261125") == [
                "2026-11-23T09:00:00+01:00", "2026-11-25T09:00:00+01:00",
            ])
    }

    @Test("a date that is added to a rule has its time; the dates of the rule keep their days")
    func addedDates() throws {
        let found = try Self.dates(
            Self.event("DTSTART:20261101T090000Z\nRRULE:FREQ=DAILY\nRDATE:20261101T090000Z,20261123T150000Z"), days: 3,
            home: "UTC")
        #expect(found.map(\.date) == ["20261122", "20261123", "20261123T150000Z", "20261124"])
    }

    @Test("a date of a rule with several times a day is told apart by its time; one without its event is there, too")
    func identities() throws {
        let twice = try Self.dates(
            Self.event("DTSTART:20261101T090000Z\nRRULE:FREQ=DAILY;BYHOUR=9,15"), days: 1, home: "UTC")
        #expect(twice.map(\.date) == ["20261122T090000Z", "20261122T150000Z"])
        let alone = try Self.dates(Self.event("RECURRENCE-ID:20261123T090000Z\nDTSTART:20261123T100000Z"), home: "UTC")
        #expect(alone.map(\.date) == ["20261123T090000Z"])
    }

    @Test("the mark of an event without an alarm is none, nor is an alarm at a place")
    func untimedAlarms() throws {
        func alarm(_ lines: String) throws -> Int? {
            let alarm = "BEGIN:VALARM\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\n\(lines)\nEND:VALARM"
            return try Self.dates(Self.event("DTSTART:20261123T090000Z\n\(alarm)"), home: "UTC")[0].alarm
        }
        for lines in ["ACTION:NONE", "ACTION:none\nX-APPLE-DEFAULT-ALARM:TRUE"] { #expect(try alarm(lines) == nil) }
        for lines in ["X-APPLE-PROXIMITY:DEPART", "PROXIMITY:ARRIVE"] {
            #expect(try alarm("ACTION:DISPLAY\n\(lines)") == nil)
        }
        #expect(try alarm("ACTION:DISPLAY") != nil)
    }

    @Test("the first alarm is found: before the start, after the end, or at a time")
    func alarms() throws {
        func alarm(_ trigger: String) throws -> Int? {
            let event =
                "DTSTART:20261123T090000Z\nDTEND:20261123T100000Z\n"
                + "BEGIN:VALARM\nTRIGGER\(trigger)\nEND:VALARM\nBEGIN:VALARM\nTRIGGER:PT2H\nEND:VALARM"
            let found = try Self.dates(Self.event(event), home: "UTC")
            return found[0].alarm.map { $0 - (found[0].start?.seconds ?? 0) }
        }
        #expect(try alarm(":-PT15M") == -900)
        #expect(try alarm(";RELATED=END:-P0DT0H5M0S") == 3300)
        #expect(try alarm(";VALUE=DATE-TIME:20261123T083000Z") == -1800)
        #expect(try alarm(":soon") == 7200)
        #expect(ICalendarDuration.parse("-P1DT2H3M4S") ?? (0, 0) == (-1, -7384))
        #expect(ICalendarDuration.parse("P2W") ?? (0, 0) == (14, 0))
        // Weeks beyond the range of an integer ended the program.
        #expect(ICalendarDuration.parse("P" + String(repeating: "1000000000W", count: 1_300_000)) == nil)
        for text in ["", "P", "PT", "15M", "P1H", "PT1D", "P99999999999999999999D"] where text != "PT" {
            #expect(ICalendarDuration.parse(text) == nil, "\(text)")
        }
    }

    @Test("dates of an exception rule are left out, and the next one is found behind them")
    func exceptionRule() throws {
        #expect(
            try starts("DTSTART;VALUE=DATE:20261101\nRRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE", days: 4)
                == ["2026-11-22", "2026-11-26"])
        #expect(
            try starts("DTSTART;VALUE=DATE:20261101\nRRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY;UNTIL=20301224") == [
                "2030-12-25"
            ])
    }

    @Test(
        "a rule that can never match and a zone with one are left out with a warning, in few steps",
        arguments: [
            ("impossible-rule.ics", 100, "1 recurrence rule fits no date; the first date of such an event counts"),
            ("impossible-hours.ics", 100, "1 recurrence rule fits no date; the first date of such an event counts"),
            (
                // One file is looked up.
                "impossible-zone.ics", 1100,
                "the time zone 'Bad' has a definition that is not read; its times are read by the clock of 'timezone'"
            ),
        ])
    func impossible(_ name: String, _ steps: Int, _ warning: String) throws {
        let calendar = try ICalendar(Fixture.bytes("calendars/\(name)"), charset: nil)
        let range = Self.now...(Self.now + 7 * 86_400)
        #expect(try calendar.occurrences(in: range, home: "UTC", steps: steps).warnings == [warning])
    }

    @Test("rules with many dates end at a bound of steps, and the event or zone that took them is named")
    func hostile() throws {
        func event(_ rule: String) -> String {
            "BEGIN:VEVENT\nUID:\(rule)\nDTSTART:20000101T090000Z\nRRULE:\(rule)\nEND:VEVENT\n"
        }
        #expect(try Self.dates(event("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")).isEmpty)
        #expect(try Self.dates(event("FREQ=MINUTELY")).count == 1000)
        let busy = (0..<30).map {
            "BEGIN:VEVENT\nUID:\($0)\nDTSTART:20000101T090000Z\nRRULE:FREQ=MINUTELY\nEND:VEVENT\n"
        }
        #expect(failure { _ = try Self.dates(busy.joined()) } == .tooLarge)
        func reason(_ lines: String, zones: String = "") -> String? {
            do {
                let calendar = try ICalendar(Self.calendar(lines, zones: zones), charset: nil)
                _ = try calendar.occurrences(in: Self.now...(Self.now + 86_400), home: "UTC", steps: 50_000)
                return nil
            } catch { return error.reason }
        }
        let rest =
            " takes more steps than the 50000 that a calendar may take; remove it from the calendar, or write a simpler rule"
        let counted = event("FREQ=SECONDLY;BYDAY=MO;COUNT=100000000")
        #expect(reason(event("FREQ=DAILY") + counted) == "the recurring event in line 8" + rest)
        let same = "DTSTART:20000101T090000Z\nRRULE:FREQ=MINUTELY\nEXRULE:FREQ=MINUTELY"
        #expect(reason(Self.event(same)) == "the recurring event in line 3" + rest)
        let part = """
            BEGIN:STANDARD
            DTSTART:16010101T000000
            TZOFFSETFROM:+0000
            TZOFFSETTO:+0100
            RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU
            END:STANDARD

            """
        let zone = "BEGIN:VTIMEZONE\nTZID:Busy\n" + String(repeating: part, count: 200) + "END:VTIMEZONE\n"
        #expect(
            reason(Self.event("DTSTART;TZID=Busy:20261123T090000"), zones: zone)
                == "the definition of the time zone 'Busy'" + rest)
    }

    @Test("a zone of 200 parts with leap days is read within the steps of an ordinary calendar")
    func largeZone() throws {
        let part = """
            BEGIN:STANDARD
            DTSTART:16010101T000000
            TZOFFSETFROM:+0100
            TZOFFSETTO:+0200
            RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29
            END:STANDARD

            """
        let zone = "BEGIN:VTIMEZONE\nTZID:Leap\n" + String(repeating: part, count: 200) + "END:VTIMEZONE\n"
        #expect(
            try starts("DTSTART;TZID=Leap:20261123T090000", zones: zone, home: "UTC") == ["2026-11-23T07:00:00Z"])
    }

    @Test("the rules of a zone end with UNTIL or COUNT, and further changes are listed")
    func zoneEnds() throws {
        func zone(_ name: String, _ offset: String, _ lines: String) -> String {
            "BEGIN:\(name)\nTZOFFSETFROM:\(offset == "+0200" ? "+0100" : "+0200")\nTZOFFSETTO:\(offset)\n\(lines)\nEND:\(name)\n"
        }
        let zones =
            "BEGIN:VTIMEZONE\nTZID:Z\n"
            + zone("STANDARD", "+0100", "DTSTART:20001029T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;COUNT=3")
            + zone(
                "DAYLIGHT", "+0200",
                "DTSTART:20010325T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;UNTIL=20020331T010000Z")
            + zone("DAYLIGHT", "+0200", "DTSTART:20261120T000000\nRDATE:20261201T000000,20261124T000000")
            + zone("STANDARD", "+0100", "DTSTART:20261123T000000") + "END:VTIMEZONE\n"
        func start(_ time: String) throws -> [String] {
            try starts("DTSTART;TZID=Z:\(time)\nDTEND:20400101T000000Z", zones: zones, days: 20, home: "UTC")
        }
        #expect(try start("20000701T120000") == ["2000-07-01T10:00:00Z"])
        #expect(try start("20010701T120000") == ["2001-07-01T10:00:00Z"])
        #expect(try start("20020701T120000") == ["2002-07-01T10:00:00Z"])
        #expect(try start("20030701T120000") == ["2003-07-01T11:00:00Z"])
        #expect(try start("20261122T120000") == ["2026-11-22T10:00:00Z"])
        #expect(try start("20261123T120000") == ["2026-11-23T11:00:00Z"])
        #expect(try start("20261124T120000") == ["2026-11-24T10:00:00Z"])
    }

    @Test(
        "the offsets of the system's zones equal what another reader finds from 1971 to 2100, behind the changes of the file too",
        arguments: [
            "Europe/Vienna", "Europe/Dublin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe",
            "Asia/Kolkata", "Pacific/Chatham",
        ])
    func zoneFile(_ name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let clock = ICalendarZones([:], home: name, ICalendarBudget())
        let wrong = stride(from: 31_536_000, to: 4_102_444_800, by: 86_400 * 5 + 3_600 * 7).filter { utc in
            let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(utc)))
            return clock.civil(at: utc, in: .named(name)) - utc != offset
        }
        #expect(wrong.isEmpty, "\(wrong.first ?? 0)")
    }

    @Test("the rules at the end of a zone's file are read in each form of POSIX")
    func zoneRules() throws {
        func offsets(_ text: String, _ days: [(Int, Int)]) throws -> [Int] {
            let rules = try #require(ZoneRules(text), "\(text)")
            let budget = ICalendarBudget()
            let clock = ICalendarClock("Z", initial: 0, changes: [(0, 0)], rules.observances(after: 0, budget))
            return days.map { clock.offset(at: (Gregorian.days(2027, $0, $1)) * 86_400 + 43_200, budget) / 60 }
        }
        #expect(try offsets("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", [(1, 1), (7, 1), (10, 4)]) == [660, 630, 660])
        #expect(try offsets("IST-1GMT0,M10.5.0,M3.5.0/1", [(1, 1), (7, 1)]) == [0, 60])
        #expect(try offsets("A3B,J60/0,J365/0", [(2, 28), (3, 1), (12, 30), (12, 31)]) == [-180, -120, -120, -180])
        #expect(try offsets("A-0B,0/0,58/-24", [(1, 1), (2, 26), (2, 28)]) == [60, 60, 0])
        for text in [
            "", "A", "3", "A3B,M10.1.0", "A3B,M13.1.0,M4.1.0", "A3B,M10.6.0,M4.1.0", "A3B,J0,J1", "A3B,M1.1.0,M4.1.0,",
        ] {
            #expect(ZoneRules(text) == nil, "\(text)")
        }
        #expect(ZoneFile.clock("../../../etc/passwd", ICalendarBudget()) == nil)
        #expect(ZoneFile.clock("Europe", ICalendarBudget()) == nil)
        #expect(ZoneFile.clock("tzdata.zi", ICalendarBudget()) == nil)
    }

    @Test("a definition of a zone with changes at every second is not used")
    func hostileZone() throws {
        let zone = """
            BEGIN:VTIMEZONE
            TZID:Europe/Vienna
            BEGIN:STANDARD
            DTSTART:19700101T000000
            TZOFFSETFROM:+0000
            TZOFFSETTO:+0500
            RRULE:FREQ=SECONDLY
            END:STANDARD
            END:VTIMEZONE

            """
        #expect(
            try starts("DTSTART;TZID=Europe/Vienna:20261123T090000", zones: zone, home: "UTC") == [
                "2026-11-23T08:00:00Z"
            ])
    }
}
