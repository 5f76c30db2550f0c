// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteEngine

@testable import VedetteSources

/// The page of reports: what users of other tools reported, and what each input gives now.
@Suite("Page of reports")
struct ReportsPageTests {
    /// Files of `Fixtures`: successive polls, or one document whose items are shown.
    struct Input {
        let words: String
        let files: [String]
        var report: String?
        var kind = "feed"
        var options: [String: OptionValue] = [:]
        /// A field that is shown in the place of the title.
        var field = "title"

        /// Returns the row of the page, from a run.
        func row() async throws -> String {
            let report = report.map { report in
                let parts = report.split(separator: " ")
                return
                    "[\(parts[0].split(separator: "/")[1]) \(parts[1])](https://github.com/\(parts[0])/issues/\(parts[1]))"
            }
            let names = files.map { $0.split(separator: "/").last.map { "`\($0)`" } ?? "" }.joined(separator: ", ")
            return "| \(words) | \(report ?? "") | \(names) | \(try await now()) |"
        }

        private func now() async throws -> String {
            if files.count == 1 {
                var page = PageBody(
                    bytes: try Fixture.bytes(files[0]), url: "https://news.example.org/x", receivedAt: Reported.start)
                let items = try Fixture.kind(kind, options).read(&page).items
                let shown = items.map { "`\($0[field]?.description ?? $0.measures[field]?.description ?? "–")`" }
                return "\(counted(items.count, "item")): \(shown.joined(separator: ", "))"
            }
            let polls = try await Reported.events(files.map(Fixture.bytes), kind: kind, options)
            let told = polls.map { events in
                let events = events.map { event in
                    let parts = event.split(separator: " ", maxSplits: 1)
                    return "\(parts[0]) `\(parts.last ?? "")`"
                }
                return events.isEmpty ? "nothing" : events.joined(separator: ", ")
            }
            return told.joined(separator: "; then ")
        }
    }

    private static func fields(_ name: String, _ path: String) -> OptionValue { .map([(name, .text(path))]) }
    private static func feed(_ words: String, _ report: String? = nil, _ names: String...) -> Input {
        Input(words: words, files: names.map { "feeds/\($0)" }, report: report)
    }
    private static func json(
        _ words: String, _ report: String? = nil, _ names: String..., options: [String: OptionValue] = [:],
        field: String = "title"
    ) -> Input {
        let files = names.map { "pages/\($0).json" }
        return Input(words: words, files: files, report: report, kind: "json", options: options, field: field)
    }
    private static func price(_ words: String, _ report: String? = nil, _ name: String) -> Input {
        json(words, report, name, options: ["measures": fields("price", "price")], field: "price")
    }

    private static let inputs =
        [
            feed(
                "entries without id share one link", "brief-rss/brief 435", "shared-link-1.xml", "shared-link-2.xml"),
            feed("every entry has the id N/A", "cocopuff2u/MOFA 24", "shared-guid-1.xml", "shared-guid-2.xml"),
            feed(
                "the fragment of an id counts edits", "lwindolf/liferea 1361", "fragment-1.xml", "fragment-2.xml"),
            feed("ids move from http to https", "FreshRSS/FreshRSS 5151", "https-1.xml", "https-2.xml"),
            feed("an episode gets another id and date", nil, "new-guid-1.xml", "new-guid-2.xml"),
            feed(
                "an undated feed shows its oldest first", "eggtcl/rss-synd 16", "oldest-first-1.xml",
                "oldest-first-2.xml", "oldest-first-3.xml"),
            feed("an old entry slides in after a deletion", nil, "deletion-1.xml", "deletion-2.xml"),
            feed("all dates lie in the future", nil, "future-1.xml", "future-2.xml"),
            feed("RSS in Atom's namespace", nil, "rss-in-atom.xml"),
            feed("attributes of Atom with a prefix", nil, "prefixed-attributes.xml"),
            feed("bytes of windows-1252 that are declared as UTF-8", "RssBandit/RssBandit 500", "declared-utf-8.xml"),
            feed("names of elements as words of a title", nil, "titles.xml"),
            feed("JSON Feed with authors as an object, ids as numbers", nil, "json-a.json"),
            feed("JSON Feed with objects as titles, dates as numbers", nil, "json-b.json"),
            feed("JSON Feed with items that are no objects", nil, "json-e.json"),
            feed("JSON Feed with ids that are null", nil, "json-null-id.json"),
            feed("JSON Feed with titles that are null", nil, "json-null-title-1.json", "json-null-title-2.json"),
            price("a price with a currency", nil, "p1"),
            price("a point before three digits of a price", "dgtlmoon/changedetection.io 2598", "p2"),
            price("a price with a dash for its cents", nil, "p3"),
            price("a price with words behind it", nil, "p4"),
            json(
                "members of an object in another order", "dgtlmoon/changedetection.io 1219", "09-metaorder1",
                "09-metaorder2", options: ["fields": fields("meta", "meta")]),
            json(
                "members of objects in a list in another order", nil, "40a", "40b",
                options: ["fields": fields("labels", "labels")]),
            json(
                "an undated list shows its oldest first", nil, "50a", "50b", "50c",
                options: ["mode": .text("window"), "title": .list([.text("text")])]),
            json("a prefix against inclusion as a script", nil, "12-prefix"),
            json("JSONP", nil, "13-jsonp", options: ["jsonp": .flag(true)]),
            json("lines of JSON", nil, "14-ndjson"),
            json(
                "XML that became JSON, with no row, one row and two", nil, "evri0", "evri1", "evri2",
                options: [
                    "items": .text("evriThing.graph.entities.entity"), "key": .list([.text("@href")]),
                    "title": .list([.text("name.$")]), "null_is_empty": .flag(true),
                ]),
            Input(
                words: "text of a page that nobody sees", files: ["pages/hidden.html"], kind: "html", field: "text"),
            Input(
                words: "a page without an end tag", files: ["pages/no-end-tag.html"], kind: "html",
                options: ["items": .text("//li"), "key": .list([.text(".")]), "title": .list([.text(".")])]),
            Input(
                words: "entities in the plain titles of Connections", files: ["connections-stream-entities.json"],
                kind: "connections", options: ["format": .text("json")]),
        ]

    @Test("the page of reports says what each input gives now, and names every input")
    func page() async throws {
        var rows: [String] = []
        for input in Self.inputs { rows.append(try await input.row()) }
        let root = Fixture.directory.deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appending(path: "Sources/vedette/Documentation.docc/Reports.md"), encoding: .utf8)
        let shown = page.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2).map(String.init)
        #expect(shown == rows, "the page should have these rows:\n\(rows.joined(separator: "\n"))")
        let named = Set(Self.inputs.flatMap(\.files))
        for folder in ["feeds", "pages"] {
            let files = try FileManager.default.contentsOfDirectory(
                atPath: Fixture.directory.appending(path: folder).path())
            #expect(Set(files.map { "\(folder)/\($0)" }).subtracting(named).isEmpty)
        }
    }
}
