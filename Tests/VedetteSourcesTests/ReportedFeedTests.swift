// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteEngine
import VedetteTestSupport

@testable import VedetteSources

/// What users of other readers reported, rebuilt small: files of `Fixtures/feeds`, or bodies, as successive polls.
enum Reported {
    static let start = Timestamp(rfc3339: "2026-11-25T00:00:00Z") ?? Timestamp(milliseconds: 0)

    static func file(_ name: String) throws -> [UInt8] { try Fixture.bytes("feeds/\(name)") }

    /// RSS whose items are these elements.
    static func rss(_ items: String...) -> [UInt8] { rss(items: items) }

    static func rss(items: [String]) -> [UInt8] {
        let items = items.map { "<item>\($0)</item>" }.joined()
        return Array("<rss version=\"2.0\"><channel><title>c</title>\(items)</channel></rss>".utf8)
    }

    /// Returns the events of each poll after the first, each as `appeared TITLE`.
    static func events(
        _ bodies: [[UInt8]], kind: String = "feed", _ options: [String: OptionValue] = [:]
    ) async throws -> [[String]] {
        let replay = Fixture.replay(try Fixture.source(kind, options))
        var events: [[String]] = []
        for (number, body) in bodies.enumerated() {
            let page = PageBody(bytes: body, url: "https://news.example.org/feed")
            let poll = await replay.poll([page], at: start.advanced(by: .seconds(1800 * number)))
            #expect(poll.failure == nil, "\(poll.failure?.detail ?? "")")
            events.append(poll.events.map { "\($0.kind.word) \($0.item?.title ?? $0.error?.failure ?? "")" })
        }
        return Array(events.dropFirst())
    }
}

