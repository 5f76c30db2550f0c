// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Text in chats")
struct ChatTextTests {
    static let plain = ChatText(.utf16)

    @Test(
        "what is too long ends in … between two characters, counted as the service counts",
        arguments: [
            ("abcdef", 6, TextUnit.utf16, "abcdef"), ("abcdefg", 6, .utf16, "abcde…"), ("", 0, .utf16, ""),
            // A family is one character of eleven UTF-16 units and 25 bytes: all of it or nothing.
            ("ab👨‍👩‍👧‍👦", 13, .utf16, "ab👨‍👩‍👧‍👦"), ("ab👨‍👩‍👧‍👦", 12, .utf16, "ab…"),
            ("ab👨‍👩‍👧‍👦", 27, .bytes, "ab👨‍👩‍👧‍👦"), ("ab👨‍👩‍👧‍👦", 26, .bytes, "ab…"),
            ("ae\u{301}e\u{301}", 5, .utf16, "ae\u{301}e\u{301}"), ("ae\u{301}e\u{301}", 4, .utf16, "ae\u{301}…"),
            ("ae\u{301}e\u{301}", 3, .utf16, "a…"), ("äöü", 6, .bytes, "äöü"), ("äöü", 5, .bytes, "ä…"),
            ("🇩🇪🇫🇷", 7, .utf16, "🇩🇪…"),
        ] as [(String, Int, TextUnit, String)])
    func cut(_ text: String, _ limit: Int, _ unit: TextUnit, _ expected: String) {
        let cut = ChatText(unit).line(text, limit)
        #expect(Array(cut.unicodeScalars) == Array(expected.unicodeScalars))
        #expect(unit.size(of: cut) <= limit)
    }

    @Test("an escape is counted, and never cut in two")
    func escapesAreWhole() {
        let html = ChatText.html(.utf16)
        #expect(html.line("a<b", 6) == "a&lt;b")
        #expect(html.line("a<bc", 6) == "a&lt;…")
        #expect(html.line("a<bc", 5) == "a…")
        #expect(ChatText.markdown(.utf16, marks: "*").line("a*bc", 4) == #"a\*…"#)
        #expect(ChatText.markdown(.utf16, marks: "*").line("a*bc", 3) == "a…")
    }

    @Test("a mark that combines with a bracket does not hide it from the escape")
    func combining() {
        #expect(ChatText.html(.utf16).line("<\u{338}b>", 100) == "&lt;\u{338}b&gt;")
        #expect(ChatText.markdown(.utf16, marks: "*").line("*\u{301}x", 100) == "\\*\u{301}x")
        #expect(Slack.text.line("<\u{20DD}!channel>", 100) == "&lt;\u{20DD}!channel&gt;")
    }

    @Test("control characters and reordering become U+FFFD, every line break one of one kind")
    func harmless() {
        let text = "a\u{1B}[2J\u{7}\u{0}\u{7F}\u{9B}\u{202E}b\u{2066}\tc"
        #expect(Self.plain.line(text, 100) == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD} c")
        #expect(Self.plain.line("a\r\nb\rc\nd\u{85}e\u{2028}f", 100) == "a b c d e f")
        #expect(Self.plain.lines("a\r\nb\rc\nd\u{85}e\u{2029}f", 100) == "a\nb\nc\nd\ne\nf")
        #expect(Self.plain.line("\u{200F}שלום", 100) == "\u{200F}שלום")
    }

    @Test("100 KB of combining marks are cut like anything else")
    func zalgo() {
        let text = "x" + String(repeating: "\u{301}", count: 50_000)
        #expect(Self.plain.line(text, 256) == "…")
        #expect(Self.plain.line("ab" + text, 256) == "a…" || Self.plain.line("ab" + text, 256) == "ab…")
    }
}

@Suite("Rate limiter")
struct PaceTests {
    static func at(_ milliseconds: Int64) -> BootTime { BootTime(milliseconds: milliseconds) }

    @Test("a burst goes at once, then one turn per interval, and a rest fills the burst again")
    func burst() {
        var turns = RateLimiter(CallRate(every: .seconds(2), burst: 3))
        let minute = Duration.seconds(60)
        let first = (0..<5).map { _ in turns.take(at: Self.at(1000), most: minute) }
        #expect(first == [0, 0, 0, 2, 4].map { .taken(wait: .seconds($0)) })
        #expect(turns.take(at: Self.at(11_000), most: minute) == .taken(wait: .zero))
        let rested = (0..<4).map { _ in turns.take(at: Self.at(100_000), most: minute) }
        #expect(rested == [0, 0, 0, 2].map { .taken(wait: .seconds($0)) })
    }

    @Test("who would wait too long takes nothing")
    func tooLate() {
        var turns = RateLimiter(CallRate(every: .seconds(10), burst: 1))
        #expect(turns.take(at: Self.at(0), most: .seconds(15)) == .taken(wait: .zero))
        #expect(turns.take(at: Self.at(0), most: .seconds(15)) == .taken(wait: .seconds(10)))
        #expect(turns.take(at: Self.at(0), most: .seconds(15)) == .tooLate(wait: .seconds(20)))
        #expect(turns.take(at: Self.at(5000), most: .seconds(15)) == .taken(wait: .seconds(15)))
    }

    @Test("a rest that the service asks for holds everybody, and ends with one call and not with a burst")
    func hold() {
        var turns = RateLimiter(CallRate(every: .seconds(1), burst: 5))
        turns.hold(for: .seconds(30), at: Self.at(0))
        #expect(turns.take(at: Self.at(0), most: .seconds(60)) == .taken(wait: .seconds(30)))
        #expect(turns.take(at: Self.at(0), most: .seconds(60)) == .taken(wait: .seconds(31)))
        turns.hold(for: .seconds(1), at: Self.at(0))
        #expect(turns.take(at: Self.at(0), most: .seconds(60)) == .taken(wait: .seconds(32)))
    }
}
