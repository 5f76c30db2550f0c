// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSinks

@Suite("Text in chats")
struct ChatTextTests {
    static let plain = ChatText(.utf16)

    @Test(
        "a long text ends with … between two characters, counted as the service counts",
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

    @Test(
        "in a chat that links addresses an address stays whole, and what follows it is escaped again",
        arguments: [
            (
                "see https://wiki.example/run_book#on_call_ *now*",
                #"see https://wiki.example/run_book#on_call\_ \*now\*"#
            ),
            ("https://x.example:80/@ann/a*b*c~d", "https://x.example:80/%40ann/a*b*c~d"),
            ("(http://x.example/a_b)_c_", #"(http://x.example/a_b)\_c\_"#),
            ("https://x.example/a_b<_c_", #"https://x.example/a_b<\_c\_"#),
            ("https://x.example/a[b_c_]", #"https://x.example/a\[b\_c\_\]"#),
            ("https://x.example/?a_b=1&c=*\n*b*", "https://x.example/?a_b=1&c=\\*\n\\*b\\*"),
            // No address: no host or path, a name in front of the host, a word in front of all.
            (
                "https://*a*/ https://x_y https://@everyone/a_b",
                "https://\\*a\\*/ https://x\\_y https://@\u{200B}everyone/a\\_b"
            ),
            ("ahttps://x.example/*b* @all", "ahttps://x.example/\\*b\\* @\u{200B}all"),
            ("https://x.example/a*\u{301}b_", "https://x.example/a\\*\u{301}b\\_"),
        ])
    func addresses(_ text: String, expected: String) {
        let markdown = ChatText.markdown(.utf16, marks: "*_~#[]", linksAddresses: true)
        #expect(markdown.lines(text, 1000) == expected)
        #expect(markdown.lines(text, 1000, page: nil) == expected)
        #expect(ChatText.markdown(.utf16, marks: "*_").line("https://x.example/a_b", 100) == #"https://x.example/a\_b"#)
    }

    @Test("chats that link addresses mention nobody from within one, and titles keep their escapes")
    func addressesOfChats() {
        let text = "https://x.example/@everyone/run_book"
        for chat in [Discord.text, Mattermost.text, Telegram.text] {
            #expect(chat.lines(text, 100) == "https://x.example/%40everyone/run_book")
        }
        #expect(Discord.title.line(text, 100) == #"https://x.example/@\#u{200B}everyone/run\_book"#)
    }

    @Test("a combining mark behind a bracket does not prevent its escape")
    func combining() {
        #expect(ChatText.html(.utf16).line("<\u{338}b>", 100) == "&lt;\u{338}b&gt;")
        #expect(ChatText.markdown(.utf16, marks: "*").line("*\u{301}x", 100) == "\\*\u{301}x")
        #expect(Slack.text.line("<\u{20DD}!channel>", 100) == "&lt;\u{20DD}!channel&gt;")
    }

    @Test("control and reordering characters become U+FFFD, and every line break becomes the same")
    func harmless() {
        let text = "a\u{1B}[2J\u{7}\u{0}\u{7F}\u{9B}\u{202E}b\u{2066}\tc"
        #expect(Self.plain.line(text, 100) == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD} c")
        #expect(Self.plain.line("a\r\nb\rc\nd\u{85}e\u{2028}f", 100) == "a b c d e f")
        #expect(Self.plain.lines("a\r\nb\rc\nd\u{85}e\u{2029}f", 100) == "a\nb\nc\nd\ne\nf")
        #expect(Self.plain.line("\u{200F}שלום", 100) == "\u{200F}שלום")
    }

    @Test("a text that is too long says how many lines are missing, and where they are")
    func missingLines() {
        let (text, page) = ("one\ntwo\n" + String(repeating: "x", count: 80) + "\nfour", "https://v/events/1")
        func cut(_ limit: Int, most: Int = .max, _ page: String? = nil) -> String {
            let cut = Self.plain.lines(text, limit, most: most, page: page)
            #expect(cut.utf16.count <= limit)
            return cut
        }
        #expect(cut(93) == text && cut(93, page) == text)
        #expect(cut(24) == "one\n… and 3 more lines" && cut(27) == "one\ntwo\n… and 2 more lines")
        #expect(cut(31) == "one\ntwo\nxxx…\n… and 1 more line")
        #expect(cut(47, page) == "one\ntwo\n… and 2 more lines: https://v/events/1")
        #expect(cut(93, most: 2) == "one\ntwo\n… and 2 more lines")
        #expect(
            Self.plain.lines(String(repeating: "x", count: 99), 30, page: page) == "xxxxxxxxxx…\nhttps://v/events/1")
        #expect(Self.plain.lines(String(repeating: "x", count: 99), 5, page: page) == "xxxx…", "no room for more")
        let html = ChatText.html(.bytes, newline: "<br>")
        #expect(html.lines("<\n<\n<<<<<<<<<<", 40, page: nil) == "&lt;<br>&lt;<br>… and 1 more line")
    }

    @Test("100 KB of combining marks are cut like any text")
    func zalgo() {
        let text = "x" + String(repeating: "\u{301}", count: 50_000)
        #expect(Self.plain.line(text, 256) == "…")
        #expect(Self.plain.line("ab" + text, 256) == "a…" || Self.plain.line("ab" + text, 256) == "ab…")
    }
}

@Suite("Rate limiter")
struct RateLimiterTests {
    static func at(_ milliseconds: Int64) -> BootTime { BootTime(milliseconds: milliseconds) }

    @Test("a burst gets slots at once, then there is one per interval, and a pause refills the burst")
    func burst() {
        var limiter = ChatRateLimiter(CallRate(every: .seconds(2), burst: 3))
        let minute = Duration.seconds(60)
        let first = (0..<5).map { _ in limiter.reserve(at: Self.at(1000), limit: minute) }
        #expect(first == [0, 0, 0, 2, 4].map { .reserved(wait: .seconds($0)) })
        #expect(limiter.reserve(at: Self.at(11_000), limit: minute) == .reserved(wait: .zero))
        let rested = (0..<4).map { _ in limiter.reserve(at: Self.at(100_000), limit: minute) }
        #expect(rested == [0, 0, 0, 2].map { .reserved(wait: .seconds($0)) })
    }

    @Test("a wait beyond the limit reserves no slot")
    func tooLate() {
        var limiter = ChatRateLimiter(CallRate(every: .seconds(10), burst: 1))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(15)) == .reserved(wait: .zero))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(15)) == .reserved(wait: .seconds(10)))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(15)) == .tooLate(wait: .seconds(20)))
        #expect(limiter.reserve(at: Self.at(5000), limit: .seconds(15)) == .reserved(wait: .seconds(15)))
    }

    @Test("a pause that the service asks for delays all calls, and ends with one call and not with a burst")
    func hold() {
        var limiter = ChatRateLimiter(CallRate(every: .seconds(1), burst: 5))
        limiter.pause(for: .seconds(30), at: Self.at(0))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(60)) == .reserved(wait: .seconds(30)))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(60)) == .reserved(wait: .seconds(31)))
        limiter.pause(for: .seconds(1), at: Self.at(0))
        #expect(limiter.reserve(at: Self.at(0), limit: .seconds(60)) == .reserved(wait: .seconds(32)))
    }
}
