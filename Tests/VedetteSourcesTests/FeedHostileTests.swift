// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("Hostile feeds")
struct FeedHostileTests {
    private func read(_ inner: String, root: String = "rss") throws -> Page {
        try FeedCorpus.read(Array("<\(root)><channel><title>c</title>\(inner)</channel></\(root)>".utf8))
    }

    @Test("an entry with twenty thousand categories and authors keeps a hundred of each")
    func names() throws {
        let many = (0..<20_000).map { "<category>c\($0)</category><author>a\($0)</author>" }.joined()
        let item = try #require(read("<item><title>t</title>\(many)</item>").items.first)
        guard case .list(let categories) = item["categories"] else { return #expect(Bool(false), "no list") }
        #expect(categories.count == 100)
        #expect(item["author"]?.description.split(separator: ",").count == 100)
    }

    @Test("a feed's many authors do not multiply with its entries")
    func feedAuthors() throws {
        let people = (0..<1000).map { "<author><name>Person \($0)</name></author>" }.joined()
        let entries = (0..<100).map { "<entry><id>\($0)</id></entry>" }.joined()
        let text = "<feed xmlns='http://www.w3.org/2005/Atom'>\(people)\(entries)</feed>"
        let page = try FeedCorpus.read(Array(text.utf8))
        #expect(page.items[99]["author"]?.description.split(separator: ",").count == 5)
    }

    @Test("long names of authors and tags are cut in a JSON Feed as in XML")
    func longNames() throws {
        let name = String(repeating: "n", count: 1000)
        let named = #""authors":[{"name":"\#(name)"}]"#
        let items = #"{"id":"1"},{"id":"2",\#(named),"tags":["\#(name)"]}"#
        let text = #"{"version":"https://jsonfeed.org/version/1.1",\#(named),"items":[\#(items)]}"#
        let page = try FeedCorpus.read(Array(text.utf8))
        let cut = String(repeating: "n", count: 197) + "…"
        #expect(page.items.map { $0["author"]?.description } == [cut, cut])
        #expect(page.items.last?["categories"] == .list([cut]))
    }

    @Test("an xml:base of which links would take over more than 2 KiB is ignored, alone or with those above it")
    func longBases() throws {
        func link(_ base: String, _ inner: String = "") throws -> String? {
            let entry = "<entry xml:base='\(inner)'><id>1</id><link href='x'/></entry>"
            let text = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='\(base)'>\(entry)</feed>"
            return try FeedCorpus.read(Array(text.utf8)).items.first?.url
        }
        let path = String(repeating: "a/", count: 1000)
        #expect(try link("https://h/\(path)") == "https://h/\(path)x")
        #expect(try link("https://h/\(path)\(path)") == "https://news.example.org/blog/x")
        #expect(try link("https://h/\(path)", path) == "https://h/\(path)x")
        #expect(try link("https://h/b/?\(path)\(path)") == "https://h/b/x")
    }

    @Test("a long address of a feed gives its next page, but no links of entries")
    func longAddress() throws {
        let address = "https://h/" + String(repeating: "a/", count: 2000)
        let entry = "<entry><id>1</id><link href='x'/></entry>"
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='?page=2'/>\(entry)</feed>"
        let json =
            #"{"version":"https://jsonfeed.org/version/1.1","next_url":"?page=2","items":[{"id":"1","url":"x"}]}"#
        for text in [atom, json] {
            var body = PageBody(bytes: Array(text.utf8), url: address)
            let page = try Fixture.kind("feed").read(&body)
            #expect(page.next?.url == address + "?page=2")
            #expect(page.items.map(\.url) == [nil])
        }
    }

    @Test("bases inside each other are resolved once for all entries below them", .timeLimit(.minutes(1)))
    func nestedBases() throws {
        let open = String(repeating: "<skipHours xml:base='a/'>", count: 200)
        let items = (0..<2000).map { "<item xml:base='\($0)/'><guid>\($0)</guid><link>x</link></item>" }.joined()
        let page = try read(open + items + String(repeating: "</skipHours>", count: 200))
        #expect(page.items.count == 2000)
        let path = String(repeating: "a/", count: 200)
        #expect(page.items.last?.url == "https://news.example.org/blog/\(path)1999/x")
    }

    @Test("tens of thousands of attributes without values are refused")
    func attributes() throws {
        let bomb = "<item><title>x<b" + (0..<10_000).map { " a\($0)" }.joined() + ">y</b></title></item>"
        let page = try read(bomb)
        #expect(page.items.count == 1)
        #expect(page.items.first?.title == "xy")
        #expect(page.warnings == ["lenient: markup that is not well-formed was mended"])
    }

    @Test("nesting and text beyond a limit are failures, not a shorter feed")
    func limits() {
        let deep = String(repeating: "<a>", count: 1000) + String(repeating: "</a>", count: 1000)
        #expect(throws: ReadError.self) { try read("<item>\(deep)</item>") }
        let long = String(repeating: "x", count: (4 << 20) + 1)
        let error = #expect(throws: ReadError.self) { try read("<item><description>\(long)</description></item>") }
        #expect(error?.failure == .tooLarge)
    }

    @Test("control characters are removed; characters that a terminal or chat would obey stay for the sinks to escape")
    func controls() throws {
        let page = try read("<item><title>a\u{1B}[31m &#27;b\u{202E}c</title></item>")
        #expect(page.items.first?.title == "a[31m b\u{202E}c")
        #expect(page.warnings == ["lenient: control characters were removed"])
    }

    @Test("random damage to feeds of every format never crashes and never loses two entries")
    func damage() throws {
        let feeds = ["shape-wordpress.xml", "rss-1.0.rdf", "atom-0.3.xml", "json-1.1.json", "ill-unclosed-html.xml"]
        var seed: UInt64 = 5
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        for file in feeds {
            let whole = try FeedCorpus.bytes(file)
            let count = try FeedCorpus.read(whole).items.count
            for _ in 0..<300 {
                var body = whole
                body[random(body.count)] = Array("<>&;\"'/ \u{0}{}[],-!".utf8)[random(16)]
                guard let page = try? FeedCorpus.read(body) else { continue }
                #expect(page.items.count >= count - 1, "\(file)")
            }
        }
    }
}
