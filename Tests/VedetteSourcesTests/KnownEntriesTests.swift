// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSources

@Suite("Entries of a feed that were read before")
struct KnownEntriesTests {
    private static let kind = Feed(Options())

    private func read(
        _ text: String, _ cache: ReadingCache?, wantsCache: Bool = true, at url: String = "https://lab.example.org/feed"
    ) throws -> Page {
        var page = PageBody(bytes: Array(text.utf8), url: url)
        (page.cache, page.wantsCache) = (cache, wantsCache)
        return try Self.kind.read(&page)
    }

    /// Reads versions one after the other, each with what the one before left, and compares with a reading without.
    @discardableResult
    private func follow(_ versions: [String]) throws -> ReadingCache? {
        var cache: ReadingCache?
        for version in versions {
            let plain = try read(version, nil, wantsCache: false)
            let page = try read(version, cache)
            #expect(
                page.items == plain.items && page.next == plain.next && page.warnings == plain.warnings, "\(version)")
            cache = page.cache ?? cache
        }
        return cache
    }

    private func feed(_ entries: [String], root: String = "<feed xmlns=\"http://www.w3.org/2005/Atom\">") -> String {
        root + "<title>t</title>" + entries.joined(separator: "\n") + "</feed>"
    }

    private func entry(_ id: String, _ more: String = "") -> String {
        "<entry><id>\(id)</id><title>Title of \(id)</title><updated>2026-11-01T00:00:00Z</updated>\(more)</entry>"
    }

    private func known(_ page: Page) throws -> KnownEntries {
        try #require(page.cache?.content as? KnownEntries)
    }

    private static func digest(_ text: String) -> UInt64 { Array(text.utf8).withUnsafeBytes(KnownEntries.digest) }

    @Test("an entry whose bytes are known is taken as it was, and another one is read")
    func used() throws {
        let first = try read(feed([entry("a"), entry("b")]), nil)
        // What is kept has another title than the document: it is the one that counts.
        var other = KnownEntries(context: try known(first).context)
        for id in ["a", "b"] {
            let digest = Self.digest(entry(id))
            var entry = try #require(try known(first).known[digest])
            entry.entry.offer(title: "kept \(id)", .own)
            other.add(entry, digest: digest)
        }
        let cache = ReadingCache(other, bytes: other.bytes)
        let next = try read(feed([entry("c"), entry("a"), entry("b", "<summary>new</summary>")]), cache)
        #expect(next.items.map(\.title) == ["Title of c", "kept a", "Title of b"])
        #expect(next.items.map(\.key) == ["c", "a", "b"])
        // Under another root, or at another address, the same bytes may mean something else.
        let root = "<feed xmlns=\"http://www.w3.org/2005/Atom\" xml:base=\"https://other.example.org/\">"
        #expect(try read(feed([entry("a")], root: root), cache).items.map(\.title) == ["Title of a"])
        let moved = try read(feed([entry("a")]), cache, at: "https://lab.example.org/moved")
        #expect(moved.items.map(\.title) == ["Title of a"])
        // The next version there is read with marks again.
        let again = try read(feed([entry("a")]), moved.cache, at: "https://lab.example.org/moved")
        #expect(try known(again).known.count == 1)
    }

    @Test("a feed that is read for the first time keeps nothing, and one that cannot be marked is not tried again")
    func kept() throws {
        #expect(try read(feed([entry("a")]), nil, wantsCache: false).cache == nil)
        let comment = feed([entry("a"), "<!-- \(entry("a")) -->"])
        let first = try read(comment, nil)
        #expect(try known(first).isUnmarkable && first.items.count == 1)
        #expect(try read(feed([entry("b")]), first.cache).cache == nil)
        // A version with an error, or without entries, says nothing about the next one.
        let good = try read(feed([entry("b")]), nil).cache
        #expect(try read(feed([entry("b", "<summary>a & b</summary>")]), good).cache == nil)
        #expect(try read(feed([]), good).cache == nil)
    }

    @Test("what stands beside an entry is no part of it, however its tags are written")
    func beside() throws {
        let next = "<link rel=\"next\" href=\"/2\"/>"
        let foreign = "<entry xmlns=\"urn:x\" />"
        let cache = try follow([
            feed([foreign, next, entry("a")]), feed([foreign, next, entry("a"), entry("b")]),
            feed([entry("c"), entry("a")]),
            feed([foreign, next, entry("a")]),
        ])
        #expect((cache?.content as? KnownEntries)?.isUnmarkable == false)
        func channel(_ items: String) -> String { "<rss><channel>\(items)</channel></rss>" }
        let (ada, bob) = (
            "<item><guid>1</guid><author>Ada</author></item>", "<item><guid>2</guid><author>Bob</author></item>"
        )
        try follow([
            channel("<email>w@x.org</email>" + ada), channel("<email>w@x.org</email>" + bob + ada),
            channel("<email>v@x.org</email>" + bob + ada), channel(ada + "<name>n</name><email>v@x.org</email>" + bob),
        ])
    }

    @Test("the address of a feed's own author is not that of its entries")
    func authors() throws {
        let text = "<rss><channel><email>w@x.org</email><item><guid>1</guid><author>Ada</author></item></channel></rss>"
        #expect(try read(text, nil).items.map { $0["author"] } == [.text("Ada")])
    }

    @Test("known entries count towards the limit of elements")
    func limit() throws {
        let large = entry("a", String(repeating: "<a/>", count: 1_200_000))
        let first = try read(feed([large]), nil)
        let digest = Self.digest(large)
        #expect(try known(first).known[digest]?.elements == 1_200_004)
        #expect(throws: ReadError.self) { try read(feed([large, large]), first.cache) }
    }

    @Test("no more is kept of a feed than its share")
    func share() throws {
        let long = String(repeating: "x", count: 60_000)
        let entries = (0..<60).map { entry("\($0)", "<summary>\(long)\($0)</summary>") }
        let kind = Feed(Options(["content_limit": .integer(65_536)]))
        var page = PageBody(bytes: Array(feed(entries).utf8), url: "https://lab.example.org/feed")
        page.wantsCache = true
        let read = try kind.read(&page)
        let bytes = try #require(read.cache?.bytes)
        #expect(bytes <= ReadingCache.mostBytes && bytes > ReadingCache.mostBytes * 9 / 10 && read.items.count == 60)
    }

    /// Parts of entries as feeds have them, and as nobody writes them.
    private static func parts(_ name: String, _ random: SeededRandom) -> [String] {
        [
            "<title>Plain</title>", "<title type=\"html\">A &amp;lt;b&amp;gt; &lt;b&gt;x&lt;/b&gt;</title>",
            "<description><![CDATA[ a </\(name)> b <\(name)>c</\(name)> ]]></description>",
            "<content type=\"xhtml\"><div xmlns=\"http://www.w3.org/1999/xhtml\">x <\(name)>y</\(name)></div></content>",
            "<!-- <\(name)><id>c</id></\(name)> -->", "<link href=\"/a?\(random.next() % 3)\"/>", "<link>/b</link>",
            "<updated>2026-11-0\(random.next() % 9 + 1)T00:00:00Z</updated>", "<pubDate>no date</pubDate>",
            "<author><name>Ada</name></author>", "<source xml:base=\"https://x.example.org/\"><id>s</id></source>",
            "<x:y xmlns:x=\"urn:x\"><id>nested</id></x:y>", "<media:title>undeclared</media:title>",
            "<?php echo ?>", "<?vedette 0?>", "<category term=\"c\"/>", "<summary>&nbsp;&#233;</summary>",
        ]
    }

    private static func entries(_ random: SeededRandom, isAtom: Bool) -> [String] {
        let name = isAtom ? "entry" : "item"
        func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
        func entry() -> String {
            let id = isAtom ? "<id>tag:\(below(12))</id>" : "<guid>tag:\(below(12))</guid>"
            let parts = parts(name, random)
            let some = (0..<below(4)).map { _ in parts[below(parts.count)] }
            let space = below(5) == 0 ? " " : ""
            return "<\(name)\(space)>\(id)\(some.joined())</\(name)\(space)>"
        }
        func usual() -> String {
            let number = below(4)
            return "<\(name)><title>Usual \(number)</title><link>https://lab.example.org/\(number)</link></\(name)>"
        }
        var entries = (0..<below(6)).map { _ in below(8) == 0 ? entry() : usual() }
        if below(12) == 0 { entries += ["<\(name)/>", "<![CDATA[<\(name)>]]>", "<p><\(name)/></p>"] }
        let heads = [
            "<link rel=\"next\" href=\"/\(below(3))\"/>", "<email>a@x.org</email>", "<ttl>\(below(90))</ttl>",
            "<author><name>H</name><email>h@x.org</email></author>", "<\(name) xmlns=\"urn:x\" />",
            "<x:\(name) xmlns:x=\"urn:x\"/>",
        ]
        for _ in 0..<max(0, below(5) - 2) { entries.insert(heads[below(heads.count)], at: below(entries.count + 1)) }
        return entries
    }

    @Test("whatever a feed becomes, it is read as without a memory", arguments: 1...60 as ClosedRange<UInt64>)
    func equivalence(_ seed: UInt64) throws {
        let random = SeededRandom(seed)
        let isAtom = seed % 2 == 0
        let roots =
            isAtom
            ? [
                "<feed xmlns=\"http://www.w3.org/2005/Atom\">", "<feed>",
                "<?xml version=\"1.0\"?><!-- <entry> --><feed>",
            ]
            : [
                "<rss><channel>", "<rss version=\"2.0\"><channel xml:base=\"https://y.example.org/\">",
                "<rss><channel><x/>",
            ]
        var cache: ReadingCache?
        var (kept, found) = (0, 0)
        for step in 0..<60 {
            let root = roots[random.next() % 8 == 0 ? Int(random.next() % 3) : 0]
            let end = random.next() % 10 == 0 ? "" : isAtom ? "</feed>" : "</channel></rss>"
            let text = root + Self.entries(random, isAtom: isAtom).joined(separator: "\n") + end
            let plain = Result { try read(text, nil, wantsCache: false) }
            let marked = Result { try read(text, cache) }
            switch (plain, marked) {
            case (.success(let plain), .success(let marked)):
                #expect(plain.items == marked.items, "step \(step): \(text)")
                #expect(plain.warnings == marked.warnings && plain.next == marked.next, "step \(step): \(text)")
                #expect(plain.isComplete == marked.isComplete && plain.freshFor == marked.freshFor)
                #expect(plain.sharedKeys.digests == marked.sharedKeys.digests)
                // An odd version shall not end the comparison.
                let (last, now) = (cache?.content as? KnownEntries, marked.cache?.content as? KnownEntries)
                cache = now?.isUnmarkable == true ? nil : marked.cache ?? cache
                kept += now?.known.count ?? 0
                found += now?.known.keys.count { last?.known[$0] != nil } ?? 0
            case (.failure(let plain), .failure(let marked)):
                #expect("\(plain)" == "\(marked)", "step \(step): \(text)")
            default: Issue.record("step \(step): \(plain) and \(marked) of \(text)")
            }
        }
        #expect(kept > 20 && found > 5)
    }
}
