// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("What is ill, moved or gone, through the whole program", .timeLimit(.minutes(10)))
struct HostileItemsTests {
    private static func rss(_ items: [String], head: String = "", complete: Bool = false) -> String {
        let whole = complete ? "<fh:complete xmlns:fh='http://purl.org/syndication/history/1.0'/>" : ""
        return
            "\(head)<rss version='2.0'><channel><title>t</title>\(whole)\(items.joined())</channel></rss>"
    }

    private static func entry(_ id: String, _ title: String, _ more: String = "") -> String {
        "<item><guid isPermaLink='false'>\(id)</guid><title>\(title)</title>\(more)</item>"
    }

    private static let two = [entry("b", "Beta"), entry("a", "Alpha")]

    @Test(
        "case 11: the same feed in another encoding, said rightly, wrongly or not at all, is no event")
    func encodings() async throws {
        func text(_ encoding: String) -> String {
            Self.rss(
                [Self.entry("b", "Zürich"), Self.entry("a", "Café")],
                head: "<?xml version='1.0'\(encoding)?>")
        }
        let bodies = [
            Data(text("").utf8), Data([0xEF, 0xBB, 0xBF] + text(" encoding='UTF-8'").utf8),
            Data([0xFF, 0xFE]) + (text(" encoding='UTF-16'").data(using: .utf16LittleEndian) ?? Data()),
            Data([0xFE, 0xFF]) + (text(" encoding='UTF-8'").data(using: .utf16BigEndian) ?? Data()),
            text(" encoding='ISO-8859-1'").data(using: .isoLatin1) ?? Data(),
            text(" encoding='windows-1252'").data(using: .windowsCP1252) ?? Data(),
        ]
        let seen = try await Replayed.of("feed", "", bodies)
        #expect(seen.code == 0 && seen.events == [], "\(seen)")
    }

    @Test(
        "case 11: bytes that are no text become U+FFFD, and the item keeps its key from poll to poll")
    func badBytes() async throws {
        func body(_ items: [String]) -> Data {
            let parts = Self.rss(items).components(separatedBy: "?")
            return Data(parts.map { Array($0.utf8) }.joined(separator: [0xE9]))
        }
        let ill = Self.entry("a", "Caf?")
        let seen = try await Replayed.of(
            "feed", "", [body([ill]), body([ill]), body([Self.entry("b", "New?"), ill])])
        #expect(seen.code == 0 && seen.events == ["item.appeared b"], "\(seen)")
    }

    @Test(
        "case 12: NUL and control characters are taken out of what is read",
        arguments: ["feed", "xml", "html", "json"])
    func controls(_ kind: String) async throws {
        let home = try Home()
        let file = home.directory.appending(path: "body")
        let text = "A\u{0}l\u{1}p\u{8}h\u{1F}a"
        let body =
            switch kind {
            case "feed": Self.rss([Self.entry("a", text)])
            case "xml": "<r id='a'><title>\(text)</title></r>"
            case "html": "<html><body><p>\(text)</p></body></html>"
            default: #"[{"id": "a", "title": "A\u0000l\u0001p\u0008h\u001fa"}]"#
            }
        try Data(body.utf8).write(to: file)
        let result = try await Program.run(["list", file.path, "--kind", kind, "--json"])
        #expect(result.code == 0, "\(result.err)")
        #expect(result.out.contains("Alpha"), "\(result.out)")
    }

