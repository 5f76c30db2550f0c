// SPDX-License-Identifier: Apache-2.0

import Testing

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

    @Test("a file that is an HTML page is refused as a file")
    func page() {
        let error = #expect(throws: Exit.self) { try OPML(Array("<!doctype html><p>words".utf8), name: "page.html") }
        #expect(error?.description.contains("but the file is an HTML page") == true, "\(error?.description ?? "")")
    }

    @Test("what is no OPML is refused by name", arguments: ["<rss/>", "{}", "", "<opml><body><outline xmlUrl='x'>"])
    func refuses(_ text: String) {
        let error = #expect(throws: Exit.self) { try OPML(Array(text.utf8), name: "list.opml") }
        #expect(error?.code == .data && error?.description.hasPrefix("list.opml") == true)
    }
}