@Suite("Reported feeds: keys")
struct ReportedFeedKeyTests {
    @Test("entries without id that share one link are told apart by title and date")
    func sharedLink() async throws {
        let bodies = [try Reported.file("shared-link-1.xml"), try Reported.file("shared-link-2.xml")]
        #expect(
            try await Reported.events(bodies + [bodies[1], bodies[0]])
                == [["appeared Shirt F", "appeared Shirt E", "appeared Shirt D"], [], []])
    }

    @Test("entries that share one id are told apart by their links")
    func sharedID() async throws {
        let bodies = [try Reported.file("shared-guid-1.xml"), try Reported.file("shared-guid-2.xml")]
        #expect(try await Reported.events(bodies) == [["appeared Release 13"]])
    }

    private static func release(_ number: Int) -> String {
        """
        <title>Release \(number)</title><link>https://rel.example/\(number)</link><guid isPermaLink="false">N/A</guid>\
        <pubDate>\(number) Nov 2026 10:00:00 GMT</pubDate>
        """
    }

    @Test("an entry that was alone with its id stays known when a second one has that id, and when the other leaves")
    func twins() async throws {
        let (old, new) = (Self.release(11), Self.release(12))
        let bodies = [
            Reported.rss(old), Reported.rss(new, old), Reported.rss(new), Reported.rss(new, old), Reported.rss(old),
            Reported.rss(Self.release(13), old),
        ]
        #expect(
            try await Reported.events(bodies) == [["appeared Release 12"], [], [], [], ["appeared Release 13"]])
    }

    @Test("an undated entry with the link of all others is new, though one of them leaves at the same time")
    func sharedLinkUndated() async throws {
        func shirts(_ names: String...) -> [UInt8] {
            let items = names.map { "<item><title>\($0)</title><link>https://shop.example</link></item>" }.joined()
            return Array("<rss><channel>\(items)</channel></rss>".utf8)
        }
        let events = try await Reported.events([shirts("C", "B", "A"), shirts("D", "C", "B"), shirts("E", "D", "C")])
        #expect(events == [["appeared D"], ["appeared E"]])
    }

    @Test("entries that share link and title are told apart by their dates, and without dates by their content")
    func sharedTitle() async throws {
        func photo(_ more: String) -> String { "<title>New photo</title><link>https://a.example</link>\(more)" }
        let dated = (1...4).map { photo("<pubDate>\($0) Nov 2026 10:00:00 GMT</pubDate>") }
        let undated = (1...4).map { photo("<description>of day \($0)</description>") }
        let same = dated.map { $0 + "<description>as before</description>" }
        for photos in [dated, undated, same] {
            let bodies = [[2, 1, 0], [3, 2, 1], [3], [3, 2]].map { Reported.rss(items: $0.map { photos[$0] }) }
            #expect(try await Reported.events(bodies) == [["appeared New photo"], [], []])
        }
    }

    @Test("a value that several entries have in common is named once")
    func remark() async throws {
        let replay = Fixture.replay(try Fixture.source("feed"))
        var remarks: [[String]] = []
        for (number, file) in ["shared-guid-1.xml", "shared-guid-2.xml"].enumerated() {
            let page = PageBody(bytes: try Reported.file(file), url: "https://news.example.org/feed")
            remarks.append(await replay.poll([page], at: .poll(number)).remarks)
        }
        #expect(remarks == [["several entries have 'N/A' in common, so what else they have keys them"], []])
    }

    /// An entry with a title and a date of its own; others may have its id and its link.
    private static func entry(_ number: Int, _ dice: inout SplitMix64) -> String {
        // The first ones show what is shared.
        let own = number < 2 ? 0 : number < 4 ? 2 : Int.random(in: 0..<3, using: &dice)
        let id = ["<guid isPermaLink='false'>N/A</guid>", "<guid isPermaLink='false'>id\(number)</guid>", ""][own]
        let link =
            own == 1 || number < 4 || Bool.random(using: &dice) ? "https://a.example/\(own == 2 ? 0 : number)" : ""
        let date = Reported.start.advanced(by: .seconds(number * 60 - 86_400)).rfc3339
        return
            "<title>T\(number)</title>\(id)<link>\(link)</link><pubDate>\(date)</pubDate><description>text</description>"
    }

    @Test(
        "whatever ids and links entries share, each is told once, whoever leaves the window or comes back",
        arguments: 1...60)
    func property(seed: UInt64) async throws {
        var dice = SplitMix64(seed)
        let all = (0..<24).map { Self.entry($0, &dice) }
        let replay = Fixture.replay(try Fixture.source("feed"))
        var told: [String] = []
        for number in 0..<18 {
            // A window of six moves on; some entries are missing now and then, but never the newest.
            let shown = (number..<number + 6).filter { $0 == number + 5 || dice.next() % 4 > 0 || number == 0 }
            let body = Reported.rss(items: shown.reversed().map { all[$0] })
            let page = PageBody(bytes: body, url: "https://news.example.org/feed")
            let events = await replay.poll([page], at: Reported.start.advanced(by: .seconds(1800 * number))).events
            told += events.map { "\($0.kind.word) \($0.item?.title ?? $0.error?.failure ?? "")" }
        }
        #expect(told == (6..<23).map { "appeared T\($0)" }, "\(told)")
    }

    @Test(
        "entries that all share id and link are told apart by title and date, else by content",
        arguments: ["https://shop.example", "N/A"])
    func sharedIDAndLink(id: String) async throws {
        func entry(_ own: String) -> String {
            "<guid isPermaLink=\"false\">\(id)</guid><link>https://shop.example</link>\(own)"
        }
        let titled = (1...5).map { entry("<title>Shirt \($0)</title>") }
        let dated = (1...5).map { entry("<title>New</title><pubDate>\($0) Nov 2026 10:00:00 GMT</pubDate>") }
        let described = (1...5).map { entry("<title>New</title><description>of day \($0)</description>") }
        let own = "<guid>pinned</guid><link>https://shop.example/p</link><title>Pinned</title>"
        let same = dated.map { $0 + "<description>as before</description>" }
        for (entries, title) in [(titled, "Shirt 5"), (dated, "New"), (described, "New"), (same, "New")] {
            let bodies = [[3, 2, 1, 0], [4, 3, 2, 1], [4], [4, 3]].map { Reported.rss(items: $0.map { entries[$0] }) }
            #expect(try await Reported.events(bodies) == [["appeared \(title)"], [], []])
        }
        let pinned = [[2, 1, 0], [3, 2, 1]].map { Reported.rss(items: [own] + $0.map { titled[$0] }) }
        #expect(try await Reported.events(pinned) == [["appeared Shirt 4"]])
    }

    @Test("an id that turns out to be shared makes no versions of entries with one link")
    func sharedIDAndSomeLinks() throws {
        func entry(_ title: String, _ link: String) -> String {
            "<guid isPermaLink='false'>N/A</guid><link>https://shop.example/\(link)</link><title>\(title)</title>"
        }
        let page = try FeedCorpus.read(Reported.rss(entry("A", ""), entry("B", ""), entry("C", "c")))
        #expect(page.items.map(\.title) == ["A", "B", "C"])
    }

    /// RSS whose next page is at `next`.
    private static func page(_ items: [String], next: String?) -> PageBody {
        let link = next.map { "<atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='next' href='\($0)'/>" } ?? ""
        let body = "<rss version='2.0'><channel>\(link)\(items.map { "<item>\($0)</item>" }.joined())</channel></rss>"
        return PageBody(bytes: Array(body.utf8), url: "https://news.example.org/feed")
    }

    @Test(
        "of entries with one id on two pages none is lost, and an entry that moves to the next page is one",
        arguments: [true, false])
    func pages(areDated: Bool) async throws {
        func release(_ number: Int) -> String {
            let release = Self.release(number)
            return areDated ? release : String(release.prefix(upTo: release.firstRange(of: "<pubDate>")!.lowerBound))
        }
        func other(_ number: Int) -> String { release(number).replacing("N/A", with: "id\(number)") }
        let replay = Fixture.replay(try Fixture.source("feed"))
        func poll(_ first: [String], _ second: [String], minute: Int) async -> [String] {
            let time = Reported.start.advanced(by: .seconds(1800 * minute))
            let pages = [
                Self.page(first, next: "https://news.example.org/2"),
                Self.page(second, next: "https://news.example.org/3"), Self.page([other(9), other(8)], next: nil),
            ]
            let poll = await replay.poll(pages, at: time)
            #expect(poll.failure == nil)
            return poll.events.map { "\($0.kind.word) \($0.item?.title ?? $0.error?.failure ?? "")" }
        }
        #expect(await poll([other(11), other(10)], [other(9)], minute: 0) == [])
        let burst = (12...15).map { "appeared Release \($0)" }
        let pages = ([release(15), other(14)], [other(14), release(13), other(12), other(11)])
        #expect(await poll(pages.0, pages.1, minute: 1) == burst)
        #expect(await poll(pages.0, pages.1, minute: 2) == [])
        #expect(await poll([release(16)] + pages.0, pages.1, minute: 3) == ["appeared Release 16"])
    }

    @Test("versions of one entry, with one id and one link, are one entry, of which the newest counts")
    func versions() throws {
        func version(_ title: String, day: Int) -> String {
            """
            <title>\(title)</title><link>https://a.example/1</link><guid isPermaLink="false">a1</guid>\
            <pubDate>\(day) Nov 2026 10:00:00 GMT</pubDate>
            """
        }
        let page = try FeedCorpus.read(Reported.rss(version("First", day: 1), version("Second", day: 2)))
        #expect(page.items.map(\.title) == ["Second"] && page.items[0].key == "a1")
        #expect(page.warnings.count == 1)
    }
}

