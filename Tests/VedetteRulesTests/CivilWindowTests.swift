// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteText

@testable import VedetteCore

@Suite("Windows of the day")
struct CivilWindowTests {
    private func end(_ window: (String, String), _ zone: String, days: Set<Int> = [], at now: String) -> String? {
        guard let start = CivilTimeOfDay(window.0), let end = CivilTimeOfDay(window.1) else { return "unreadable" }
        let made = CivilWindow(name: "w", start: start, end: end, days: days, zone: zone)
        return made.end(of: RuleHarness.time(now), ZoneTime())?.rfc3339
    }

    @Test("a window over midnight ends on the next morning; its start belongs to it, its end does not")
    func midnight() {
        let night = ("22:00", "07:00")
        #expect(end(night, "UTC", at: "2026-11-21T21:59:59Z") == nil)
        #expect(end(night, "UTC", at: "2026-11-21T22:00:00Z") == "2026-11-22T07:00:00.000Z")
        #expect(end(night, "UTC", at: "2026-11-22T06:59:59Z") == "2026-11-22T07:00:00.000Z")
        #expect(end(night, "UTC", at: "2026-11-22T07:00:00Z") == nil)
    }

    @Test("a window that ends when it starts lasts a day")
    func wholeDay() {
        let day = ("09:00", "09:00")
        #expect(end(day, "UTC", at: "2026-11-21T09:00:00Z") == "2026-11-22T09:00:00.000Z")
        #expect(end(day, "UTC", at: "2026-11-22T08:59:59Z") == "2026-11-22T09:00:00.000Z")
        #expect(end(day, "UTC", days: [6], at: "2026-11-22T09:00:00Z") == nil)
    }

    @Test("where the change of the clocks makes two windows overlap, the later end counts")
    func overlap() {
        // Vienna, 2026-03-29: the window of Saturday ends at 01:30Z, since its end is skipped; the next starts at 01:00Z.
        #expect(end(("03:00", "02:30"), "Europe/Vienna", at: "2026-03-29T01:10:00Z") == "2026-03-30T00:30:00.000Z")
    }

    @Test("each day of the week is found in the next seven days")
    func weekdays() {
        // 2026-11-22 is a Sunday.
        for days in [-22_000, 0, 22_001] {
            let sunday = RuleHarness.time("2026-11-22T12:00:00Z").advanced(by: .seconds(Int64(days / 7 * 7) * 86_400))
            for weekday in 1...7 {
                let next = CivilTimeOfDay(minutes: 12 * 60, zone: "UTC").next(
                    after: sunday, days: [weekday], ZoneTime())
                #expect(next == sunday.advanced(by: .seconds(Int64(weekday) * 86_400)))
            }
        }
    }

