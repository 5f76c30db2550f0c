// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteConfig

@testable import vedette

@Suite("Feed lists of other readers")
struct OPMLTests {
    @Test("feeds in folders are read in order, with their titles and pages; other outlines are not feeds")
    func reads() throws {
        let list = try OPML(
            Array(
                """
                <?xml version="1.0"?><opml version="1.0"><head><title>mine</title></head><body>
                <outline text="Tech"><outline text="A &amp; B" type="rss" xmlUrl="https://a.example/feed?x=1&amp;y=2"
                htmlUrl="https://a.example/"/></outline><outline text="note"/>
                <outline text="" title="" xmlUrl="http://b.example/rss"/></body></opml>
                """.utf8), name: "list.opml")
        #expect(
            list.feeds == [
                OPML.Feed(url: "https://a.example/feed?x=1&y=2", title: "A & B", page: "https://a.example/"),
                OPML.Feed(url: "http://b.example/rss", title: "http://b.example/rss", page: nil),
            ])
        #expect(try OPML(Array(list.lines.joined(separator: "\n").utf8), name: "again").feeds == list.feeds)
    }

    @Test("what is no OPML is refused by name", arguments: ["<rss/>", "{}", "", "<opml><body><outline xmlUrl='x'>"])
    func refuses(_ text: String) {
        let error = #expect(throws: Exit.self) { try OPML(Array(text.utf8), name: "list.opml") }
        #expect(error?.code == .data && error?.description.hasPrefix("list.opml") == true)
    }

    @Test("imported sources have free names; what is watched already, listed twice or no web address is left out")
    func imports() {
        let feeds = [
            OPML.Feed(url: "https://a.example/1", title: "News", page: nil),
            OPML.Feed(url: "https://a.example/1", title: "News again", page: nil),
            OPML.Feed(url: "https://b.example/2", title: "News", page: nil),
            OPML.Feed(url: "https://c.example/known", title: "Known", page: nil),
            OPML.Feed(url: "file:///etc/passwd", title: "File", page: nil),
        ]
        var names = NamesInUse()
        names.sources = ["news"]
        let result = FeedImport(OPML(feeds), known: ["https://c.example/known"], names: names)
        #expect(
            result.lines == [
                "sources:", "  news-2: {kind: feed, url: \"https://a.example/1\", every: 30m}",
                "  news-3: {kind: feed, url: \"https://b.example/2\", every: 30m}", "", "sinks:",
                "  terminal: {kind: stdout, format: line}", "", "rules:", "  - name: new-entries",
                "    when: {source: [news-2, news-3], appears: true}", "    notify: [terminal]",
            ])
        #expect(
            result.remarks == [
                "2 feeds; 2 watched already or listed twice", "left out, no http address: file:///etc/passwd",
            ])
    }
}
