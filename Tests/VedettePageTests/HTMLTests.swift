// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedettePage

@Suite("HTML and pictures")
struct HTMLTests {
    @Test("any text is escaped, for content and for attributes")
    func escaping() {
        let hostile = "<script>alert('1')</script> \"&amp;"
        let html: HTML = "<p title=\"\(hostile)\">\(hostile)</p>"
        let escaped = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &quot;&amp;amp;"
        #expect(html.text == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test("pieces of a page are joined as they are, numbers are written, and nil is nothing")
    func joining() {
        let part: HTML = "<b>\(1)</b>"
        let none: HTML? = nil
        #expect(("\(part)\(none)\([part, part])" as HTML).text == "<b>1</b><b>1</b><b>1</b>")
    }

    @Test("control characters and those that turn the direction of a text are replaced")
    func controls() {
        let html: HTML = "\("a\u{0}b\u{1B}[31m\u{202E}c\u{85}\u{2066}\n\t")"
        #expect(html.text == "a\u{FFFD}b\u{FFFD}[31m\u{FFFD}c\u{FFFD}\u{FFFD}\n\t")
    }

    @Test("a link leads to the web alone")
    func links() {
        #expect(HTML.external("javascript:alert(1)", "x").text == "x")
        #expect(HTML.external("file:///etc/passwd", "x").text == "x")
        #expect(
            HTML.external("https://a.example/?q=\"1\"", "x").text
                == "<a class=\"out\" href=\"https://a.example/?q=&quot;1&quot;\" rel=\"noreferrer\">x</a>")
    }

    @Test("an address of the page carries any key, and is read back as it was")
    func paths() throws {
        for key in ["59", "a/b", "..", "", "x y+z%", "https://a.example/?b=1&c=2#d", "ä🙂"] {
            let path = PagePath("sources", "lab", "item", query: [("key", key), ("none", nil)])
            let request = try #require(PageRequest(.get, path.text), "\(path.text)")
            #expect(request.path == ["sources", "lab", "item"])
            #expect(request.query["key"] == key)
            #expect(request.query["none"] == nil)
        }
        #expect(PagePath().text == "/")
    }

    @Test("a button leads back to its own page, and to no other site")
    func back() {
        #expect(PageReturn.location("/sources/lab?page=2&notice=gone", .polled) == "/sources/lab?page=2&notice=polled")
        for hostile in [
            "//evil.example.com", "https://evil.example.com/", "/../x", "javascript:1", "/a\r\nSet-Cookie: x", "/login",
            "/login?a=b", "/events?q=" + String(repeating: "a", count: 8000),
            "/events?q=" + String(repeating: "(", count: 4000),
        ] {
            #expect(PageReturn.location(hostile, .polled) == "/?notice=polled")
        }
        #expect(PageReturn.location(nil, .gone) == "/?notice=gone")
    }

    @Test("an address with ten thousand parameters keeps them all, in their order")
    func manyParameters() throws {
        let query = (0..<10_000).map { "\($0 % 5000)=a%2Fb" }.joined(separator: "&")
        let request = try #require(PageRequest(.get, "/events?notice=gone&\(query)"))
        #expect(PageReturn.path(of: request) == "/events?\(query)")
    }

    private func stamp(_ minutes: Int64) -> Timestamp { Timestamp(milliseconds: minutes * 60_000) }

    private func change(_ minutes: Int64, _ from: String, _ to: String, lasted: Double? = nil) -> Event {
        Event(
            id: Identifier(time: stamp(minutes), random: (1, 2)), kind: .changed, time: stamp(minutes), source: "lab",
            sourceKind: "json", poll: "",
            changes: [FieldChange(field: "state", from: .text(from), to: .text(to), lasted: lasted)])
    }

    @Test("the events of an item make its timeline, cut to the time that is shown")
    func timeline() {
        let gone = Event(
            id: Identifier(time: stamp(50), random: (1, 2)), kind: .disappeared, time: stamp(50), source: "lab",
            sourceKind: "json", poll: "")
        let timeline = StateTimeline(
            [change(20, "Starting", "Ready", lasted: 900), change(30, "Ready", "Failed"), gone],
            current: ("Ready", stamp(55)), from: stamp(10), to: stamp(60))
        #expect(
            timeline.segments == [
                .init(state: "Starting", start: stamp(10), end: stamp(20)),
                .init(state: "Ready", start: stamp(20), end: stamp(30)),
                .init(state: "Failed", start: stamp(30), end: stamp(50)),
                .init(state: nil, start: stamp(50), end: stamp(55)),
                .init(state: "Ready", start: stamp(55), end: stamp(60)),
            ])
        let quiet = StateTimeline([], current: ("Ready", stamp(5)), from: stamp(10), to: stamp(60))
        #expect(quiet.segments == [.init(state: "Ready", start: stamp(10), end: stamp(60))])
        #expect(StateTimeline([], current: nil, from: stamp(10), to: stamp(60)).segments == [])
    }

    @Test("a timeline is drawn with a bar a state, which tells what it was and for how long")
    func timelinePicture() {
        let timeline = StateTimeline(
            [change(30, "Starting", "<Ready>", lasted: 1800)], current: ("<Ready>", stamp(30)), from: stamp(0),
            to: stamp(90))
        let picture = TimelinePicture.svg(
            timeline, label: "States of \"a\"", tone: { $0 == "Starting" ? .busy : nil },
            time: { "\($0.milliseconds / 60_000)" })
        #expect(
            picture.text == """
                <svg class="timeline" viewBox="0 0 600 14" preserveAspectRatio="none" role="img" aria-label="States of &quot;a&quot;">\
                <rect class="busy" x="0" y="0" width="200" height="14"><title>Starting, 0 to 30 (30 min)</title></rect>\
                <rect class="other" x="200" y="0" width="400" height="14"><title>&lt;Ready&gt;, 30 to 90 (1 h)</title></rect></svg>
                """)
    }

    @Test("a sparkline is drawn from zero to the highest number, and not at all of one")
    func sparkline() {
        #expect(
            Sparkline.svg([0, 11, 22, 5.5], label: "latency").text == """
                <svg class="spark" viewBox="0 0 120 24" role="img" aria-label="latency">\
                <polyline points="0,23 40,12 80,1 120,17.5"/></svg>
                """)
        #expect(Sparkline.svg([1], label: "") == "")
        #expect(Sparkline.svg([0, 0], label: "").text.contains("points=\"0,23 120,23\""))
    }

    @Test("the smallest and the greatest numbers are drawn, too")
    func extremeSparklines() {
        let (smallest, subnormal) = (Double.leastNonzeroMagnitude, Double.leastNormalMagnitude / 128)
        for values in [
            [0, subnormal, 2 * subnormal], [0, smallest, 2 * smallest],
            [0, .greatestFiniteMagnitude / 2, .greatestFiniteMagnitude],
        ] {
            #expect(Sparkline.svg(values, label: "").text.contains("points=\"0,23 60,12 120,1\""), "\(values)")
        }
        #expect(
            Sparkline.svg([-.greatestFiniteMagnitude, 1], label: "").text.contains("points=\"0,23 120,1\""))
    }

    @Test("coordinates have at most one decimal, also below zero")
    func numbers() {
        #expect([0.04, 0.05, 12.34, -0.5, -3, 600].map(SVG.number) == ["0", "0.1", "12.3", "-0.5", "-3", "600"])
        #expect([Double.nan, .infinity, -.infinity, 1e300, -0x1p63].map(SVG.number) == ["0", "0", "0", "0", "0"])
    }
}
