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
}
