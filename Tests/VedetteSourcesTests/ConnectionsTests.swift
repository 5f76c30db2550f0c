// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteEngine

@testable import VedetteSources

@Suite("The connections kind")
struct ConnectionsTests {
    private static let feed = "https://connections.example.org/news/atom/stories/public?ps=100"
    private static let stream =
        "https://connections.example.org/connections/opensocial/basic/rest/activitystreams/@public/@all/@all?count=100"

    private func read(_ text: String, _ options: [String: OptionValue] = [:], url: String = feed) throws -> Page {
        var page = PageBody(bytes: Array(text.utf8), url: url)
        return try Connections(Options(options)).read(&page)
    }

    private func feed(_ inside: String) -> String {
        """
        <feed xmlns="http://www.w3.org/2005/Atom" xmlns:snx="http://www.ibm.com/xmlns/prod/sn"
         xmlns:os="http://a9.com/-/spec/opensearch/1.1/"><os:totalResults>1</os:totalResults>\(inside)</feed>
        """
    }

    @Test("an entry gives its title, page, time, content and who and what it is")
    func entry() throws {
        var body = try Fixture.page("connections-public-1.xml", url: Self.feed)
        let page = try Connections(Options()).read(&body)
        #expect(page.items.count == 20 && page.warnings.isEmpty)
        let item = try #require(page.items.first)
        #expect(item.key == "urn:lsid:ibm.com:news:story-af4aa504-fd5d-5fff-b30a-6bd9cf3b6338")
        #expect(item.title == "Mira Okafor created a blog entry named Migrating the build farm.")
        #expect(
            item.url
                == "https://connections.example.org/blogs/html/item?id=f4d47ed9-e919-5106-8ca4-2ec501edf68c&from=news")
        #expect(item.time?.rfc3339 == "2026-11-18T08:55:12.114Z")
        #expect(item["content"]?.description.hasPrefix("The first twelve agents moved over") == true)
        #expect(item["author"] == "Mira Okafor" && item["userid"] == "d9081ce5-bbbb-53b1-b96f-0c98fe5c3552")
        #expect(item["type"] == "entry" && item["component"] == "blogs" && item["event"] == "blog.entry.created")
        #expect(item["tags"] == .list(["ops"]))
        #expect(item["container"]?.description.contains("/blogs/html/container?id=") == true)
        let known = Set(try #require(try Connections(Options()).fieldNames))
        #expect((Array(item.fields) + Array(item.notes)).allSatisfy { known.contains($0.name) })
    }

    @Test("three polls of two pages yield every new entry, though a known, edited row stands between new ones")
    func polls() async throws {
        let replay = Fixture.replay(try Fixture.source("connections"))
        var seen: [[Event]] = []
        for poll in 1...3 {
            let pages = try ["", "-p2"].map { try Fixture.page("connections-public-\(poll)\($0).xml", url: Self.feed) }
            let result = await replay.poll(pages, at: .poll(poll))
            #expect(result.failure == nil)
            seen.append(result.events)
        }
        let expected = try JSON(parsing: Fixture.bytes("expected-transitions.json"))["connections"]?.array ?? []
        for (transition, events) in zip(expected, seen.dropFirst()) {
            func titles(_ name: String) -> [String] { transition[name]?.array?.compactMap(\.string).sorted() ?? [] }
            #expect(events.filter { $0.kind == .appeared }.compactMap(\.item?.title).sorted() == titles("added"))
            #expect(events.filter { $0.kind == .changed }.compactMap(\.item?.title).sorted() == titles("changed"))
            #expect(!events.contains { $0.kind == .disappeared })
            let times = events.compactMap { $0.item?.time }
            #expect(times == times.sorted())
        }
        #expect(expected.count == 2 && seen[0].isEmpty)
        let nothing = await replay.poll(
            [try Fixture.page("connections-public-empty.xml", url: Self.feed)], at: .poll(4))
        #expect(nothing.failure == nil && nothing.events.isEmpty)
    }

