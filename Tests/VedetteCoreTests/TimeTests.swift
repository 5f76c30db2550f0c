// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Time")
struct TimeTests {
    @Test("a timestamp reads back what it wrote", arguments: [0, 1, 999, 1_772_443_060_895, -1, -62_135_596_800_000])
    func roundTrip(milliseconds: Int64) {
        let time = Timestamp(milliseconds: milliseconds)
        #expect(Timestamp(rfc3339: time.rfc3339) == time)
    }

    @Test("offsets, fractions and the space of RFC 3339 are read")
    func forms() {
        let expected = Timestamp(milliseconds: 1_795_226_400_120)
        #expect(Timestamp(rfc3339: "2026-11-21T02:00:00.12Z") == expected)
        #expect(Timestamp(rfc3339: "2026-11-21 04:00:00.1200001+02:00") == expected)
        #expect(Timestamp(rfc3339: "2026-11-20t20:30:00.12-05:30") == expected)
    }

    @Test(
        "what no calendar has is no time",
        arguments: ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01", "", "x"])
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("a duration is digits, at most one dot with digits on both sides, and a unit")
    func durations() {
        for (text, milliseconds) in [
            ("200ms", 200), ("1.5s", 1500), ("5m", 300_000), ("0.25h", 900_000), ("30d", 2_592_000_000),
        ] {
            #expect(Duration(configured: text) == .milliseconds(milliseconds), "\(text)")
        }
        for text in [
            "0x10s", "1e5s", "1e-1s", "1.s", ".5s", "1.2.3s", "-1s", "+1s", "1 s", "s", "5", "infs", "1_0s", "٣s", "",
        ] {
            #expect(Duration(configured: text) == nil, "\(text)")
        }
    }

    @Test("a stored deadline is clamped when the wall clock has jumped")
    func clamp() {
        let now = Moment(wall: Timestamp(milliseconds: 1_000_000), boot: BootTime(milliseconds: 50))
        #expect(now.boot(at: Timestamp(milliseconds: 1_005_000), most: .seconds(60)).milliseconds == 5050)
        #expect(now.boot(at: Timestamp(milliseconds: 9_000_000), most: .seconds(60)).milliseconds == 60_050)
        #expect(now.boot(at: Timestamp(milliseconds: 0), most: .seconds(60)).milliseconds == 50)
    }
}
