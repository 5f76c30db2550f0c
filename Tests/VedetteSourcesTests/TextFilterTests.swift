// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteEngine
import VedetteText

@testable import VedetteSources

/// What `replace`, `ignore` and `sort` make of documents, with the cases that users of other tools reported.
@Suite("Texts that are changed before they are compared")
struct TextFilterTests {
    private func step(_ regex: String, with replacement: String = "", in names: Set<String>? = nil) throws
        -> TextFilter.Step
    {
        TextFilter.Step(try RegularExpression(regex), with: replacement, in: names)
    }

    private func source(
        _ kind: String, _ filter: TextFilter, _ options: [String: OptionValue] = [:]
    ) throws -> Source {
        var source = try Fixture.source(kind, options, filter: filter)
        source.filter = filter
        return source
    }

    /// The events of each poll after the first, each as its fields and what they are now.
    private func events(_ bodies: [String], _ source: Source) async throws -> [[String]] {
        let replay = Fixture.replay(source)
        var events: [[String]] = []
        for (number, body) in bodies.enumerated() {
            let page = PageBody(bytes: Array(body.utf8), url: "https://www.example.org/page")
            let poll = await replay.poll([page], at: .poll(number))
            #expect(poll.failure == nil, "\(poll.failure?.detail ?? "")")
            events.append(
                poll.events.map { event in
                    let changes = event.changes.map { "\($0.field): \($0.to?.description ?? "–")" }
                    return ([event.kind.word] + changes).joined(separator: " ")
                })
        }
        return Array(events.dropFirst())
    }

    private func page(_ counter: String, _ text: String = "Terms of 2026.") -> String {
        "<html><head><title>Terms (\(counter))</title></head><body><p>\(text)</p><p>\(counter) people watched this</p></body></html>"
    }

