// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteEngine

@testable import VedetteSources

@Suite("The feed kind")
struct FeedTests {
    private func read(_ xml: String) throws -> Page {
        var page = PageBody(bytes: Array(xml.utf8), url: "https://news.example.org/blog/feed.xml")
        return try Fixture.kind("feed").read(&page)
    }

    @Test("an entry does not get the address of its feed's author, nor of an author before it")
    func authors() throws {
        let entries = "<item><guid>1</guid><author>Ada</author></item><item><guid>2</guid><author>Bob</author></item>"
        let text = "<rss><channel><email>w@x.org</email>\(entries)</channel></rss>"
        var page = PageBody(bytes: Array(text.utf8), url: "https://lab.example.org/feed")
        #expect(try Feed(Options()).read(&page).items.map { $0["author"] } == [.text("Ada"), .text("Bob")])
    }

    @Test("three Connections polls yield every new entry, though a known, edited row stands between new ones")
    func connections() async throws {
        let replay = Fixture.replay(try Fixture.source("feed"))
        var appeared: [[String]] = []
        var changed: [[String]] = []
        for poll in 1...3 {
            let pages = try ["connections-public-\(poll).xml", "connections-public-\(poll)-p2.xml"].map {
                try Fixture.page($0)
            }
            let result = await replay.poll(pages, at: .poll(poll))
            let events = result.events
            #expect(result.failure == nil)
            appeared.append(events.filter { $0.kind == .appeared }.compactMap(\.item?.title))
            changed.append(events.filter { $0.kind == .changed }.compactMap(\.item?.title))
            #expect(!events.contains { $0.kind == .disappeared })
        }
        let expected = try JSON(parsing: Fixture.bytes("expected-transitions.json"))["connections"]?.array ?? []
        for (i, transition) in expected.enumerated() {
            let added = transition["added"]?.array?.compactMap(\.string) ?? []
            #expect(appeared[i + 1].sorted() == added.sorted())
            #expect(changed[i + 1] == transition["changed"]?.array?.compactMap(\.string))
        }
        #expect(expected.count == 2)
        #expect(appeared[0].isEmpty)
    }

    @Test("new entries come oldest first")
    func order() async throws {
        let replay = Fixture.replay(try Fixture.source("feed"))
        _ = await replay.poll([try Fixture.page("connections-public-1.xml")], at: .poll(1))
        let events = await replay.poll([try Fixture.page("connections-public-2.xml")], at: .poll(2)).events
        let times = events.compactMap(\.item?.time)
        #expect(times == times.sorted())
        #expect(times.count == 5)
    }

    @Test("RSS 2.0 gives guid, link, date, author and content; extensions with the same names are ignored")
    func rss() throws {
        let page = try read(
            """
            <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" \
            xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
            <channel><title>Blog</title><link>https://news.example.org</link><ttl>60</ttl>
            <item><title>A &lt;b&gt;bold&lt;/b&gt; &amp;amp; new day</title><link>/posts/1?a=1&amp;b=2</link>
            <guid isPermaLink="false">post-1</guid><pubDate>Sat, 21 Nov 2026 02:00:00 +0100</pubDate>
            <dc:creator>Ada</dc:creator><description>short</description><media:title>not this</media:title>
            <content:encoded><![CDATA[<p>Long &amp; whole</p>]]></content:encoded><category>ops</category></item>
            </channel></rss>
            """)
        let item = try #require(page.items.first)
        #expect(item.key == "post-1")
        #expect(item.title == "A bold & new day")
        #expect(item.url == "https://news.example.org/posts/1?a=1&b=2")
        #expect(item.time?.rfc3339 == "2026-11-21T01:00:00.000Z")
        #expect(item["author"] == "Ada")
        #expect(item["content"] == "Long & whole")
        #expect(item["categories"] == .list(["ops"]))
        #expect(page.freshFor == .seconds(3600))
    }

    @Test("Atom resolves links against xml:base, and takes the alternate one")
    func atom() throws {
        let page = try read(
            """
            <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example/a/">
            <link rel="next" href="page2"/>
            <entry><id>urn:1</id><title type="html">&lt;i&gt;x&lt;/i&gt;</title><link rel="enclosure" href="e.mp3"/>
            <link rel="alternate" type="application/json" href="j"/><link href="h" type="text/html"/>
            <updated>2026-11-21T02:00:00Z</updated><author><name>Ada</name><uri>u</uri></author>
            <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>one <b>two</b></p></div></content></entry>
            </feed>
            """)
        #expect(page.next?.url == "https://b.example/a/page2")
        let item = try #require(page.items.first)
        #expect(item.url == "https://b.example/a/h")
        #expect(item.title == "x")
        #expect(item["content"] == "one two")
        #expect(item["author"] == "Ada")
    }

    @Test("without guid the link keys an entry, without link a hash that stays the same")
    func keys() throws {
        let xml =
            "<rss><channel><item><link>https://a.example/1</link></item><item><title>t</title></item></channel></rss>"
        let keys = try read(xml).items.map(\.key)
        #expect(keys[0] == "https://a.example/1")
        #expect(keys[1].hasPrefix("hash:"))
        #expect(try read(xml).items.map(\.key) == keys)
    }

    @Test(
        "a document that is not a feed is a failure of its own class",
        arguments: [
            ("connections-error-400.xml", Failure.shape), ("connections-login-200.html", .wrongType),
            ("connections-error-403.html", .wrongType), ("cloudburst-virtualSystems-1.json", .wrongType),
            ("evri-entities.xml", .shape),
        ])
    func noFeed(file: String, failure: Failure) throws {
        var page = try Fixture.page(file)
        let kind = try Fixture.kind("feed")
        let error = #expect(throws: ReadError.self) { try kind.read(&page) }
        #expect(error?.failure == failure)
    }

    @Test(
        "dates of feeds are read as UTC",
        arguments: [
            ("Sat, 21 Nov 2026 02:00:00 GMT", "2026-11-21T02:00:00.000Z"),
            ("21 Nov 26 02:00 EST", "2026-11-21T07:00:00.000Z"),
            ("Saturday, 21 November 2026 02:00:00 +0530", "2026-11-20T20:30:00.000Z"),
            ("2026-11-21", "2026-11-21T00:00:00.000Z"), ("2026-11-21T02:00Z", "2026-11-21T02:00:00.000Z"),
            ("2026-11-21T02:00:00", "2026-11-21T02:00:00.000Z"),
        ])
    func dates(text: String, expected: String) {
        #expect(FeedDate.parse(text)?.rfc3339 == expected)
    }

    @Test(
        "a text that is not a date gives no time",
        arguments: ["", "soon", "31 Feb 2026 00:00:00 GMT", "21 Nov", "2026-13-01"])
    func noDate(text: String) {
        #expect(FeedDate.parse(text) == nil)
    }
}
