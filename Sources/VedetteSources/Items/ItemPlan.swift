// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// One row of a document, whose values are asked for by column.
protocol ItemRow: ~Copyable {
    /// The row's place in the page, from 1.
    var number: Int { get }
    /// The text of a column, of an array or object in one form for all orders of members; nil when it is absent or empty.
    func text(_ column: Int) throws(ReadError) -> String?
    /// A column as a field, of which several values make a list.
    ///
    /// - Parameter isHTML: the text is HTML and is read as plain text.
    func value(_ column: Int, isHTML: Bool) throws(ReadError) -> Value?
    /// True when a column holds an array or object.
    func isNested(_ column: Int) -> Bool
}

/// The columns that make an item: its key, title, state, link, time, fields, notes and measures.
struct ItemPlan: Sendable {
    private typealias Named = [(name: String, text: ItemText, isHTML: Bool)]

    /// What takes the place of an option that is not written.
    struct Defaults {
        var keys: [String]
        var titles: [String]
        /// The expression of an item that is a single value: its key and title, where it has no other.
        var single: String?
        var link: String?
        /// The first key that has a value keys an item; otherwise all of them together do.
        var keysAreAlternatives = true
        /// Names that the kind gives to fields of its own.
        var taken: Set<String> = []
        /// Further options that determine how every field is read.
        var reading: [String] = []
    }

    /// The names of fields, notes and measures, in the order in which they are written.
    let names: [String]
    /// The names that are never compared.
    let noteNames: Set<String>
    /// The names of which only bounds are compared.
    let measureNames: Set<String>
    /// The states; nil when only the server knows.
    let stateNames: StateNames?
    let fingerprints: [String: UInt64]
    let key: ItemKey
    private let title: [ItemText]
    private let state: [Int]
    private let link: ItemText?
    private let time: Int?
    private let titleIsHTML: Bool
    private let fields: Named
    private let notes: Named
    private let measures: Named
    private let states: [(glob: Glob, name: String)]
    /// The decimal sign of fields and measures; nil where it is unknown.
    private let decimal: Character?
    private let filter: TextFilter
    /// What the options name that nearly every item has.
    private let written: [NamedValue]

    /// An order is taken from lists and from the lines of a text alone.
    static let sortDoubt = OptionProblem(
        "sort",
        detail: "'sort' orders nothing here: the order of the items means nothing in any case, "
            + "and no field of theirs is a list; remove it")
    /// Options that are hardly meant.
    var doubts: [OptionProblem] { filter.sorts && fields.isEmpty ? [ItemPlan.sortDoubt] : [] }

    private static let reserved: Set<String> = ["key", "title", "state", "url", "link", "time"]