    @Test(
        "a document that is not a feed is a failure of its own class",
        arguments: [
            ("connections-error-400.xml", Failure.shape), ("connections-login-200.html", .wrongType),
            ("connections-error-403.html", .wrongType), ("connections-error-404.html", .wrongType),
            ("cloudburst-virtualSystems-1.json", .wrongType), ("evri-entities.xml", .shape),
        ])
    func noFeed(file: String, failure: Failure) throws {
        var page = try Fixture.page(file)
        let error = #expect(throws: ReadError.self) { try Connections(Options()).read(&page) }
        #expect(error?.failure == failure)
        if file == "connections-error-400.xml" {
            #expect(error?.detail.contains("The value of the since parameter is not a date.") == true)
        }
    }

    @Test("a cut page is a failure, never a shorter one, wherever it is cut")
    func truncation() throws {
        let whole = try Fixture.bytes("connections-public-1.xml")
        for count in stride(from: 0, to: whole.count - 8, by: 97) {
            var page = PageBody(bytes: Array(whole[..<count]), url: Self.feed)
            #expect(throws: ReadError.self) { try Connections(Options()).read(&page) }
        }
    }

    @Test("an entry without an id is keyed by its page; without either the poll fails")
    func keys() throws {
        let linked = feed(#"<entry><title>t</title><link href="/x"/></entry>"#)
        #expect(try read(linked).items.map(\.key) == ["https://connections.example.org/x"])
        let error = #expect(throws: ReadError.self) { try read(feed("<entry><title>t</title></entry>")) }
        #expect(error?.failure == .shape)
    }

    @Test("links resolve against xml:base, HTML pages come before other types, and names inside objects are ignored")
    func links() throws {
        let page = try read(
            feed(
                """
                <entry xml:base="https://other.example/a/"><id> k </id><link href="j" type="application/json"/>
                <link href="h" type="text/html"/><link rel="edit" href="e"/><title type="html">&lt;b&gt;x&lt;/b&gt; &amp;amp; y</title>
                <contributor><name>not this</name></contributor><author><name>Ada</name><snx:userid>u</snx:userid></author>
                <author><name>second</name></author><source><id>no</id><title>no</title></source>
                <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>one <b>two</b></p></div></content></entry>
                """))
        let item = try #require(page.items.first)
        #expect(item.key == "k" && item.url == "https://other.example/a/h" && item.title == "x & y")
        #expect(item["author"] == "Ada" && item["userid"] == "u" && item["content"] == "one two")
    }

    @Test("an xml:base of which links would take over more than 2 KiB is ignored")
    func longBase() throws {
        let base = "https://other.example/" + String(repeating: "a/", count: 2000)
        let page = try read(feed(#"<entry xml:base="\#(base)"><id>k</id><link href="h"/></entry>"#))
        #expect(page.items.first?.url == "https://connections.example.org/news/atom/stories/h")
    }

    @Test("the summary replaces an empty content")
    func summary() throws {
        let page = try read(feed(#"<entry><id>k</id><content type="html"/><summary>short</summary></entry>"#))
        #expect(page.items.first?["content"] == "short")
    }

    @Test("the next page is requested by time, else by its link of the same origin, else by number")
    func next() throws {
        let dated = "<entry><id>k</id><updated>2026-11-21T10:00:00.5Z</updated></entry>"
        let undated = "<entry><id>k</id></entry>"
        let link = #"<link rel="next" href="?page=2"/>"#
        let foreign = #"<link rel="next" href="https://internal.example/news?page=2"/>"#
        func next(_ inside: String, _ url: String = Self.feed, _ options: [String: OptionValue] = [:]) throws -> String?
        {
            try read(feed(inside), options, url: url).next?.url
        }
        #expect(try next(link + dated) == Self.feed + "&before=2026-11-21T10%3A00%3A00.501Z")
        #expect(try next(link + undated) == "https://connections.example.org/news/atom/stories/public?page=2&ps=100")
        #expect(try next(foreign + undated) == Self.feed + "&page=2")
        #expect(try next(undated) == Self.feed + "&page=2")
        #expect(try next(undated, Self.feed + "&page=4") == Self.feed + "&page=5")
        #expect(try next("") == nil)
        #expect(try next(#"<link rel="first" href="?page=1"/>"# + dated) == nil)
        let search: [String: OptionValue] = ["updates": .text("search"), "tag": .text("x")]
        #expect(try next(dated, Self.feed, search) == Self.feed + "&page=2")
    }

    @Test("the later JSON stream gives the same items")
    func jsonStream() throws {
        var body = try Fixture.page("connections-activitystreams-public.json", url: Self.stream)
        let page = try Connections(Options(["format": .text("json")])).read(&body)
        #expect(page.items.count == 3)
        let item = try #require(page.items.first)
        #expect(item.key == "urn:lsid:lconn.ibm.com:profiles.story:0c678485-a503-5e79-909b-d6cab6285cda")
        #expect(item.title == "Lena Björk: Ready for use!")
        #expect(item.url?.hasSuffix("/profiles/html/item?id=68f0eec3-2d83-5d35-916e-4234ad82cb9a") == true)
        #expect(item.time?.rfc3339 == "2026-11-18T09:21:00.018Z")
        #expect(item["author"] == "Lena Björk" && item["userid"] == "a38501b2-cd30-5fde-8e91-baf2b30234fe")
        #expect(item["type"] == "note" && item["component"] == "profiles" && item["event"] == "profiles.status.updated")
        #expect(item["container"] == "Observability Guild" && item["published"] == "2026-11-18T09:21:00.000Z")
        #expect(page.next?.url == Self.stream + "&startIndex=3")
    }

    @Test("the stream's plain texts are decoded, and its tags are read")
    func plainTexts() throws {
        var body = try Fixture.page("connections-stream-entities.json", url: Self.stream)
        let item = try #require(Connections(Options(["format": .text("json")])).read(&body).items.first)
        #expect(
            item.title == "Mira Holt created a blog entry named Frühstück & Tipps: „Los“ in the Neues blog.")
        #expect(item["container"] == "Sales & Marketing" && item["tags"] == .list(["ops"]))
    }

    private static let oneEntry = """
        <id>urn:1</id><title type="text">One</title><link rel="alternate" href="https://c.example.org/1"/>
        <updated>2026-11-18T09:00:00Z</updated><author><name>Ann</name></author>
        """

    @Test("an Atom entry document is one item, in both kinds, and a file keeps its links")
    func entryDocument() throws {
        let text = "<entry xmlns='http://www.w3.org/2005/Atom'>\(Self.oneEntry)</entry>"
        for kind in ["connections", "feed"] {
            var page = PageBody(bytes: Array(text.utf8), url: "file:///tmp/entry.xml")
            let items = try Fixture.kind(kind).read(&page).items
            #expect(items.map(\.key) == ["urn:1"] && items.first?.title == "One", "\(kind)")
            #expect(items.first?.url == "https://c.example.org/1" && items.first?["author"] == "Ann", "\(kind)")
        }
        let relative = feed("<entry>\(Self.oneEntry.replacing("https://c.example.org", with: ""))</entry>")
        #expect(try read(relative, url: "command:cat").items.first?.url == "/1")
    }

    @Test(
        "the stream is counted, a few rows read twice, until a page is empty; one that cannot count leads in a circle")
    func streamPages() throws {
        let json: [String: OptionValue] = ["format": .text("json")]
        func next(_ rows: Int, start: Int, _ url: String) throws -> String? {
            let list = (0..<rows).map { #"{"id": "\#($0)"}"# }.joined(separator: ",")
            return try read(#"{"startIndex": \#(start), "list": [\#(list)]}"#, json, url: url).next?.url
        }
        #expect(try next(100, start: 0, Self.stream) == Self.stream + "&startIndex=90")
        #expect(try next(4, start: 90, Self.stream + "&startIndex=90") == Self.stream + "&startIndex=94")
        #expect(try next(0, start: 94, Self.stream + "&startIndex=94") == nil)
        #expect(try next(100, start: 0, Self.stream + "&startIndex=90") == Self.stream + "&startIndex=90")
    }

    @Test(
        "a document that is not a stream is a failure",
        arguments: [
            ("", Failure.empty), ("<!DOCTYPE html><html></html>", .wrongType), (#"{"list": {}}"#, .shape),
            (#"{"error": "x"}"#, .shape), (#"{"list": [{"title": "x"}]}"#, .shape),
            (#"{"list": [{"id": "x"}]"#, .truncated),
        ])
    func noStream(text: String, failure: Failure) throws {
        let error = #expect(throws: ReadError.self) { try read(text, ["format": .text("json")], url: Self.stream) }
        #expect(error?.failure == failure)
    }
}