    /// A window in UTC, of the whole day unless a span is given.
    private func window(
        _ start: Int = 0, _ end: Int = 24, from: String? = nil, until: String? = nil, dates: [Int]? = nil
    ) -> CivilWindow {
        var window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 60 * start), end: CivilTimeOfDay(minutes: 60 * end), zone: "UTC")
        (window.from, window.until) = (from.flatMap { CivilMoment($0) }, until.flatMap { CivilMoment($0) })
        window.dates = dates
        return window
    }

    @Test("a window from a day to another is one span; with a span of the day it is that span on the days between")
    func dates() {
        func end(_ window: CivilWindow, _ now: String) -> String? {
            window.end(of: RuleHarness.time(now), ZoneTime())?.rfc3339
        }
        func start(_ window: CivilWindow, _ now: String) -> String? {
            window.start(after: RuleHarness.time(now), ZoneTime())?.rfc3339
        }
        let holidays = window(from: "2026-12-24 18:00", until: "2027-01-02")
        #expect(end(holidays, "2026-12-24T17:59:59Z") == nil && end(holidays, "2027-01-02T00:00:00Z") == nil)
        #expect(end(holidays, "2026-12-24T18:00:00Z") == "2027-01-02T00:00:00.000Z")
        #expect(start(holidays, "2026-11-21T00:00:00Z") == "2026-12-24T18:00:00.000Z")
        #expect(start(holidays, "2026-12-25T00:00:00Z") == nil)
        let nights = window(22, 7, from: "2026-12-24", until: "2026-12-26 03:00")
        #expect(end(nights, "2026-12-23T23:00:00Z") == nil && end(nights, "2026-12-24T12:00:00Z") == nil)
        #expect(end(nights, "2026-12-24T23:00:00Z") == "2026-12-25T07:00:00.000Z")
        #expect(end(nights, "2026-12-25T23:00:00Z") == "2026-12-26T03:00:00.000Z")
        #expect(start(nights, "2026-12-01T00:00:00Z") == "2026-12-24T00:00:00.000Z", "the night has begun by then")
        #expect(start(nights, "2026-12-24T08:00:00Z") == "2026-12-24T22:00:00.000Z")
        #expect(start(nights, "2026-12-25T23:00:00Z") == nil)
    }

    @Test("a window that repeats starts on the days of its rule")
    func repeated() {
        // 2026-12-06 and 2027-01-03 are the first Sundays of their months.
        let days = ["2026-12-06", "2027-01-03"].compactMap { CivilMoment($0)?.day }
        let patchDay = window(22, 4, from: "2026-12-01", dates: days)
        for (now, end) in [
            ("2026-12-06T21:00:00Z", nil), ("2026-12-07T03:00:00Z", "2026-12-07T04:00:00.000Z"),
            ("2026-12-13T23:00:00Z", nil), ("2027-01-03T22:00:00Z", "2027-01-04T04:00:00.000Z"),
        ] {
            #expect(patchDay.end(of: RuleHarness.time(now), ZoneTime())?.rfc3339 == end, "\(now)")
        }
        for (now, start) in [
            ("2026-11-01T00:00:00Z", "2026-12-06T22:00:00.000Z"), ("2026-12-06T22:00:00Z", "2027-01-03T22:00:00.000Z"),
            ("2027-01-03T22:00:00Z", nil),
        ] {
            #expect(patchDay.start(after: RuleHarness.time(now), ZoneTime())?.rfc3339 == start, "\(now)")
        }
        let quiet = Quiet(windows: [], outside: [patchDay], action: .defer)
        let over = RuleHarness.time("2027-02-01T00:00:00Z")
        #expect(quiet.span(at: over, ZoneTime()) != nil, "outside of windows that are over it stays quiet")
    }

    @Test("a weekday is the day on which the window starts")
    func weekday() {
        // 2026-11-20 is a Friday.
        let night = ("22:00", "07:00")
        #expect(end(night, "UTC", days: [5], at: "2026-11-20T23:00:00Z") != nil)
        #expect(end(night, "UTC", days: [5], at: "2026-11-21T06:00:00Z") != nil)
        #expect(end(night, "UTC", days: [5], at: "2026-11-21T23:00:00Z") == nil)
        #expect(end(("00:00", "24:00"), "UTC", days: [6, 7], at: "2026-11-22T23:59:00Z") == "2026-11-23T00:00:00.000Z")
    }

    @Test("summer time begins: a window that ends in the skipped hour ends as much later")
    func spring() {
        // Vienna: 2026-03-29, 02:00 becomes 03:00 at 01:00Z.
        #expect(end(("22:00", "02:30"), "Europe/Vienna", at: "2026-03-29T00:59:00Z") == "2026-03-29T01:30:00.000Z")
        #expect(end(("22:00", "07:00"), "Europe/Vienna", at: "2026-03-28T22:00:00Z") == "2026-03-29T05:00:00.000Z")
    }

    @Test("summer time ends: the hour that comes twice reopens nothing")
    func autumn() {
        // Vienna: 2026-10-25, 03:00 becomes 02:00 at 01:00Z.
        let night = ("22:00", "02:30")
        #expect(end(night, "Europe/Vienna", at: "2026-10-24T23:59:00Z") == "2026-10-25T00:30:00.000Z")
        #expect(end(night, "Europe/Vienna", at: "2026-10-25T00:45:00Z") == nil)
        #expect(end(night, "Europe/Vienna", at: "2026-10-25T01:15:00Z") == nil)
        #expect(end(("22:00", "07:00"), "Europe/Vienna", at: "2026-10-25T01:15:00Z") == "2026-10-25T06:00:00.000Z")
    }

    @Test("zones far from UTC and with half hours are right")
    func zones() {
        #expect(end(("09:00", "17:00"), "Asia/Kolkata", at: "2026-11-21T03:30:00Z") == "2026-11-21T11:30:00.000Z")
        #expect(end(("09:00", "17:00"), "Pacific/Kiritimati", at: "2026-11-20T19:00:00Z") == "2026-11-21T03:00:00.000Z")
        #expect(end(("09:00", "17:00"), "Pacific/Pago_Pago", at: "2026-11-21T20:00:00Z") == "2026-11-22T04:00:00.000Z")
    }

    @Test("a time of day is next today or tomorrow, over both changes of the clocks")
    func next() throws {
        let nine = try #require(CivilTimeOfDay("9:00", zone: "Europe/Vienna"))
        let civil = ZoneTime()
        #expect(nine.next(after: RuleHarness.time("2026-03-28T08:00:00Z"), civil).rfc3339 == "2026-03-29T07:00:00.000Z")
        #expect(nine.next(after: RuleHarness.time("2026-10-24T07:00:00Z"), civil).rfc3339 == "2026-10-25T08:00:00.000Z")
        #expect(nine.next(after: RuleHarness.time("2026-11-21T07:59:00Z"), civil).rfc3339 == "2026-11-21T08:00:00.000Z")
    }

    @Test(
        "what is no time of day is refused",
        arguments: [
            "", "7", "25:00", "24:01", "7:5", "07:60", "-1:00", "7:00pm", "7::30", "7:30:", "007:30",
        ])
    func malformed(text: String) { #expect(CivilTimeOfDay(text) == nil) }

    @Test("at every minute of a year a window and its end agree")
    func everyMinute() {
        let civil = ZoneTime()
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60),
            zone: "Europe/Vienna")
        var now = RuleHarness.time("2026-03-25T00:00:00Z")
        let last = RuleHarness.time("2026-04-02T00:00:00Z")
        while now < last {
            if let end = window.end(of: now, civil) {
                #expect(end > now && end.seconds(since: now) <= 9 * 3600)
                #expect(window.end(of: end, civil) == nil)
            }
            now = now.advanced(by: .seconds(60))
        }
    }
}
