// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteText

@Suite("Times as people write them")
struct LocalTimeReaderTests {
    /// Saturday, 11:00 in Vienna.
    private let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? Timestamp(milliseconds: 0)
    private let reader = LocalTimeReader(zone: "Europe/Vienna")

    @Test(
        "a time of day is the next one, a day its first moment, and both are on the local clock",
        arguments: [
            ("12:00", "2026-11-21T11:00:00.000Z"), ("7:30", "2026-11-22T06:30:00.000Z"),
            ("2026-11-22", "2026-11-21T23:00:00.000Z"), ("2026-11-22 07:00", "2026-11-22T06:00:00.000Z"),
            ("2026-11-22T07:00:00", "2026-11-22T06:00:00.000Z"), ("2026-07-01 07:00", "2026-07-01T05:00:00.000Z"),
            ("2026-03-29 12:00", "2026-03-29T10:00:00.000Z"), ("tomorrow", "2026-11-21T23:00:00.000Z"),
            ("Tomorrow 8:00", "2026-11-22T07:00:00.000Z"), ("monday", "2026-11-22T23:00:00.000Z"),
            ("sat 09:00", "2026-11-28T08:00:00.000Z"), ("saturday 23:59", "2026-11-21T22:59:00.000Z"),
            ("sat 11:00", "2026-11-28T10:00:00.000Z"), ("sat", "2026-11-27T23:00:00.000Z"),
            ("thu", "2026-11-25T23:00:00.000Z"),
            ("2026-11-22T07:00:00Z", "2026-11-22T07:00:00.000Z"), ("07:00 UTC", "2026-11-22T07:00:00.000Z"),
            ("tomorrow 07:00 UTC", "2026-11-22T07:00:00.000Z"),
            ("2026-11-30 07:00 America/New_York", "2026-11-30T12:00:00.000Z"),
            ("monday Asia/Tokyo", "2026-11-22T15:00:00.000Z"),
        ])
    func times(text: String, expected: String) {
        #expect(reader.time(text, now: now)?.rfc3339 == expected)
    }

    @Test(
        "any other text is no time",
        arguments: [
            "Ready", "", "25:00", "2026-13-01", "mo", "Started 7:00", "tomorrow at 7", "07:00 Mars/Base", "UTC",
        ])
    func none(text: String) { #expect(reader.time(text, now: now) == nil) }

    @Test(
        "a time of the past is the last one, and one in the future is none",
        arguments: [
            ("12:00", "2026-11-20T11:00:00.000Z"), ("7:30", "2026-11-21T06:30:00.000Z"),
            ("today", "2026-11-20T23:00:00.000Z"), ("yesterday 18:00", "2026-11-20T17:00:00.000Z"),
            ("monday", "2026-11-15T23:00:00.000Z"), ("sat", "2026-11-20T23:00:00.000Z"),
            ("sat 12:00", "2026-11-14T11:00:00.000Z"), ("fri 12:00", "2026-11-20T11:00:00.000Z"),
            ("fri 10:00", "2026-11-20T09:00:00.000Z"), ("sat 09:00", "2026-11-21T08:00:00.000Z"),
            ("2026-11-20", "2026-11-19T23:00:00.000Z"), ("2026-11-20T07:00:00Z", "2026-11-20T07:00:00.000Z"),
            ("2026-11-22", nil), ("2026-11-22T07:00:00Z", nil), ("soon", nil), ("tomorrow", nil),
            ("today 18:00", nil),
        ] as [(String, String?)])
    func past(text: String, expected: String?) { #expect(reader.past(text, now: now)?.rfc3339 == expected) }

    @Test("a text that was meant as a time is told from a state")
    func resemblance() {
        for text in [
            "25:00", "7am", "2026-13-01", "2h", "30m", "22.11.2026", "+2h", "8 pm", "tomorrow 7am", "07:00 Mars/Base",
            "friday 25:00", "next monday", "next week", "noon", "now", "5 minutes", "in 2h", "in an hour",
            "on friday at 9", "1795000000", "20261122",
        ] {
            #expect(LocalTimeReader.resemblesTime(text), "\(text)")
        }
        for text in [
            "Ready for use", "up", "", "2nd stage", "200 OK", "completed/success", "RM01005", "In progress", "on hold",
            "Next in line", "Now playing", "Sunny", "1 of 3", "0", "503",
        ] {
            #expect(!LocalTimeReader.resemblesTime(text), "\(text)")
        }
    }
}