    init(_ options: Options, _ columns: inout some ItemColumns, _ defaults: Defaults) throws(OptionProblem) {
        func texts(_ option: String, or standard: [String]) -> [String] {
            options.texts(option).isEmpty ? standard : options.texts(option)
        }
        key = try ItemKey(
            texts("key", or: defaults.keys),
            areAlternatives: options.texts("key").isEmpty && defaults.keysAreAlternatives, single: defaults.single,
            &columns)
        let titles = texts("title", or: defaults.titles)
        var title: [ItemText] = []
        for text in titles { title.append(try ItemText(text, ["title", text], &columns)) }
        self.title = title
        state = try columns.add(options.texts("state"), "state")
        link = try (options.text("link") ?? defaults.link).map { text throws(OptionProblem) in
            try ItemText(text, ["link"], &columns)
        }
        time = try columns.add(options, "time")
        var taken = defaults.taken
        fields = try ItemPlan.named("fields", options, &columns, &taken)
        notes = try ItemPlan.named("notes", options, &columns, &taken)
        measures = try ItemPlan.named("measures", options, &columns, &taken)
        (noteNames, measureNames) = (Set(notes.map(\.name)), Set(measures.map(\.name)))
        stateNames = state.isEmpty ? StateNames() : nil
        names = ["fields", "notes", "measures"].flatMap { options.map($0).map(\.name) }
        states = options.map("states").map { (Glob($0.name), $0.value) }
        written =
            ["state", "title"].map { NamedValue(option: $0, expressions: options.texts($0)) }
            .filter { !$0.expressions.isEmpty }
            + options.map("measures").map { NamedValue(option: "measures", name: $0.name, expressions: [$0.value]) }
        filter = options.filter
        let decimal = try ItemOptions.decimal(options)
        self.decimal = decimal
        let html = options.texts("html")
        titleIsHTML = html.contains("title")
        let known = Set(fields.map(\.name) + notes.map(\.name) + ["title"])
        if let unknown = html.first(where: { !known.contains($0) }) {
            throw OptionProblem(
                "html", unknown, detail: "'\(unknown)' is neither 'title' nor a name of 'fields' or 'notes'")
        }
        func digest(_ name: String, _ texts: [String]) -> UInt64 {
            StableHash.of(texts + (html.contains(name) ? ["html"] : []) + defaults.reading)
        }
        let stateNames = options.map("states").flatMap { [$0.name, $0.value] }
        var fingerprints = [
            SnapshotHead.everyField: 1,
            "title": digest("title", titles),
            "state": StableHash.of(options.texts("state") + stateNames + defaults.reading),
        ]
        for (name, text) in options.map("fields") {
            fingerprints[name] = digest(name, [text] + (decimal.map { ["decimal \($0)"] } ?? []))
        }
        self.fingerprints = fingerprints
    }

    private static func named(
        _ option: String, _ options: Options, _ columns: inout some ItemColumns, _ taken: inout Set<String>
    ) throws(OptionProblem) -> Named {
        let html = options.texts("html")
        var named: Named = []
        for (name, text) in options.map(option) {
            guard !reserved.contains(name) else {
                throw OptionProblem(
                    option, name, detail: "'\(name)' is an option of its own; write it beside '\(option)'")
            }
            guard taken.insert(name).inserted else {
                throw OptionProblem(option, name, detail: "'\(name)' is a field, note or measure already; rename one")
            }
            named.append((name, try ItemText(text, [option, name], &columns), html.contains(name)))
        }
        // Sorted by name, as an item holds them.
        return named.sorted { $0.name < $1.name }
    }
}

extension ItemPlan {
    /// Makes the item of a row and adds it to the list.
    ///
    /// - Parameters:
    ///   - fixed: the key of an item that is the whole document.
    ///   - isWhole: the row is the whole document. Without a key its key is empty, but only when it has a value that an option
    ///     names: else it may be an error in the place of a list.
    func read(
        _ row: borrowing some ItemRow & ~Copyable, key fixed: String? = nil, isWhole: Bool = false,
        into list: inout ItemList
    ) throws(ReadError) {
        if list.items.isEmpty { list.written = written }
        let hasOwnKey = if isWhole { try self.key.hasValue(row) } else { true }
        let key =
            if let fixed { fixed } else if hasOwnKey { try filter.key(try self.key.text(row), &list.filtering) } else {
                ""
            }
        list.add(try item(of: row, key: key, hasOwnKey: hasOwnKey, &list))
    }

    private func item(
        of row: borrowing some ItemRow & ~Copyable, key: String, hasOwnKey: Bool, _ list: inout ItemList
    ) throws(ReadError) -> Item {
        // Built in one initializer call: an item that grows field by field is copied when it is handed on.
        var signs: [String: Character] = [:]
        var item = Item(
            key: key, title: try filteredTitle(row, &list), state: try state(row, &list),
            url: try address(row, from: list.url), time: try time(row, &list),
            fields: numbers(
                in: try filter.fields(try values(fields, row), areCompared: true, &list.filtering), &list),
            notes: try filter.fields(try values(notes, row), areCompared: false, &list.filtering),
            measures: try measures(row, &signs, &list))
        if !signs.isEmpty { item.decimals = signs }
        if !hasOwnKey, !item.hasValues {
            // Throws, since there is none.
            _ = try self.key.text(row)
        }
        return item
    }

