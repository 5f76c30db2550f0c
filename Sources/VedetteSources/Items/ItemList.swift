// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The items of one page, each key once, with warnings about the rest.
struct ItemList {
    let url: WebURL?
    private(set) var items: [Item] = []
    private var keys = UniqueKeys()
    private var repeated: (count: Int, first: String)?
    /// The first time that could not be read.
    var unreadTime: String?
    /// The first number that is another one elsewhere: its text, field and reading.
    private(set) var ambiguousNumber: (text: String, field: String, read: String)?

    /// What the options name that nearly every item of a list has: the state, the title and the measures.
    var written: [NamedValue] = []

    /// The least number of items of which none has what an option names by mistake: of one or two it may well be absent.
    private static let fewest = 3

    /// Whether `replace` and `ignore` leave nothing of the text of a whole document.
    private(set) var isEmptied = false

    /// What `replace` and `ignore` have done to the texts of the rows.
    var filtering = TextFilter.Progress()

    init(url: WebURL?) { self.url = url }

    /// Reserves memory, but for at most 65,536 rows: a page may hold a million and fail at the second.
    mutating func reserve(_ count: Int) {
        items.reserveCapacity(min(count, 1 << 16))
    }

    /// Adds an item unless an earlier one has its key.
    mutating func add(_ item: consuming Item) {
        guard keys.insert(item.key, after: items) else {
            repeated = ((repeated?.count ?? 0) + 1, repeated?.first ?? item.key)
            return
        }
        items.append(item)
    }

    /// Returns the text of a whole document as it is compared.
    mutating func filtered(whole text: String, by filter: TextFilter) throws(ReadError) -> String {
        let written = text
        let text = try filter.text(written, of: "text", isUsual: true, &filtering)
        isEmptied = text.trimmed().isEmpty && !written.trimmed().isEmpty
        guard filter.sorts else { return text }
        return text.split(whereSeparator: \.isNewline).sorted().joined(separator: "\n")
    }

    /// Remembers the first number that is another one elsewhere.
    mutating func note(ambiguous text: String, of field: String, _ number: WrittenNumber) {
        if ambiguousNumber == nil { ambiguousNumber = (String(text.prefix(60)), field, number.plain) }
    }

    /// See `Page.absences`.
    var absences: [String] {
        guard items.count >= ItemList.fewest else { return [] }
        // Mostly the first item has it.
        return written.filter { !items.contains(where: $0.isIn) }.map(\.absence)
    }

    var warnings: [String] {
        var warnings: [String] = []
        if let (count, first) = repeated {
            let what =
                count == 1 ? "1 item repeats the key of an earlier one and is" : "\(count) items repeat a key and are"
            warnings.append("\(what) left out, first '\(first)'; check 'key'")
        }
        if isEmptied {
            warnings.append(
                "'replace' and 'ignore' leave nothing of the text, so that no change of it is seen; narrow their 'regex'"
            )
        }
        warnings += isEmptied ? [] : filtering.warnings
        if let unreadTime { warnings.append("failed to read '\(unreadTime)' as a time; check 'time'") }
        if let (text, field, read) = ambiguousNumber {
            warnings.append(
                "'\(text)' of '\(field)' is \(read) as a number unless another value shows its decimal sign; "
                    + "'number: {decimal: …}' names it")
        }
        return warnings
    }
}

/// The state, the title or a measure of an item, as an option names it.
struct NamedValue: Sendable {
    /// `state`, `title` or `measures`.
    let option: String
    /// The name of a measure.
    var name = ""
    /// The expressions, as written.
    let expressions: [String]

    func isIn(_ item: Item) -> Bool {
        switch option {
        case "state": item.state != nil
        case "title": item.title != nil
        default: item.measures[name] != nil
        }
    }

    /// The warning that no item has it.
    var absence: String {
        let paths = expressions.map { "'\($0)'" }.joined(separator: " and ")
        let isMeasure = option == "measures"
        return "no item has \(paths) of '\(option)'\(isMeasure ? ", or a number there" : ""); correct it"
    }
}
