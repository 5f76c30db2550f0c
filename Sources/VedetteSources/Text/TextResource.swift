// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Plain text: the lines that a regular expression matches as items, or the whole as one item whose text is compared.
struct TextResource: PlannedKind {
    static let entry = SourceKindEntry(
        name: "text", summary: "Plain text: lines by a regular expression, or the whole.",
        options: [
            OptionSpec(
                "match", .pattern,
                "Regular expression; each line that it matches is an item, and its named groups are what options name.",
                default: "none: the text is one item with the field `text`"),
            OptionSpec(
                "key", .oneOrMany(.text), "Group or groups that key an item; several are joined by `/`.",
                default: "the group `key`, else the line"), ItemOptions.mode, ItemOptions.encoding,
        ] + ItemOptions.item("Group", "groups", title: "the group `title`, else the line"),
        streams: .documents, make: { options throws(OptionProblem) in try TextResource(options) })

    /// Lines that are read at most.
    private static let maximumLines = 100_000

    let mode: ReadingMode
    let identity: UInt64
    private let pattern: (any Pattern)?
    private let columns: TextColumns
    let plan: ItemPlan
    private let encoding: String?
    private let filter: TextFilter
    /// Whether the text is titled by its first line.
    private let hasUsualTitle: Bool
    let doubts: [OptionProblem]

    init(_ options: Options) throws(OptionProblem) {
        pattern = options.pattern("match")
        if pattern == nil, let name = ["key", "mode"].first(where: { options[$0] != nil }) {
            throw OptionProblem(name, detail: "'\(name)' needs 'match': without it the whole text is one item")
        }
        let groups = pattern?.groupNames ?? []
        var columns = TextColumns(groups: groups)
        plan = try ItemPlan(
            options, &columns,
            .init(
                keys: [groups.contains("key") ? "key" : TextColumns.line],
                titles: [groups.contains("title") ? "title" : TextColumns.line],
                taken: pattern == nil ? ["text"] : [], reading: [pattern?.source ?? ""]))
        self.columns = columns
        (filter, hasUsualTitle) = (options.filter, options.texts("title").isEmpty)
        mode = ItemOptions.mode(options)
        encoding = try ItemOptions.encoding(options)
        let charset = encoding.map { ["encoding \($0)"] } ?? []
        identity = StableHash.of([pattern?.source ?? "", mode.rawValue] + plan.key.expressions + charset)
        // A line of a log never changes.
        let hasLineKey = mode == .list && options.texts("key").isEmpty && !groups.contains("key")
        let changing = groups.first { $0 != "title" }
        doubts =
            (pattern != nil && filter.sorts ? [ItemPlan.sortDoubt] : [])
            + (hasLineKey ? changing.map { [TextResource.doubt(group: $0)] } ?? [] : [])
    }

    /// The state and the fields of an item whose key is its whole line never change.
    private static func doubt(group: String) -> OptionProblem {
        OptionProblem(
            "match",
            detail: "'match' has no group 'key', so that a line whose '\(group)' changes is another item; "
                + "write (?<key>…) around what stays the same, or 'key: line' if each line is an item of its own")
    }

    var fieldNames: [String]? { plan.names + (pattern == nil ? ["text"] : []) }

    func request(base: String, context: PollContext) -> RequestTemplate {
        RequestTemplate(url: base, headers: [Header("Accept", "text/plain, */*;q=0.5")])
    }

    func refusal(in page: PageBody) -> String? { ErrorDocument.text(of: page, []) }

    func read(_ page: inout PageBody) throws(ReadError) -> Page {
        let text: String
        do throws(DocumentError) {
            text = try PlainText.decode(page.bytes, charset: page.headers.charset, encoding: encoding)
        } catch {
            throw ReadError(error)
        }
        if PlainText.isHTML(text) {
            throw ReadError(.wrongType, "plain text was expected, but the response is an HTML page (a login page?)")
        }
        guard let pattern else { return try whole(text, page.url) }
        let lines = TextResource.lines(of: text)
        let list = try items(of: lines, pattern, WebURL(page.url))
        var read = Page(items: list.items, warnings: list.warnings)
        read.absences = list.absences
        if !lines.isEmpty {
            read.emptyHint = "'match' fits no line of the text, which has \(counted(lines.count, "line")); correct it"
        }
        return read
    }

    private func whole(_ text: String, _ url: String) throws(ReadError) -> Page {
        var list = ItemList(url: WebURL(url))
        let written = HTMLText.withoutControls(text)
        let text = try list.filtered(whole: written, by: filter)
        let title = TextResource.title(of: written)
        try plan.read(TextRow(number: 1, line: title, groups: [:], names: columns.names), key: "text", into: &list)
        var item = list.items[0]
        if hasUsualTitle, !filter.isEmpty { item.title = TextResource.title(of: text) }
        item.fields["text"] = .text(TextLimit.bounded(text))
        return Page(items: [item], warnings: list.isEmptied ? list.warnings : [])
    }

    /// The first line of a text, shortened.
    private static func title(of text: String) -> String {
        String((lines(of: String(text.prefix(1000))).first ?? "").prefix(200))
    }

    /// Lines without their ends, LF or CR LF; empty ones are left out. Of more than `maximumLines` the last has all further ones.
    private static func lines(of text: String) -> [String] {
        text.utf8.split(maxSplits: maximumLines + 1, whereSeparator: { $0 == 10 || $0 == 13 }).map {
            HTMLText.withoutControls(String(Substring($0)))
        }
    }

    private func items(of lines: [String], _ pattern: any Pattern, _ url: WebURL?) throws(ReadError) -> ItemList {
        guard lines.count <= TextResource.maximumLines else {
            throw ReadError(.tooLarge, "the text has more than \(TextResource.maximumLines) lines")
        }
        let found: [[String: String]?]
        do throws(PatternError) {
            found = try pattern.groups(inEach: lines)
        } catch {
            throw ReadError(.shape, "failed to match the lines: \(error.detail)")
        }
        var list = ItemList(url: url)
        for (index, groups) in found.enumerated() {
            guard let groups else { continue }
            try plan.read(
                TextRow(number: index + 1, line: lines[index], groups: groups, names: columns.names), into: &list)
        }
        return list
    }
}

/// The groups of one reading, in the order of their columns.
struct TextColumns: ItemColumns {
    /// The name of the whole line.
    static let line = "line"

    private(set) var names: [String] = []
    private let groups: [String]

    init(groups: [String]) { self.groups = groups }

    mutating func add(_ text: String, _ place: [String]) throws(OptionProblem) -> Int {
        guard text == TextColumns.line || groups.contains(text) else {
            let known =
                groups.isEmpty ? "it has none; write one as (?<\(text)>…)" : "it has \(groups.joined(separator: ", "))"
            throw OptionProblem(
                at: place, "'\(text)' is no named group of 'match': \(known), and 'line' is the whole line")
        }
        names.append(text)
        return names.count - 1
    }
}

/// A line as a row.
private struct TextRow: ItemRow {
    let number: Int
    let line: String
    let groups: [String: String]
    /// The groups by column.
    let names: [String]

    func text(_ column: Int) -> String? {
        let text = names[column] == TextColumns.line ? groups[TextColumns.line] ?? line : groups[names[column]]
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    func value(_ column: Int, isHTML: Bool) -> Value? {
        text(column).map { .text(isHTML ? TextLimit.plain(html: $0) : TextLimit.bounded($0)) }
    }

    func isNested(_ column: Int) -> Bool { false }
}
