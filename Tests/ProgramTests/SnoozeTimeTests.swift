// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

@testable import vedette

@Suite("The end of a silence that is planned ahead")
struct SnoozeTimeTests {
    /// Friday, 11:00 in Vienna.
    private let now = Timestamp(rfc3339: "2026-11-27T10:00:00Z") ?? Timestamp(milliseconds: 0)
    private let reader = LocalTimeReader(zone: "Europe/Vienna")

    @Test(
        "it is the first such time after its beginning, and a day the one that it is today",
        arguments: [
            ("saturday 02:00", "saturday 04:00", "2026-11-28T03:00:00.000Z"),
            ("saturday 22:00", "sunday 04:00", "2026-11-29T03:00:00.000Z"),
            ("tomorrow 02:00", "tomorrow 04:00", "2026-11-28T03:00:00.000Z"),
            ("saturday 02:00", "04:00", "2026-11-28T03:00:00.000Z"),
            ("12:00", "07:00", "2026-11-28T06:00:00.000Z"),
            ("sunday", "saturday", "2026-12-04T23:00:00.000Z"),
        ])
    func end(from: String, until: String, expected: String) throws {
        let begin = try #require(reader.time(from, now: now))
        #expect(try SnoozeCommand.time(until, now: now, from: begin, reader)?.rfc3339 == expected)
    }

    @Test(
        "a text that looks like a time and is none is refused, and no state",
        arguments: [
            "tomorrow 7am", "07:00 Mars/Base", "friday 25:00", "next monday", "noon", "now", "5 minutes", "1795000000",
        ])
    func refused(text: String) {
        #expect(throws: Exit.self) { try SnoozeCommand.time(text, now: now, reader) }
    }
}
