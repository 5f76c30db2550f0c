// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

/// A number of a server's may be any: no arithmetic on it may end the program.
@Suite("Hostile numbers")
struct HostileNumberTests {
    static let numbers = [
        "0", "-1", "\(Int64.max)", "\(Int64.min)", "\(UInt64.max)", "253402300800000", "999999999999999999",
        "99999999999999999999999999", "1e308", "-1e308", "NaN", "+1",
    ]

    @Test("as a time it is within the calendar or ignored", arguments: numbers)
    func times(_ text: String) throws {
        let year10000 = Timestamp(milliseconds: 253_402_300_800_000)
        for time in [Timestamp(milliseconds: text), Timestamp(anyForm: text)].compactMap({ $0 }) {
            #expect(time < year10000)
        }
        for shape in ["\(text)-01-01", "2026-\(text)-01", "1 Jan \(text)", "2026-01-01T\(text):00:00Z"] {
            _ = Timestamp(anyForm: shape)
            _ = Timestamp(anyForm: shape + "+\(text)")
        }
    }

    @Test("as a page number of the Connections API it wraps without a crash", arguments: numbers)
    func pages(_ text: String) throws {
        for kind in [["format": OptionValue.text("json")], [:]] {
            let body =
                kind.isEmpty
                ? try Fixture.bytes("connections-public-1.xml")
                : Array("{\"startIndex\": \(text), \"list\": [{\"id\": \"a\"}]}".utf8)
            for name in ["page", "startIndex"] {
                var page = PageBody(bytes: body, url: "https://c.example.org/news/atom/stories/public?\(name)=\(text)")
                _ = try? Fixture.kind("connections", kind).read(&page)
            }
        }
    }

    @Test("as the total or cursor of a page it is compared, never added", arguments: numbers)
    func totals(_ text: String) throws {
        for (name, value) in [("page", "1"), ("offset", "0"), ("cursor", "n")] {
            let paging =
                [
                    (name, value), ("parameter", "p"), ("size", "2"),
                ] + (name == "cursor" ? [] : [("total", "n")])
            let kind = try Fixture.kind(
                "json", ["items": .text("i"), "paging": .map(paging.map { ($0.0, OptionValue.text($0.1)) })])
            var page = PageBody(
                bytes: Array("{\"n\": \(text), \"i\": [{\"id\": 1}, {\"id\": 2}]}".utf8), url: "https://h.example.org/")
            _ = try? kind.read(&page)
        }
    }

    @Test("in a header it is a bounded time or ignored", arguments: numbers)
    func headers(_ text: String) {
        let headers = ResponseHeaders([
            ("Retry-After", text), ("Cache-Control", "max-age=\(text)"), ("Age", text),
        ])
        let now = Timestamp(milliseconds: 1_795_000_000_000)
        let longest = Duration.seconds(1 << 31)
        for wait in [headers.retryAfter(at: now), headers.freshFor].compactMap({ $0 }) {
            #expect(wait >= .zero && wait <= longest)
        }
        #expect(
            Timestamp(httpDate: "Sun, 06 Nov \(text) 08:49:37 GMT", now: Timestamp(milliseconds: 0)).map {
                $0.milliseconds >= .min
            } ?? true)
    }
}