@Suite("Reported feeds: changed ids")
struct ReportedFeedIDTests {
    @Test(
        "an entry whose id changes while its link, enclosure, or title and date stay is the same entry",
        arguments: [
            ("fragment-1.xml", "fragment-2.xml"), ("new-guid-1.xml", "new-guid-2.xml"), ("https-1.xml", "https-2.xml"),
        ])
    func sameEntry(first: String, second: String) async throws {
        let bodies = [try Reported.file(first), try Reported.file(second)]
        #expect(try await Reported.events(bodies + [bodies[0]]) == [[], []])
    }

    private static func entry(_ title: String, _ id: String, link: String, day: Int) -> String {
        """
        <title>\(title)</title><link>https://a.example/\(link)</link><guid isPermaLink="false">\(id)</guid>\
        <pubDate>\(day) Nov 2026 10:00:00 GMT</pubDate>
        """
    }

    @Test(
        "a newer alert that links to the page of one that left is news, and so is one that shares its link with another"
    )
    func otherEntry() async throws {
        let (disk, net) = (
            Self.entry("disk full", "a1", link: "host1", day: 1), Self.entry("no net", "a2", link: "host2", day: 2)
        )
        let alert = Self.entry("no answer", "a3", link: "host1", day: 3)
        #expect(
            try await Reported.events([Reported.rss(net, disk), Reported.rss(alert, net)]) == [["appeared no answer"]])
        let (late, twin) = (Self.entry("x", "b1", link: "host1", day: 1), Self.entry("y", "b2", link: "host1", day: 1))
        #expect(
            try await Reported.events([Reported.rss(net, disk), Reported.rss(net, late, twin)])
                == [["appeared y", "appeared x"]])
    }

    @Test("a title that changes with the id, while an older entry stays, is a change of the entry")
    func changed() async throws {
        let (zero, one) = (
            Self.entry("Zero", "0", link: "0", day: 1), Self.entry("One", "https://a.example/1#0", link: "1", day: 2)
        )
        let edited = Self.entry("One, edited", "https://a.example/1#1", link: "1", day: 2)
        #expect(
            try await Reported.events([Reported.rss(one, zero), Reported.rss(edited, zero)])
                == [["changed One, edited"]])
    }

    /// A comment: its number is the fragment of its id and, with `isInLink`, of its link.
    private static func comment(
        _ number: Int, on post: String, by author: String = "Ann", isInLink: Bool = true
    ) -> String {
        let link = isInLink ? "\(post)#comment-\(number)" : post
        return entry("By: \(author)", "https://a.example/\(post)#comment-\(number)", link: link, day: number)
    }

    @Test(
        "a comment that takes the place of another on the same page is new, whoever wrote it",
        arguments: [("Ann", true), ("Bob", true), ("Ann", false), ("Bob", false)])
    func comments(author: String, isInLink: Bool) async throws {
        func comment(_ number: Int, _ post: String, by author: String = "Ann") -> String {
            Self.comment(number, on: post, by: author, isInLink: isInLink)
        }
        let (first, second, third) = (comment(1, "a"), comment(2, "b"), comment(3, "c"))
        let newest = comment(4, "a", by: author)
        let slides = [Reported.rss(third, second, first), Reported.rss(newest, third, second)]
        #expect(try await Reported.events(slides) == [["appeared By: \(author)"]])
        // The first comment is deleted: an older one stays.
        let oldest = comment(1, "d")
        let (middle, other) = (comment(2, "a"), comment(3, "d"))
        let deletion = [Reported.rss(other, middle, oldest), Reported.rss(newest, other, oldest)]
        #expect(try await Reported.events(deletion) == [["appeared By: \(author)"]])
    }

    @Test(
        "a newer alert with the title and the link of one that slid out is new, with dates and without",
        arguments: [true, false])
    func repeatedAlert(isDated: Bool) async throws {
        func alert(_ number: Int) -> String {
            // Each fifth run of the backup fails.
            let (title, link) = number % 5 == 0 ? ("Backup failed", "backup") : ("Alert \(number)", "a\(number)")
            let entry = Self.entry(title, "id\(number)", link: link, day: number)
            return isDated ? entry : String(entry.prefix(upTo: entry.firstRange(of: "<pubDate>")!.lowerBound))
        }
        let (descending, ascending) = ((5...8).reversed().map(alert), (5...8).map(alert))
        let next = (6...10).reversed().map(alert)
        let told = ["appeared Alert 9", "appeared Backup failed"]
        #expect(try await Reported.events([Reported.rss(items: descending), Reported.rss(items: next)]) == [told])
        #expect(
            try await Reported.events([Reported.rss(items: ascending), Reported.rss(items: next.reversed())]) == [told])
        // The id of the last entry changes in its place.
        let moved = alert(5).replacing("id5", with: "new5")
        #expect(
            try await Reported.events([
                Reported.rss(items: descending), Reported.rss(items: (6...8).reversed().map(alert) + [moved]),
            ]) == [[]])
        #expect(
            try await Reported.events([
                Reported.rss(items: ascending), Reported.rss(items: [moved] + (6...8).map(alert)),
            ]) == [[]])
    }

    @Test("an alert that comes late, before the newest, is new though it is like one that slid out")
    func lateAlert() async throws {
        let (old, a) = (Self.entry("Backup failed", "1", link: "b", day: 1), Self.entry("A", "a", link: "a", day: 4))
        let late = Self.entry("Backup failed", "2", link: "b", day: 3)
        #expect(
            try await Reported.events([Reported.rss(a, old), Reported.rss(a, late)]) == [["appeared Backup failed"]])
    }
}

