// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Any REST resource in JSON: where its items are, and what of an item is its key, title, state and fields, as paths.
struct JSONResource: SourceKind {
    static let entry = SourceKindEntry(
        name: "json", summary: "Any REST resource in JSON, its items and fields named by paths.",
        options: [
            OptionSpec("items", .text, "Path of the array of items.", standard: "the root"),
            OptionSpec("key", .oneOrMany(.text), "Path or paths that key an item.", standard: "id"),
            OptionSpec("title", .text, "Path of an item's title.", standard: "title, then name"),
            OptionSpec(
                "state", .oneOrMany(.text),
                "Path or paths of an item's state; several are joined by `/` where they are not empty."),
            OptionSpec("link", .text, "Path of the address where a person looks at an item; it may be relative."),
            OptionSpec(
                "time", .text, "Path of the time an item was last changed: ISO 8601, or seconds or milliseconds."),
            OptionSpec("fields", .map(.text), "Further fields that are compared: name to path."),
            OptionSpec("notes", .map(.text), "Fields that are stored and shown, never compared: name to path."),
            OptionSpec(
                "next", .text, "Path of the next page's address in the body; a `Link` header is followed anyway."),
            OptionSpec(
                "mode", .choice(["list", "window"]),
                "`list`: what is absent is gone; `window`: only the newest items are shown.", standard: "list"),
        ],
        make: { options throws(OptionProblem) in try JSONResource(options) })

    let mode: ReadingMode
    private let items: JSONPath?
    private let next: JSONPath?
    /// The paths of a row in the order of its columns, and what each range of columns is.
    private let columns: [JSONPath]
    private let key: Range<Int>
    private let title: Range<Int>
    private let state: Range<Int>
    private let link: Int?
    private let time: Int?
    private let fields: [(name: String, column: Int)]
    private let notes: [(name: String, column: Int)]
    let fingerprints: [String: UInt64]
    let identity: UInt64

    init(_ options: Options) throws(OptionProblem) {
        var columns: [JSONPath] = []
        func add(_ option: String, _ texts: [String]) throws(OptionProblem) -> Range<Int> {
            let start = columns.count
            for text in texts { columns.append(try JSONResource.path(text, option)) }
            return start..<columns.count
        }
        func named(_ option: String) throws(OptionProblem) -> [(name: String, column: Int)] {
            var result: [(name: String, column: Int)] = []
            for (name, text) in options.map(option) {
                guard !JSONResource.reserved.contains(name) else {
                    throw OptionProblem(
                        option, name, detail: "'\(name)' is an option of its own; write it beside '\(option)'")
                }
                result.append((name, columns.count))
                columns.append(try JSONResource.path(text, option, name))
            }
            return result
        }
        let keys = options.texts("key").isEmpty ? ["id"] : options.texts("key")
        let titles = options.text("title").map { [$0] } ?? ["title", "name"]
        key = try add("key", keys)
        title = try add("title", titles)
        state = try add("state", options.texts("state"))
        link = try add("link", options.text("link").map { [$0] } ?? []).first
        time = try add("time", options.text("time").map { [$0] } ?? []).first
        fields = try named("fields")
        notes = try named("notes")
        self.columns = columns
        var items: JSONPath?
        if let text = options.text("items") { items = try JSONResource.path(text, "items") }
        self.items = items
        var next: JSONPath?
        if let text = options.text("next") { next = try JSONResource.path(text, "next") }
        self.next = next
        mode = options.text("mode").flatMap(ReadingMode.init(rawValue:)) ?? .list
        identity = Digest.of([options.text("items") ?? "", mode.rawValue] + keys)
        var fingerprints = ["title": Digest.of(titles), "state": Digest.of(options.texts("state"))]
        for (name, path) in options.map("fields") { fingerprints[name] = Digest.of([path]) }
        self.fingerprints = fingerprints
    }

    private static let reserved: Set<String> = ["key", "title", "state", "url", "link", "time"]

    private static func path(_ text: String, _ option: String...) throws(OptionProblem) -> JSONPath {
        do throws(JSONPath.Invalid) {
            return try JSONPath(text)
        } catch {
            var problem = OptionProblem(detail: "'\(text)' is no path: \(error.reason)")
            problem.path = option
            throw problem
        }
    }

    var fieldNames: [String]? { (fields + notes).map(\.name) }

    func request(base: String, context: PollContext) -> Ask {
        Ask(url: base, headers: [Header("Accept", "application/json")])
    }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        var found: [Item] = []
        let url = WebURL(page.url)
        let reader = JSONReader(items: items, columns: columns, document: next.map { [$0] } ?? [])
        do {
            let summary = try reader.read(&page.bytes) { row in found.append(try item(row, url: url)) }
            let inBody = summary.document.first?.text
            let following = inBody.flatMap { $0.isEmpty ? nil : $0 } ?? LinkHeader.next(page.headers)
            return Page(
                items: found, next: following.flatMap { url?.resolving($0).map { NextPage($0.text) } },
                warnings: summary.warnings.map(\.description))
        } catch {
            throw ReadError(any: error)
        }
    }

    private func item(_ row: borrowing JSONRow, url: WebURL?) throws(ReadError) -> Item {
        var keys: [String] = []
        for column in key {
            guard let part = row.string(column), !part.isEmpty else {
                throw ReadError(
                    .shape,
                    "item number \(row.index + 1) has no '\(columns[column])', which is its key; check 'key' and 'items'"
                )
            }
            keys.append(part)
        }
        var item = Item(key: keys.joined(separator: "/"))
        for column in title where item.title == nil { item.title = row.string(column) }
        var states: [String] = []
        for column in state { if let part = row.string(column), !part.isEmpty { states.append(part) } }
        item.state = states.isEmpty ? nil : states.joined(separator: "/")
        if let link, let text = row.string(link) { item.url = url?.resolving(text)?.text ?? text }
        if let time, let text = row.string(time) { item.time = Timestamp(anyForm: text) }
        for (name, column) in fields { item.fields[name] = value(row[column]) }
        for (name, column) in notes { item.notes[name] = value(row[column]) }
        return item
    }

    private func value(_ cell: JSONCell) -> Value? {
        if case .raw(let text) = cell, text.hasPrefix("[") { return .list(cell.elements) }
        return cell.text.map(Value.text)
    }
}

extension Timestamp {
    /// ISO 8601 as RFC 3339 has it, else seconds or milliseconds since 1970: what is beyond the year 5138 in seconds is
    /// milliseconds.
    init?(anyForm text: String) {
        if let time = Timestamp(rfc3339: text) {
            self = time
        } else if let number = Int64(text), number >= 0 {
            self.init(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
        } else {
            return nil
        }
    }
}

/// The `Link` header (RFC 8288).
enum LinkHeader {
    /// The target of `rel="next"`, as written.
    static func next(_ headers: ResponseHeaders) -> String? {
        for line in headers.all("Link") {
            var rest = line[...]
            while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
                let target = String(rest[rest.index(after: open)..<close])
                rest = rest[rest.index(after: close)...]
                let parameters = rest[..<(rest.firstIndex(of: "<") ?? rest.endIndex)]
                if isNext(parameters) { return target }
            }
        }
        return nil
    }

    private static func isNext(_ parameters: Substring) -> Bool {
        parameters.split { ";,".contains($0) }.contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, String(parts[0]).trimmed().lowercased() == "rel" else { return false }
            let relations = String(parts[1]).filter { $0 != "\"" }.lowercased()
            return relations.split(whereSeparator: \.isWhitespace).contains("next")
        }
    }
}
