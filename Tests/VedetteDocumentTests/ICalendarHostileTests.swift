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
