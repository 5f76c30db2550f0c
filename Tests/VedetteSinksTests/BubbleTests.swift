// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteDesktop

@Suite("what a bubble shows")
struct BubbleTests {
    @Test("an item has one bubble, whatever happens to it; a source has its own")
    func keys() {
        let first = Bubble(.of(.changed(key: "59"), id: "msg_1"))
        let second = Bubble(.of(.about(.disappeared, item: Item(key: "59")), id: "msg_2"))
        #expect(first.key == second.key)
        #expect(first.key != Bubble(.of(.changed(key: "60"))).key)
        #expect(Bubble(.of(.about(.failing))).key == .source("lab-systems"))
    }

    @Test("priority becomes urgency, kind becomes category")
    func urgency() {
        #expect(Priority.allCases.map { Bubble(.of(priority: $0)).urgency } == [.low, .normal, .critical])
        #expect(Bubble(.of()).category == "x-vedette.changed")
        #expect(Bubble(.of(.about(.failing))).category == "network.error")
    }

    @Test(
        "only what a browser opens gets a button",
        arguments: [
            ("https://x.example/a?b=c#d", true), ("HTTP://x", true), ("file:///etc/passwd", false), ("--help", false),
            ("javascript:alert(1)", false), ("https://x/a b", false), ("https://x/\n", false), ("smb://x/y", false),
            ("", false), ("https://" + String(repeating: "a", count: 9000), false),
        ])
    func links(_ url: String, _ isLink: Bool) {
        #expect(Bubble(.of(.changed(url: url))).link == (isLink ? url : nil))
    }

    @Test("markup is escaped for a daemon that reads it, and left alone for one that does not")
    func markup() {
        let text = #"<b>&amp;</b> <img src="x"> a < b"#
        #expect(
            BubbleText.body(text, isMarkup: true)
                == #"&lt;b&gt;&amp;amp;&lt;/b&gt; &lt;img src="x"&gt; a &lt; b"#)
        #expect(BubbleText.body(text, isMarkup: false) == text)
    }

    @Test("control and bidirectional characters go, line breaks stay in bodies alone")
    func clean() {
        #expect(BubbleText.title("a\u{1B}[1m\n\u{202E}b\u{0}\tc") == "a[1m b c")
        #expect(BubbleText.body("a\r\n\u{2066}b\u{85}", isMarkup: false) == "a\nb")
        #expect(BubbleText.title("\u{0}") == "Vedette")
    }

    @Test("a long text is cut between characters, and an entity is never cut")
    func cut() {
        #expect(BubbleText.title(String(repeating: "x", count: 200)).count == 200)
        #expect(BubbleText.title(String(repeating: "x", count: 201)) == String(repeating: "x", count: 200) + "…")
        let family = "👩‍👩‍👧"
        #expect(BubbleText.title(String(repeating: family, count: 100)) == String(repeating: family, count: 40) + "…")
        let odd = BubbleText.title("x" + String(repeating: family, count: 100))
        #expect(odd == "x" + String(repeating: family, count: 39) + "…")
        let heap = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(BubbleText.title(heap).unicodeScalars.count == 201)
        let body = BubbleText.body(String(repeating: "&", count: 2000), isMarkup: true)
        #expect(body == String(repeating: "&amp;", count: 1000) + "…")
    }

    @Test("invalid UTF-8 cannot be in a String: it was replaced on the way in")
    func utf8() {
        #expect(BubbleText.title(String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self)) == "a\u{FFFD}b")
    }
}

@Suite("an outage of the desktop")
struct OutageTests {
    let start = Timestamp(rfc3339: "2026-11-21T08:00:00Z")!
    func after(_ minutes: Int64) -> Timestamp { start.advanced(by: .seconds(minutes * 60)) }

    @Test("what waited through it for more than an hour is old news; what came late or before it is not")
    func outlasted() {
        var outage = Outage()
        #expect(!outage.outlasted(eventAt: start, now: after(600)))
        outage.refused(eventAt: start, now: after(1))
        #expect(outage.outlasted(eventAt: start, now: after(61)))
        #expect(!outage.outlasted(eventAt: start, now: after(60)))
        #expect(!outage.outlasted(eventAt: after(-1), now: after(600)))
        outage.ended(now: after(120))
        #expect(outage.outlasted(eventAt: after(59), now: after(121)))
        #expect(!outage.outlasted(eventAt: after(60), now: after(600)))
    }

    @Test("the summary counts all and names the last five; a new outage starts it anew")
    func summary() {
        var outage = Outage()
        outage.refused(eventAt: start, now: start)
        var bubble = outage.summary(adding: "1")
        #expect(bubble.title == "1 older message" && bubble.body == "1")
        for i in 2...7 { bubble = outage.summary(adding: "\(i)") }
        #expect(bubble.key == .missed)
        #expect(bubble.title == "7 older messages" && bubble.body == "3\n4\n5\n6\n7\nand 2 before")
        outage.ended(now: after(1))
        outage.refused(eventAt: after(9), now: after(9))
        #expect(outage.summary(adding: "x").title == "1 older message")
    }
}
