// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSources

/// Bodies in the shape that systems document, and what a person who knows the system would write for them.
@Suite("Proposals for systems")
struct RecognisedSystemsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let json: JSON

        var testDescription: String { file }
        var file: String { json["file"]?.string ?? "" }

        /// The expected value of an option; several texts are joined.
        func option(_ name: String) -> String? {
            json[name].flatMap { $0.string ?? $0.array?.compactMap(\.string).joined(separator: " ") }
        }
    }

    /// Bodies and their table: systems, and shops, status pages and dashboards.
    private static let tables = [
        (FeedCorpus.directory.appending(path: "systems"), FeedCorpus.directory.appending(path: "systems.json")),
        (Fixture.directory.appending(path: "probe"), Fixture.directory.appending(path: "probe/expected.json")),
    ]

    private static func rows(_ table: URL) -> [Row] {
        guard let text = try? Data(contentsOf: table) else { return [] }
        return ((try? JSON(parsing: Array(text)))?.array ?? []).map(Row.init)
    }

    /// Returns what is wrong with the proposal for a body; nil for a right one.
    private static func fault(_ row: Row, in directory: URL) throws -> String? {
        let body = Array(try Data(contentsOf: directory.appending(path: row.file)))
        let headers = ResponseHeaders(row.option("type").map { [("Content-Type", $0)] } ?? [])
        for proposal in Recogniser.proposals(url: "https://api.example.com/x/", headers: headers, body: body) {
            guard let entry = SourceKinds.all.first(where: { $0.name == proposal.kind }),
                let options = proposal.options(for: entry, pattern: { _ in nil }), let kind = try? entry.make(options)
            else { continue }
            var page = PageBody(bytes: body, headers: headers, url: "https://api.example.com/x/")
            guard let read = try? kind.read(&page) else { continue }
            return fault(proposal, read.items, row)
        }
        return "\(row.file): nothing is read"
    }

    private static func fault(_ proposal: Proposal, _ items: [Item], _ row: Row) -> String? {
        func value(_ name: String) -> String? {
            switch proposal.options.first(where: { $0.name == name })?.value {
            case .flag(let flag): "\(flag)"
            case .text(let text), .body(let text): text
            case .list(let texts): texts.joined(separator: " ")
            case .map, nil: nil
            }
        }
        var faults: [String] = []
        if proposal.kind != row.option("kind") { faults.append("kind \(proposal.kind)") }
        if "\(proposal.hint)" != row.option("hint") { faults.append("hint \(proposal.hint)") }
        for name in ["items", "map", "key", "state", "title"] where value(name) != row.option(name) {
            faults.append("\(name) \(value(name) ?? "-") instead of \(row.option(name) ?? "-")")
        }
        let alternates = row.json["alternates"]?.array?.compactMap(\.string) ?? []
        if proposal.alternates != alternates { faults.append("alternates \(proposal.alternates)") }
        if Int64(items.count) != row.json["count"]?.int64 { faults.append("\(items.count) items") }
        return faults.isEmpty ? nil : "\(row.file): \(faults.joined(separator: ", "))"
    }

    @Test("of sixty bodies at least fifty-four get the proposal that a person would write")
    func systems() throws {
        let rows = Self.tables.map { directory, table in (directory, Self.rows(table)) }
        let faults = try rows.flatMap { directory, rows in try rows.compactMap { try Self.fault($0, in: directory) } }
        let count = rows.map(\.1.count).reduce(0, +)
        #expect(count >= 60)
        #expect(count - faults.count >= 54, "\(faults.joined(separator: "\n"))")
    }

    @Test("a key that changes between two responses is none: a counter, a time, a number of the moment")
    func stability() throws {
        func body(_ number: Int) -> [UInt8] {
            let rows = (0..<3).map {
                #"{"id":\#(number + $0),"seen":"2026-11-21T10:00:0\#(number % 9)Z","name":"n\#($0)"}"#
            }
            return Array("[\(rows.joined(separator: ","))]".utf8)
        }
        func key(later: [UInt8]?) -> String? {
            let proposals = Recogniser.proposals(url: "https://h/", headers: .init(), body: body(10), later: later)
            guard case .text(let key) = proposals.first?.options.first(where: { $0.name == "key" })?.value else {
                return nil
            }
            return key
        }
        #expect(key(later: nil) == "id")
        #expect(key(later: body(10)) == "id")
        #expect(key(later: body(90)) == "name")
    }

    private static func proposals(_ page: String) -> [Proposal] {
        Recogniser.proposals(
            url: "https://h/", headers: .init(), body: Array("<!doctype html><html>\(page)</html>".utf8))
    }

    @Test("a page says which rows it has and why they are not proposed")
    func remarks() {
        let twins = Self.proposals(
            "<table><tr><th>Team<th>Status</tr><tr><td>A<td>up</tr><tr><td>A<td>up</tr><tr><td>A<td>up</tr></table>")
        #expect(twins.first?.options.isEmpty == true)
        #expect(
            twins.first?.remarks.contains { $0.contains("'//table//tr[td]' (3 of them)") && $0.contains("unique") }
                == true)
        let text = (0..<3).map { "<section id=s\($0)><h2>Part \($0)</h2><p>Words, and more words.</p></section>" }
            .joined()
        #expect(
            Self.proposals("<main>\(text)</main>").first?.remarks.contains { $0.contains("parts of a text") } == true)
    }

    @Test("a feed of something else does not take the place of rows with a state")
    func feedBesideRows() {
        let feed = "<link rel=alternate type=application/rss+xml href=/feed>"
        func rows(_ name: String, _ text: String) -> String {
            (0..<3).map { "<li class=entry><a href=/\($0)>Entry \($0)</a> <b class=\(name)>\(text)</b></li>" }
                .joined()
        }
        let states = Self.proposals("\(feed)<ul>\(rows("status", "up"))</ul>")
        #expect(
            states.allSatisfy(\.alternates.isEmpty)
                && states.first?.remarks.contains { $0.contains("https://h/feed") } == true)
        #expect(Self.proposals("\(feed)<ul>\(rows("note", "words"))</ul>").first?.alternates == ["https://h/feed"])
    }

    @Test("rows of JSON without a key are not read as one object, and a remark says so")
    func keyless() {
        let body = #"{"status":"success","data":{"rows":[{"a":1,"b":true},{"a":1,"b":true}]}}"#
        let found = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(body.utf8))
        #expect(found.map(\.kind) == ["http"] && found.first?.remarks.contains { $0.contains("'data.rows'") } == true)
    }

    @Test(
        "what happens to things may be an empty list", arguments: ["incidents", "activeIncidents", "events", "alerts"])
    func happenings(name: String) {
        let body = #"{"\#(name)":[{"id":"1","title":"a","status":"open"},{"id":"2","title":"b","status":"open"}]}"#
        let found = Recogniser.proposals(url: "https://h/", headers: .init(), body: Array(body.utf8))
        #expect(found.first?.isOftenEmpty == true && found.first?.kind == "json")
    }
}
