// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteDocument

@Suite("Hostile calendars")
struct ICalendarHostileTests {
    private static let start = "DTSTART:20000101T090000Z"
    /// An hour behind the first date that is looked at, a day before the range.
    private static let past = "UNTIL=20261121T080000Z"

    /// Why a calendar is refused that may take so many steps; nil when it is read.
    private func refusal(_ lines: String, steps: Int) throws -> String? {
        let calendar = try ICalendar(ICalendarTests.calendar(lines), charset: nil)
        let range = ICalendarTests.now...(ICalendarTests.now + 7 * 86_400)
        do {
            _ = try calendar.occurrences(in: range, home: "UTC", steps: steps)
            return nil
        } catch {
            return error.kind == .tooLarge ? error.reason : nil
        }
    }

    private func isRefused(_ lines: String, steps: Int) throws -> Bool { try refusal(lines, steps: steps) != nil }

    private func events(_ count: Int, _ lines: String) -> String {
        (0..<count).map { "BEGIN:VEVENT\nUID:\($0)\n\(lines)\nEND:VEVENT\n" }.joined()
    }

    @Test("each date takes as many steps as its event has rules and exception rules, and each rule takes some")
    func manyRules() throws {
        for name in ["RRULE", "EXRULE"] {
            let rules = String(repeating: "\n\(name):FREQ=YEARLY", count: 1000)
            let event = ICalendarTests.event("\(Self.start)\nRRULE:FREQ=SECONDLY;\(Self.past)\(rules)")
            #expect(try isRefused(event, steps: 3_000_000))
        }
        let rules = String(repeating: "\nRRULE:FREQ=YEARLY;COUNT=1", count: 2000)
        #expect(try isRefused(ICalendarTests.event("\(Self.start)\(rules)"), steps: 100_000))
        #expect(try !isRefused(ICalendarTests.event("\(Self.start)\(rules)"), steps: 200_000))
    }

    @Test("a calendar of 100,000 rules, and one with as many lines before its first date, end at the bound of steps")
    func manyLines() throws {
        let endless = "\(Self.start)\nRRULE:FREQ=SECONDLY\nEXRULE:FREQ=SECONDLY"
        let rules = String(repeating: "\nRRULE:FREQ=YEARLY", count: 100_000)
        #expect(try isRefused(ICalendarTests.event(endless + rules), steps: 1_000_000))
        let lines = String(repeating: "CATEGORIES:x\n", count: 100_000)
        #expect(try isRefused(ICalendarTests.event(lines + endless), steps: 1_000_000))
    }

    @Test("a property is found among one of each name, however many lines there are")
    func manyProperties() throws {
        let lines =
            String(repeating: "CATEGORIES:x\n", count: 1000) + "DTSTART:20261123\nDTSTART:20261124\nCATEGORIES:y"
        let event = try #require(
            ICalendar(ICalendarTests.calendar(ICalendarTests.event(lines)), charset: nil).components.first)
        #expect(event.firsts.map(\.name) == ["UID", "CATEGORIES", "DTSTART"])
        #expect(event["DTSTART"]?.value == "20261123" && event.all("DTSTART").map(\.value) == ["20261123", "20261124"])
        #expect(event.all("CATEGORIES").count == 1001 && event.all("CATEGORIES").last?.value == "y")
        #expect(event["DUE"] == nil && event.all("DUE").isEmpty)
    }

    @Test(
        "a date takes the steps of its conversion even if it is over, and one that is shown also the steps of its texts"
    )
    func manyDates() throws {
        let over = events(20, "\(Self.start)\nRRULE:FREQ=SECONDLY;\(Self.past)")
        #expect(try isRefused(over, steps: 500_000))
        #expect(try !isRefused(over, steps: 750_000))
        let shown = events(10, "DTSTART:20261122T080000Z\nRRULE:FREQ=MINUTELY;COUNT=1000")
        #expect(try isRefused(shown, steps: 200_000))
        #expect(try !isRefused(shown, steps: 300_000))
        let alone = events(1000, "DTSTART:20261122T080000Z")
        #expect(try isRefused(alone, steps: 15_000))
        #expect(try !isRefused(alone, steps: 16_000))
    }

    @Test("each position of BYSETPOS takes a step in each period")
    func manyPositions() throws {
        let positions = (1...366).map { "\($0),-\($0)" }.joined(separator: ",")
        let event = ICalendarTests.event(
            "\(Self.start)\nRRULE:FREQ=SECONDLY;\(Self.past);BYSETPOS=\(positions)")
        #expect(try isRefused(event, steps: 2_500_000))
        #expect(try !isRefused(event.replacing(positions, with: "1"), steps: 50_000))
    }

    @Test("the name of a zone that is looked up in files takes steps, once; a long one is cut")
    func manyZones() throws {
        func dates(_ names: [String]) -> String {
            ICalendarTests.event(
                Self.start + names.map { "\nRDATE;TZID=\($0):20261124T090000" }.joined())
        }
        #expect(try isRefused(dates((0..<100).map { "a/b/c\($0)" }), steps: 290_000))
        #expect(try !isRefused(dates((0..<100).map { "a/b/c\($0)" }), steps: 310_000))
        #expect(try !isRefused(dates(Array(repeating: "a/b/c", count: 1000)), steps: 10_000))
        let time = try #require(ICalendarTime("20261124T090000", zone: String(repeating: "é", count: 200)))
        #expect(time.zone == .named(String(repeating: "é", count: 127) + "\u{FFFD}…"))
        let reason = try #require(try refusal(dates((0..<9).map { "a/b/c\($0)" }), steps: 10_000))
        #expect(reason.hasPrefix("the search for the time zone 'a/b/c3' takes more steps than the 10000"))
    }

    @Test("the parts of a zone's definition take steps each time that later changes are looked for")
    func manyParts() throws {
        let part = "BEGIN:STANDARD\nDTSTART:00010101T000000\nTZOFFSETFROM:+0000\nTZOFFSETTO:+0100\nEND:STANDARD\n"
        let zone = "BEGIN:VTIMEZONE\nTZID:Z\n" + String(repeating: part, count: 1000) + "END:VTIMEZONE\n"
        let years = (2100..<2900).map { "\($0)0601T000000" }.joined(separator: ",")
        let event = ICalendarTests.event(
            "DTSTART;TZID=Z:00010101T000000\nRDATE;TZID=Z:20261124T090000\nEXDATE;TZID=Z:\(years)")
        #expect(try isRefused(zone + event, steps: 300_000))
    }
}