@Suite("Reported windows: what is new")
struct ReportedWindowTests {
    @Test("an old entry that slides in after a deletion is old by its published date, however late it was updated")
    func deletion() async throws {
        let bodies = [try Reported.file("deletion-1.xml"), try Reported.file("deletion-2.xml")]
        #expect(try await Reported.events(bodies) == [[]])
    }

    @Test("where all known entries have dates in the future, a late notice with a past date is told")
    func future() async throws {
        let bodies = [try Reported.file("future-1.xml"), try Reported.file("future-2.xml")]
        #expect(try await Reported.events(bodies) == [["appeared Seminar Nov 24 (late notice)"]])
    }

    @Test("an undated feed that grows at its end tells each new entry")
    func oldestFirst() async throws {
        let bodies = try (1...3).map { try Reported.file("oldest-first-\($0).xml") }
        #expect(try await Reported.events(bodies) == [["appeared Post 4"], ["appeared Post 5"]])
    }

    @Test("what is not told, since its place alone decides, is named with the reason")
    func remark() async throws {
        let replay = Fixture.replay(try Fixture.source("feed"))
        var remarks: [[String]] = []
        for (number, keys) in ["1234", "1245"].enumerated() {
            let items = keys.map { "<item><title>\($0)</title><guid>\($0)</guid></item>" }.joined()
            let body = Array("<rss><channel>\(items)</channel></rss>".utf8)
            remarks.append(await replay.poll([PageBody(bytes: body, url: "")], at: .poll(number)).remarks)
        }
        let expected =
            "1 undated behind the known ones ('time:' decides), not announced; last '5'"
        #expect(remarks == [[], [expected]])
    }