    private func filteredTitle(
        _ row: borrowing some ItemRow & ~Copyable, _ list: inout ItemList
    ) throws(ReadError) -> String? {
        guard let title = try title(row) else { return nil }
        return try filter.text(title, of: "title", isUsual: true, &list.filtering)
    }

    private func title(_ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> String? {
        for source in title {
            guard let text = try source.text(row) else { continue }
            return titleIsHTML
                ? HTMLText.plain(text, limit: TextLimit.title, keepsUnknownTags: true) : TextLimit.bounded(text)
        }
        return try key.singleValue(row).map(TextLimit.bounded)
    }

    private func state(
        _ row: borrowing some ItemRow & ~Copyable, _ list: inout ItemList
    ) throws(ReadError) -> String? {
        var joined: String?
        for column in state {
            guard let part = try row.text(column) else { continue }
            joined = joined.map { "\($0)/\(part)" } ?? part
        }
        guard let joined else { return nil }
        let raw = try filter.text(TextLimit.bounded(joined), of: "state", isUsual: false, &list.filtering)
        return states.first { $0.glob.matches(raw) }?.name ?? raw
    }

    private func address(_ row: borrowing some ItemRow & ~Copyable, from page: WebURL?) throws(ReadError) -> String? {
        guard let link, let text = try link.address(row) else { return nil }
        return page?.resolving(text, copying: WebURL.longestBase)?.text ?? text
    }

    private func time(
        _ row: borrowing some ItemRow & ~Copyable, _ list: inout ItemList
    ) throws(ReadError) -> Timestamp? {
        guard let time, let text = try row.text(time) else { return nil }
        let read = Timestamp(anyForm: text)
        if read == nil, list.unreadTime == nil { list.unreadTime = String(text.prefix(60)) }
        return read
    }

    private func values(_ named: Named, _ row: borrowing some ItemRow & ~Copyable) throws(ReadError) -> Fields {
        var fields = Fields()
        if !named.isEmpty { fields.reserveCapacity(named.count) }
        for (name, text, isHTML) in named { fields[name] = try text.value(row, isHTML: isHTML) }
        return fields
    }

    /// - Parameter signs: by which sign each was written, where that is known or ambiguous.
    private func measures(
        _ row: borrowing some ItemRow & ~Copyable, _ signs: inout [String: Character], _ list: inout ItemList
    ) throws(ReadError) -> Fields {
        var fields = Fields()
        for (name, source, _) in measures {
            guard let written = try source.text(row) else { continue }
            let text = try filter.text(written, of: name, isUsual: false, &list.filtering)
            guard let number = WrittenNumber(text, decimal: decimal) else { continue }
            if number.isAmbiguous { list.note(ambiguous: text, of: name, number) }
            if decimal == nil { signs[name] = number.sign }
            fields[name] = .text(number.plain)
        }
        return fields
    }

    /// Writes each field that is a number as programs write it, where the decimal sign is known.
    private func numbers(in fields: Fields, _ list: inout ItemList) -> Fields {
        guard let decimal else {
            for field in fields {
                guard case .text(let text) = field.value, ItemPlan.mayBeAmbiguous(text), list.ambiguousNumber == nil,
                    let number = WrittenNumber(text), number.isAmbiguous
                else { continue }
                list.note(ambiguous: text, of: field.name, number)
            }
            return fields
        }
        func plain(_ text: String) -> String { WrittenNumber(text, decimal: decimal)?.field ?? text }
        var numbers = fields
        for field in fields {
            switch field.value {
            case .text(let text): numbers[field.name] = .text(plain(text))
            case .list(let texts): numbers[field.name] = .list(texts.map(plain))
            }
        }
        return numbers
    }

    /// Whether a text is a short one with a character that an ambiguous price has and most texts have not.
    private static func mayBeAmbiguous(_ text: String) -> Bool {
        text.utf8.count <= 40 && text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    }
}