    @Test(
        "case 13: a bare ampersand and an entity of HTML shorten no list, and the poll is said to be lenient"
    )
    func lenient() async throws {
        let ill = [Self.entry("c", "Salt&nbsp;& pepper &copy; Q&A")] + Self.two
        let seen = try await Replayed.of("feed", "", Self.rss(Self.two), Self.rss(ill))
        #expect(seen.code == 0 && seen.events == ["item.appeared c"], "\(seen)")
        let home = try Home()
        let file = home.directory.appending(path: "ill.xml")
        try Self.rss(ill).write(to: file, atomically: true, encoding: .utf8)
        try home.write("sources: {s: {kind: feed, url: \"\(file.absoluteString)\"}}")
        let run = try await home.vedette("run", "--once", "--verbose")
        #expect(run.code == 0 && run.err.contains("s: lenient: "), "\(run.err)")
        let items = try await home.vedette("list", "s", "--json").json
        #expect(
            items.count == 3 && items.contains { $0.text("title") == "Salt & pepper © Q&A" }, "\(items)")
    }

    @Test("case 30: of entries with one id the first is the item, in every poll")
    func duplicates() async throws {
        let twice = [Self.entry("b", "Beta"), Self.entry("a", "Alpha"), Self.entry("a", "Alpha again")]
        let seen = try await Replayed.of(
            "feed", "", Self.rss(Self.two), Self.rss(twice), Self.rss(twice))
        #expect(seen.code == 0 && seen.events == [], "\(seen)")
    }

    @Test("case 31: a site that gives all its entries new ids makes no event for any of them")
    func migration() async throws {
        func all(_ site: String) -> [String] {
            (1...20).reversed().map { number in
                Self.entry(
                    "\(site)-\(number)", "Entry \(number)", "<link>https://host.example.org/\(number)</link>")
            }
        }
        let seen = try await Replayed.of(
            "feed", "", Self.rss(all("old")), Self.rss(all("new")), Self.rss(all("new")))
        #expect(seen.code == 0 && seen.events.filter { $0.hasPrefix("item.") } == [], "\(seen)")
    }

    @Test("case 32: another order, another tracking parameter and another relative date are no event")
    func shuffled() async throws {
        func entry(_ id: String, _ mark: String, _ date: String) -> String {
            "<item><guid>https://host.example.org/\(id)?utm_source=\(mark)</guid><title>\(id)</title>"
                + "<link>https://host.example.org/\(id)?fbclid=\(mark)</link><pubDate>\(date)</pubDate></item>"
        }
        let seen = try await Replayed.of(
            "feed", "", Self.rss([entry("a", "x", "2 hours ago"), entry("b", "x", "1 day ago")]),
            Self.rss([entry("b", "y", "yesterday"), entry("a", "z", "3 hours ago")]))
        #expect(seen.code == 0 && seen.events == [], "\(seen)")
    }

    @Test(
        "case 33: a feed that shrinks or turns empty has lost nothing, a list after two polls, an empty list not at once"
    )
    func shrunk() async throws {
        let one = [Self.two[0]]
        let feed = try await Replayed.of(
            "feed", "", Self.rss(Self.two), Self.rss(one), Self.rss([]), Self.rss([]), Self.rss(Self.two))
        #expect(feed.events == [], "\(feed)")
        let whole = try await Replayed.of(
            "feed", "", Self.rss(Self.two, complete: true), Self.rss(one, complete: true),
            Self.rss(one, complete: true))
        #expect(whole.events == ["item.disappeared a"], "\(whole)")
        let (all, less) = (#"[{"id": 1}, {"id": 2}]"#, #"[{"id": 2}]"#)
        let list = try await Replayed.of("json", "", all, less, all, less, less)
        #expect(list.events == ["item.disappeared 1"], "\(list)")
        let empty = try await Replayed.of("json", "", all, "[]", all)
        #expect(empty.events.filter { $0.hasPrefix("item.") } == [], "\(empty)")
    }

    @Test("case 35: an entry that leaves the window and comes back is no news")
    func back() async throws {
        func window(_ numbers: ClosedRange<Int>) -> String {
            Self.rss(numbers.reversed().map { Self.entry("n\($0)", "Entry \($0)") })
        }
        let seen = try await Replayed.of(
            "feed", "", window(1...4), window(3...6), window(1...6), window(5...8))
        #expect(seen.code == 0, "\(seen)")
        #expect(seen.events == [5, 6, 7, 8].map { "item.appeared n\($0)" }, "\(seen)")
    }
}