    private static func numbers(_ range: ClosedRange<Int>, _ write: (Int) -> String) -> String {
        range.map(write).joined()
    }

    @Test("an undated window of any kind that drops its front and grows at its end tells what came, in that order")
    func fixedLength() async throws {
        let ranges = [1...3, 2...4, 4...6]
        let expected = [["appeared 4"], ["appeared 5", "appeared 6"]]
        let window: [String: OptionValue] = ["mode": .text("window")]
        func bodies(_ start: String, _ end: String, _ write: (Int) -> String) -> [[UInt8]] {
            ranges.map { Array((start + Self.numbers($0, write) + end).utf8) }
        }
        let feed = bodies("<rss><channel>", "</channel></rss>") {
            "<item><title>\($0)</title><guid>g\($0)</guid></item>"
        }
        #expect(try await Reported.events(feed) == expected)
        let json = bodies("[", "null]") { "{\"id\": \"\($0)\", \"title\": \"\($0)\"}," }
            .map { Array(String(decoding: $0, as: UTF8.self).replacing(",null]", with: "]").utf8) }
        #expect(try await Reported.events(json, kind: "json", window) == expected)
        let list = bodies("<html><body><ul>", "</ul></body></html>") { "<li id=\"\($0)\">\($0)</li>" }
        let items = window.merging(["items": .text("//li")]) { $1 }
        #expect(try await Reported.events(list, kind: "html", items) == expected)
        let rows = bodies("<list>", "</list>") { "<row id=\"\($0)\" title=\"\($0)\"/>" }
        let row = window.merging(["items": .text("//row"), "key": .text("@id")]) { $1 }
        #expect(try await Reported.events(rows, kind: "xml", row) == expected)
    }
}