    // changedetection.io 1337: the ignored text stands in the notification. 215: dates and counters that always change.
    @Test("what is ignored of a page makes no event, and no message shows it")
    func page() async throws {
        let filter = TextFilter([try step(#"\d+ people watched this"#), try step(#" \(\d+\)"#)])
        let bodies = [page("6"), page("7"), page("8", "Terms of 2027.")]
        let told = try await events(bodies, try source("html", filter))
        #expect(told == [[], ["changed text: Terms of 2027. "]])
        let without = try await events(bodies, try source("html", TextFilter()))
        #expect(without.map(\.count) == [1, 1])
    }

    @Test(
        "a filter that leaves nothing of a text is warned of: its source would see no change",
        arguments: ["html", "text"])
    func emptied(_ kind: String) throws {
        func warnings(_ expression: String, of text: String) throws -> [String] {
            var body = PageBody(bytes: Array(text.utf8), url: "https://h/")
            let filter = TextFilter([try step(expression)])
            return try Fixture.kind(kind, filter: filter).read(&body).warnings
        }
        let warning =
            "'replace' and 'ignore' leave nothing of the text, so that no change of it is seen; narrow their 'regex'"
        let full = kind == "html" ? page("6") : "6 people"
        #expect(try warnings("(?s).*", of: full) == [warning])
        #expect(try !warnings("people", of: full).contains(warning))
        guard kind == "html" else { return }
        #expect(try !warnings("people", of: "<html><body></body></html>").contains(warning))
    }

    @Test("a filter that leaves nothing of a field of any row is warned of; one that does so in some rows is meant")
    func emptiedFields() throws {
        func warnings(_ kind: String, _ options: [String: OptionValue], _ body: String) throws -> [String] {
            let filter = TextFilter([try step(#"\d+ EUR"#, in: ["price"]), try step("sold out")])
            let source = try source(kind, filter, options)
            var body = PageBody(bytes: Array(body.utf8), url: "https://h/")
            var page = try source.kind.read(&body)
            try source.filterTexts(of: &page)
            return page.warnings
        }
        let warning =
            "'replace' and 'ignore' leave nothing of 'price' in any item; narrow their 'regex', or name other fields with 'in'"
        let json: [String: OptionValue] = ["fields": .map([("price", .text("p"))])]
        #expect(try warnings("json", json, #"[{"id": 1, "p": "12 EUR"}, {"id": 2, "p": "80 EUR"}]"#) == [warning])
        #expect(try warnings("json", json, #"[{"id": 1, "p": "12 EUR"}, {"id": 2, "p": "free"}]"#) == [])
        #expect(try warnings("json", json, #"[{"id": 1, "p": " "}]"#) == [])
        let feed =
            "<rss version='2.0'><channel><title>t</title><item><guid>1</guid><title>sold out</title></item></channel></rss>"
        #expect(try warnings("feed", [:], feed).contains { $0.contains("nothing of 'title' in any item") })
    }

    // changedetection.io 1289 and 1294: an expression over several lines ignored nothing.
    @Test("an expression may reach over lines to the end of the page")
    func lines() async throws {
        let filter = TextFilter([try step("(?s)Items related to.*")])
        func body(_ related: String) -> String { "One lamp\nItems related to lamps\n\(related)\nmore\n" }
        #expect(try await events([body("a"), body("b\nc")], try source("text", filter)) == [[]])
    }

    // urlwatch 116: a score in the line of a story.
    @Test("a number in a title is ignored, and a new line is told")
    func score() async throws {
        let filter = TextFilter([try step(#" \(\d\.\d\)$"#, in: ["title", "key"])])
        let options: [String: OptionValue] = ["match": .pattern(try RegularExpression("^.+$"))]
        let bodies = [
            "16/11/02 story A (4.1)\n", "16/11/02 story A (3.9)\n", "16/11/02 story A (3.9)\nstory B (1.0)\n",
        ]
        #expect(try await events(bodies, try source("text", filter, options)) == [[], ["appeared"]])
    }

    @Test("a text is compared before it is cut, so that what is ignored behind the cut makes no event")
    func long() async throws {
        let filter = TextFilter([try step(#"build \d+"#)])
        let body = String(repeating: "many words here\n", count: 8000)
        for kind in ["text", "html"] {
            let bodies = ["build 1", "build 2"].map {
                kind == "html" ? "<html><body><pre>\(body)\($0)</pre></body></html>" : body + $0
            }
            #expect(try await events(bodies, try source(kind, filter)) == [[]], "\(kind)")
        }
    }

    // urlwatch 397: a list in no particular order is told at each poll.
    @Test("with sort, another order of lines, of nodes or of the values of a field is no change")
    func sorts() async throws {
        let sorted = TextFilter(sorts: true)
        let text = ["b\r\na\r\nc\r\n", "a\r\nc\r\nb\r\n", "a\r\nc\r\nd\r\n"]
        #expect(
            try await events(text, try source("text", sorted)) == [[], ["changed text: a\nc\nd"]])
        let pages = ["<p>b</p><p>a</p>", "<p>a</p><p>b</p>"].map { "<html><body>\($0)</body></html>" }
        #expect(try await events(pages, try source("html", sorted, ["select": .text("//p")])) == [[]])
        let rows = [#"[{"id": 1, "tags": ["x", "a"]}]"#, #"[{"id": 1, "tags": ["a", "x"]}]"#]
        let tags: [String: OptionValue] = ["fields": .map([("tags", .text("tags"))])]
        #expect(try await events(rows, try source("json", sorted, tags)) == [[]])
        #expect(try await events(rows, try source("json", TextFilter(), tags)).map(\.count) == [1])
    }

    @Test("fields of json are replaced before numbers are read, in the order that is written")
    func numbers() throws {
        let filter = TextFilter([
            try step("^from ", in: ["price", "euros"]), try step(",-", with: ",00", in: ["price", "euros"]),
        ])
        let kind = try Fixture.kind(
            "json",
            [
                "fields": .map([("price", .text("price"))]), "measures": .map([("euros", .text("price"))]),
                "number": .map([("decimal", .text(","))]),
            ], filter: filter)
        var page = PageBody(bytes: Array(#"[{"id": "from 1", "price": "from 1.299,- €"}]"#.utf8), url: "https://h/")
        let item = try kind.read(&page).items[0]
        #expect(item.key == "from 1" && item["price"] == "1299.00" && item.measures == ["euros": "1299.00"])
    }

    @Test("a state or a note is changed only where its name is written")
    func names() throws {
        let body = #"[{"id": 7, "title": "t 7", "state": "up 7", "note": "n 7"}]"#
        func read(_ names: Set<String>?) throws -> Item {
            var page = PageBody(bytes: Array(body.utf8), url: "https://h/")
            let options: [String: OptionValue] = [
                "state": .list([.text("state")]), "notes": .map([("note", .text("note"))]),
            ]
            return try Fixture.kind("json", options, filter: TextFilter([try step(" ?7", in: names)])).read(&page)
                .items[0]
        }
        let usual = try read(nil)
        #expect(usual.title == "t" && usual.state == "up 7" && usual["note"] == "n 7" && usual.key == "7")
        let named = try read(["state", "note"])
        #expect(named.title == "t 7" && named.state == "up" && named["note"] == "n")
        let error = #expect(throws: ReadError.self) { try read(["key"]) }
        #expect(error?.detail == "'replace' and 'ignore' leave nothing of the key '7'")
    }

    @Test("an entry of a feed loses what is ignored, and keeps its key")
    func feed() async throws {
        func body(_ views: Int) -> String {
            """
            <rss version="2.0"><channel><title>c</title><item><guid>a (1)</guid><title>News (\(views))</title></item></channel></rss>
            """
        }
        let source = try source("feed", TextFilter([try step(#" \(\d+\)"#)]))
        #expect(try await events([body(1), body(2)], source) == [[]])
    }

    @Test("an expression that takes too long on a page fails its poll, and changes nothing")
    func limit() async throws {
        let source = try source("text", TextFilter([try step("(?:a+)+$")]))
        let body = Array((String(repeating: "a", count: 64) + "b").utf8)
        let poll = await Fixture.replay(source).poll([PageBody(bytes: body, url: "https://h/")], at: .poll(0))
        #expect(poll.failure?.detail.hasPrefix("failed to replace texts in 'text': the regular expression") == true)
    }

    @Test("another filter is a new baseline of what it changes, and no new identity unless it changes keys")
    func fingerprints() throws {
        let plain = try source("json", TextFilter())
        let all = try source("json", TextFilter([try step("a")]))
        let named = try source("json", TextFilter([try step("a", in: ["title"])]))
        let keys = try source("json", TextFilter([try step("a", in: ["key"])]))
        #expect(plain.fingerprints == plain.kind.fingerprints)
        #expect(plain.identity == all.identity && plain.identity == named.identity && plain.identity != keys.identity)
        #expect(all.fingerprints[SnapshotHead.everyField] != plain.fingerprints[SnapshotHead.everyField])
        #expect(named.fingerprints[SnapshotHead.everyField] == plain.fingerprints[SnapshotHead.everyField])
        #expect(named.fingerprints["title"] != plain.fingerprints["title"])
        let other = try source("json", TextFilter([try step("a", with: "b", in: ["title"])]))
        #expect(other.fingerprints["title"] != named.fingerprints["title"])
        #expect(try source("json", TextFilter(sorts: true)).fingerprints != plain.fingerprints)
    }
}
