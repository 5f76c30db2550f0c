// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The items of one page, and what was wrong with some.
struct JSONItems {
    let url: WebURL?
    private(set) var items: [Item] = []
    private var keys = Set<String>()
    private var repeated: (count: Int, first: String)?
    var unreadTime: String?

    init(url: WebURL?) { self.url = url }

    /// Of items with one key the first counts.
    mutating func add(_ item: Item) {
        if keys.insert(item.key).inserted {
            items.append(item)
        } else {
            repeated = ((repeated?.count ?? 0) + 1, repeated?.first ?? item.key)
        }
    }

    var warnings: [String] {
        var warnings: [String] = []
        if let repeated {
            let (count, first) = repeated
            let what =
                count == 1 ? "1 item repeats the key of an earlier one and is" : "\(count) items repeat a key and are"
            warnings.append("\(what) left out, first '\(first)'; check 'key'")
        }
        if let unreadTime { warnings.append("'\(unreadTime)' is no time that can be read; check 'time'") }
        return warnings
    }
}

/// Where in a row stands what.
struct JSONItemPlan {
    private typealias Named = [(name: String, column: Int)]

    private var columns = JSONColumns()
    private let key: Range<Int>
    private let title: Range<Int>
    private let state: Range<Int>
    private let link: Int?
    private let time: Int?
    private let fields: Named
    private let notes: Named
    private let measures: Named
    private let states: [(glob: Glob, name: String)]
    private let html: Set<String>
    /// Paths.
    let keys: [String]
    let fingerprints: [String: UInt64]

    private static let reserved: Set<String> = ["key", "title", "state", "url", "link", "time"]

    init(_ options: Options) throws(OptionProblem) {
        keys = options.texts("key").isEmpty ? ["id"] : options.texts("key")
        let titles = options.texts("title").isEmpty ? ["title", "name"] : options.texts("title")
        key = try columns.add(keys, "key")
        title = try columns.add(titles, "title")
        state = try columns.add(options.texts("state"), "state")
        link = try columns.add(options, "link")
        time = try columns.add(options, "time")
        var taken = JSONItemPlan.reserved
        fields = try JSONItemPlan.named("fields", options, &columns, &taken)
        notes = try JSONItemPlan.named("notes", options, &columns, &taken)
        measures = try JSONItemPlan.named("measures", options, &columns, &taken)
        states = options.map("states").map { (Glob($0.name), $0.value) }
        html = Set(options.texts("html"))
        let known = Set(fields.map(\.name) + notes.map(\.name) + ["title"])
        if let unknown = options.texts("html").first(where: { !known.contains($0) }) {
            throw OptionProblem(
                "html", unknown, detail: "'\(unknown)' is neither 'title' nor a name of 'fields' or 'notes'")
        }
        fingerprints = JSONItemPlan.fingerprints(options, titles: titles)
    }

    private static func fingerprints(_ options: Options, titles: [String]) -> [String: UInt64] {
        let html = options.texts("html")
        func digest(_ name: String, _ paths: [String]) -> UInt64 {
            Digest.of(paths + (html.contains(name) ? ["html"] : []))
        }
        let states = options.map("states").flatMap { [$0.name, $0.value] }
        var fingerprints = ["title": digest("title", titles), "state": Digest.of(options.texts("state") + states)]
        for (name, path) in options.map("fields") { fingerprints[name] = digest(name, [path]) }
        return fingerprints
    }

    private static func named(
        _ option: String, _ options: Options, _ columns: inout JSONColumns, _ taken: inout Set<String>
    ) throws(OptionProblem) -> Named {
        var result: Named = []
        for (name, text) in options.map(option) {
            guard !reserved.contains(name) else {
                throw OptionProblem(
                    option, name, detail: "'\(name)' is an option of its own; write it beside '\(option)'")
            }
            guard taken.insert(name).inserted else {
                throw OptionProblem(option, name, detail: "'\(name)' is a field, note or measure already; rename one")
            }
            result.append((name, try columns.add(text, [option, name])))
        }
        return result
    }

    var paths: [JSONPath] { columns.paths }
    var names: [String] { (fields + notes + measures).map(\.name) }
}

extension JSONItemPlan {
    func read(_ row: borrowing JSONRow, _ found: inout JSONItems) throws(ReadError) {
        var item = Item(key: try key(row))
        item.title = title(row)
        item.state = state(row)
        if let link, let text = row.string(link), !text.isEmpty { item.url = found.url?.resolving(text)?.text ?? text }
        if let time, let text = row.string(time), !text.isEmpty {
            item.time = Timestamp(anyForm: text)
            if item.time == nil, found.unreadTime == nil { found.unreadTime = String(text.prefix(60)) }
        }
        for (name, column) in fields { item.fields[name] = value(row[column], name) }
        for (name, column) in notes { item.notes[name] = value(row[column], name) }
        for (name, column) in measures { item.measures[name] = JSONItemPlan.measure(row[column]) }
        found.add(item)
    }

    private func key(_ row: borrowing JSONRow) throws(ReadError) -> String {
        var keys: [String] = []
        for column in key {
            let place = "item number \(row.index + 1)"
            switch row.kind(column) {
            case .array, .object:
                throw ReadError(
                    .shape, "\(place) has no single value at '\(paths[column])'; name one inside it in 'key'")
            default: break
            }
            guard let part = row.string(column), !part.isEmpty else {
                throw ReadError(
                    .shape, "\(place) has no '\(paths[column])', which is its key; check 'key' and 'items'")
            }
            keys.append(part)
        }
        return KeptText.bounded(CompositeKey.joined(keys))
    }

    private func title(_ row: borrowing JSONRow) -> String? {
        for column in title {
            guard let text = row.string(column), !text.isEmpty else { continue }
            return html.contains("title") ? HTMLText.plain(text, limit: 1000) : KeptText.bounded(text)
        }
        return nil
    }

    private func state(_ row: borrowing JSONRow) -> String? {
        var states: [String] = []
        for column in state { if let part = row.string(column), !part.isEmpty { states.append(part) } }
        if states.isEmpty { return nil }
        let raw = KeptText.bounded(states.joined(separator: "/"))
        return self.states.first { $0.glob.matches(raw) }?.name ?? raw
    }

    private func value(_ cell: JSONCell, _ name: String) -> Value? {
        if case .raw(let text) = cell, text.hasPrefix("[") { return .list(cell.elements.map(KeptText.bounded)) }
        return cell.text.map { .text(html.contains(name) ? HTMLText.plain($0) : KeptText.bounded($0)) }
    }

    /// A number, also one that is written as a text.
    private static func measure(_ cell: JSONCell) -> Value? {
        switch cell {
        case .number(let text), .string(let text): Double(text).flatMap { $0.isFinite ? .text(text) : nil }
        default: nil
        }
    }
}
