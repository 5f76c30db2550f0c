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

    /// A page may hold a million rows and fail at the second.
    mutating func expect(_ count: Int) {
        let count = min(count, 1 << 16)
        items.reserveCapacity(count)
        keys.reserveCapacity(count)
    }

    /// Of items with one key the first counts.
    mutating func add(_ item: consuming Item) {
        guard keys.insert(item.key).inserted else {
            repeated = ((repeated?.count ?? 0) + 1, repeated?.first ?? item.key)
            return
        }
        items.append(item)
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
    private typealias Named = [(name: String, column: Int, isHTML: Bool)]

    private var columns = JSONColumns()
    private let key: Range<Int>
    private let title: Range<Int>
    private let state: Range<Int>
    private let link: Int?
    private let time: Int?
    private let titleIsHTML: Bool
    /// By name, as an item holds them.
    private let fields: Named
    private let notes: Named
    private let measures: Named
    private let states: [(glob: Glob, name: String)]
    /// Of fields, notes and measures, in the order in which they are written.
    let names: [String]
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
        names = ["fields", "notes", "measures"].flatMap { options.map($0).map(\.name) }
        states = options.map("states").map { (Glob($0.name), $0.value) }
        titleIsHTML = options.texts("html").contains("title")
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
        let html = options.texts("html")
        var result: Named = []
        for (name, text) in options.map(option) {
            guard !reserved.contains(name) else {
                throw OptionProblem(
                    option, name, detail: "'\(name)' is an option of its own; write it beside '\(option)'")
            }
            guard taken.insert(name).inserted else {
                throw OptionProblem(option, name, detail: "'\(name)' is a field, note or measure already; rename one")
            }
            result.append((name, try columns.add(text, [option, name]), html.contains(name)))
        }
        return result.sorted { $0.name < $1.name }
    }

    var paths: [JSONPath] { columns.paths }
}

extension JSONItemPlan {
    func read(_ row: borrowing JSONRow, _ found: inout JSONItems) throws(ReadError) {
        if row.index == 0 { found.expect(row.rows) }
        // Made in one piece: an item that grows is copied when it is handed on.
        found.add(
            Item(
                key: try key(row), title: title(row), state: state(row), url: address(row, from: found.url),
                time: time(row, &found), fields: values(fields, row), notes: values(notes, row),
                measures: measures(row)))
    }

    private func address(_ row: borrowing JSONRow, from page: WebURL?) -> String? {
        guard let link, let text = row.string(link), !text.isEmpty else { return nil }
        return page?.resolving(text)?.text ?? text
    }

    private func time(_ row: borrowing JSONRow, _ found: inout JSONItems) -> Timestamp? {
        guard let time, let text = row.string(time), !text.isEmpty else { return nil }
        let read = Timestamp(anyForm: text)
        if read == nil, found.unreadTime == nil { found.unreadTime = String(text.prefix(60)) }
        return read
    }

    private func measures(_ row: borrowing JSONRow) -> Fields {
        var fields = Fields()
        for (name, column, _) in measures { fields[name] = JSONItemPlan.measure(row[column]) }
        return fields
    }

    private func key(_ row: borrowing JSONRow) throws(ReadError) -> String {
        if key.count == 1 { return TextLimit.bounded(try part(key.lowerBound, of: row)) }
        var parts: [String] = []
        for column in key { parts.append(try part(column, of: row)) }
        return TextLimit.bounded(CompositeKey.joined(parts))
    }

    private func part(_ column: Int, of row: borrowing JSONRow) throws(ReadError) -> String {
        switch row.kind(column) {
        case .array, .object:
            throw ReadError(
                .shape,
                "item number \(row.index + 1) has no single value at '\(paths[column])'; name one inside it in 'key'")
        default: break
        }
        guard let part = row.string(column), !part.isEmpty else {
            throw ReadError(
                .shape,
                "item number \(row.index + 1) has no '\(paths[column])', which is its key; check 'key' and 'items'")
        }
        return part
    }

    private func title(_ row: borrowing JSONRow) -> String? {
        for column in title {
            guard let text = row.string(column), !text.isEmpty else { continue }
            return titleIsHTML ? HTMLText.plain(text, limit: 1000) : TextLimit.bounded(text)
        }
        return nil
    }

    private func state(_ row: borrowing JSONRow) -> String? {
        var joined: String?
        for column in state {
            guard let part = row.string(column), !part.isEmpty else { continue }
            joined = joined.map { "\($0)/\(part)" } ?? part
        }
        guard let raw = joined.map(TextLimit.bounded) else { return nil }
        return states.first { $0.glob.matches(raw) }?.name ?? raw
    }

    private func values(_ named: Named, _ row: borrowing JSONRow) -> Fields {
        var fields = Fields()
        if !named.isEmpty { fields.reserveCapacity(named.count) }
        for (name, column, isHTML) in named {
            if row.kind(column) == .array {
                fields[name] = .list(row[column].elements.map(TextLimit.bounded))
            } else if let text = row.string(column) {
                fields[name] = .text(isHTML ? HTMLText.plain(text) : TextLimit.bounded(text))
            }
        }
        return fields
    }

    /// A number, also one that is written as a text.
    private static func measure(_ cell: JSONCell) -> Value? {
        switch cell {
        case .number(let text), .string(let text): Double(text).flatMap { $0.isFinite ? .text(text) : nil }
        default: nil
        }
    }
}