@Suite("Reported feeds: what is read")
struct ReportedFeedContentTests {
    private func read(_ file: String) throws -> Page { try FeedCorpus.read(Reported.file(file)) }

    @Test("JSON Feed: what is no text is no title, and the content gives one")
    func titles() async throws {
        #expect(
            try await Reported.events([
                try Reported.file("json-null-title-1.json"), try Reported.file("json-null-title-2.json"),
            ]) == [["appeared Second micro post"]])
        #expect(try read("json-null-id.json").items.map(\.title) == ["c", "c2", "c3"])
        #expect(try read("json-b.json").items.map(\.title) == ["c", "Hi"])
    }

    @Test("JSON Feed: authors may be an object, dates numbers, and neither null nor true is an id, a tag or an address")
    func values() throws {
        let a = try read("json-a.json")
        #expect(a.items.map { $0["author"]?.description } == ["Ann", nil, nil, nil])
        #expect(a.items.map(\.key).prefix(2) == ["17", "1500.0"] && a.items[2].key.hasPrefix("hash:"))
        let b = try read("json-b.json")
        #expect(b.items[0]["published"] == "2025-11-20T10:00:00.000Z")
        #expect(b.items.map { $0["author"] } == ["Feed Author", "Bob"])
        let g = try read("json-null-id.json")
        #expect(g.items.map(\.key) == ["https://e.example/1", "https://e.example/2", "f"])
        #expect(g.items[0]["categories"] == .list(["x"]) && g.items[0]["enclosure"] == nil)
    }

    @Test("JSON Feed: what is no object among the items is left out with a count")
    func strays() throws {
        let page = try read("json-e.json")
        #expect(page.items.map(\.title) == ["x"])
        #expect(page.warnings.first == "2 items left out that are no objects")
    }

    @Test("RSS whose elements are in Atom's namespace is RSS, and attributes in Atom's own namespace are Atom's")
    func namespaces() throws {
        let rss = try #require(read("rss-in-atom.xml").items.first)
        #expect(rss.key == "https://data.example/1" && rss["published"] == "2026-11-20T10:00:00.000Z")
        let atom = try #require(read("prefixed-attributes.xml").items.first)
        #expect(atom.title == "Ice & Fire" && atom.url == "https://w.example/157/")
    }

    @Test("bytes of windows-1252 in a feed that says UTF-8 are read as windows-1252, said once")
    func declared() throws {
        let page = try read("declared-utf-8.xml")
        #expect(page.items.map(\.title) == ["Größe “x” someone’s"])
        #expect(page.warnings.count == 1)
    }

    @Test("names in angle brackets inside a title are words where they are no markup")
    func words() throws {
        let titles = try read("titles.xml").items.compactMap(\.title)
        #expect(
            titles == [
                "Intent to unship: <a> as <area> in image maps", "Intent: <a> as <area>", "AT&T & co",
                "Refresh 周报 Q&A", "How to use <b> in HTML", "vector<int> and <3", "R&D report", "a]]> b",
                "Café – ♥", "Tab New line 😀 ok",
            ])
    }
}
