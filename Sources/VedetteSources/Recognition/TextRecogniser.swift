// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Recognises plain text: the lines of a table with a header, the series of Prometheus, or a text as a whole.
struct TextRecogniser {
    private let lines: [String]

    /// The lines, of a long text the first ones.
    private static let maximumBytes = 200_000

    /// - Parameter charset: the `charset` parameter of the response's Content-Type.
    init(_ body: [UInt8], charset: String? = nil) {
        let head = Array(body.prefix(TextRecogniser.maximumBytes))
        var text = ((try? PlainText.decode(head, charset: charset)) ?? String(decoding: head, as: UTF8.self))[...]
        if text.first == "\u{FEFF}" { text.removeFirst() }
        lines = text.split(whereSeparator: \.isNewline).dropLast(body.count > TextRecogniser.maximumBytes ? 1 : 0)
            .map(String.init)
    }

    /// The likeliest first; none for what is no text.
    var proposals: [Proposal] {
        guard !lines.isEmpty, !lines.prefix(100).contains(where: { $0.contains { $0 == "\0" || $0 == "\u{FFFD}" } })
        else { return [] }
        return ([series] + [",", ";", "\t", "|"].map(table)).compactMap { $0 }
            + [Proposal("text", .text, because: "plain text")]
    }

    // MARK: Prometheus

    private var series: Proposal? {
        guard lines[0].hasPrefix("# HELP") || lines[0].hasPrefix("# TYPE") else { return nil }
        let names = lines.filter { !$0.hasPrefix("#") }.map { String($0.prefix { !"{ ".contains($0) }) }
        var seen = Set<String>()
        let states = names.filter { name in
            PageWords.of(name).last.map(["up", "status", "state", "success", "healthy"].contains) == true
                && seen.insert(name).inserted
        }
        let isOfStates = !states.isEmpty
        let name = isOfStates ? "(?:\(states.joined(separator: "|")))" : "[A-Za-z_:][A-Za-z0-9_:]*"
        let label = lines.first { line in states.contains { line.hasPrefix($0 + "{") } }.flatMap { line in
            line.firstMatch(of: /[{,]([a-z_]*(?:name|instance|target))="/).map { String($0.1) }
        }
        let labels = label.map { "\\{.*?\($0)=\"(?<title>[^\"]*)\".*\\}" } ?? "(?:\\{.*\\})?"
        let value = isOfStates ? "state" : "value"
        var proposal = Proposal("text", isOfStates ? .state : .presence, because: "measures as Prometheus reads them")
        proposal.set("match", .text("^(?<key>\(name)\(labels)) (?<\(value)>\\S+)"))
        if label == nil { proposal.set("title", .text("key")) }
        proposal.set(
            isOfStates ? value : "measures", isOfStates ? .text(value) : .map([.init(name: value, value: value)]))
        proposal.remarks.append(
            "These are \(isOfStates ? "the measures that are named as states are" : "all measures"): name yours in 'match'. A number that moves belongs in 'measures', for the bounds of rules."
        )
        return proposal
    }

    // MARK: Tables

    /// The columns of a table that become fields where no name tells which.
    private static let mostFields = 3
    /// What every item has, which no field is named.
    private static let itemNames = ["key", "title", "name", "state", "url", "time"]

    private func table(_ sign: Character) -> Proposal? {
        guard let start = lines.indices.dropLast().first(where: { lines[$0].contains(sign) }) else { return nil }
        var names: [String] = []
        let header = TextRecogniser.cells(lines[start], sign)
        for cell in header {
            let name = JSONNames.fieldName(cell.drop { !$0.isLetter }.description)
            names.append(name.isEmpty || names.contains(name) ? "c\(names.count + 1)" : String(name.prefix(30)))
        }
        let rows = lines[(start + 1)...].map { TextRecogniser.cells($0, sign) }
        let isHeader = header.allSatisfy { $0.count <= 40 && Double($0) == nil } && header.contains { !$0.isEmpty }
        guard names.count > 1, isHeader, rows.count(where: { $0.count == names.count }) * 10 >= rows.count * 9 else {
            return nil
        }
        let objects = rows.filter { $0.count == names.count }.map { row in
            JSON.object(zip(names, row).map { JSON.Member(name: $0, value: JSON(written: $1)) })
        }
        let table = JSONTable(path: [], rows: objects)
        guard table.key != nil else { return nil }
        let isWindow = table.isNewestFirst
        var proposal = Proposal(
            "text", !table.state.isEmpty ? .state : isWindow ? .arrivals : .presence,
            because: "a table of \(counted(objects.count, "line"))")
        table.describe(&proposal, isWindow: isWindow)
        // Without a title of its own the whole line would be it.
        if let key = table.key, !proposal.options.contains(where: { $0.name == "title" }) {
            proposal.set("title", .text(key.count == 1 ? key[0] : key.map { "{{\($0)}}" }.joined(separator: " ")))
        }
        if !proposal.options.contains(where: { $0.name == "fields" }) {
            let others = names.indices.filter { column in
                !TextRecogniser.uses(proposal, names[column]) && !TextRecogniser.itemNames.contains(names[column])
                    && rows.contains { $0.count == names.count && !$0[column].isEmpty }
            }
            let pairs = others.prefix(TextRecogniser.mostFields).map {
                Proposal.Pair(name: names[$0], value: names[$0])
            }
            if !pairs.isEmpty { proposal.set("fields", .map(pairs)) }
        }
        if isWindow { proposal.set("mode", .text("window"), "newest first: an item that leaves is not gone") }
        let match = TextRecogniser.match(
            names.map { TextRecogniser.uses(proposal, $0) ? $0 : nil }, sign, header: lines[start],
            isQuoted: lines[start...].contains { $0.contains("\"") })
        proposal.options.insert(.init(name: "match", value: .text(match), remark: "all lines but the header"), at: 0)
        return proposal
    }

    private static func uses(_ proposal: Proposal, _ name: String) -> Bool {
        proposal.options.contains { option in
            switch option.value {
            case .text(let text): text == name || text.contains("{{\(name)}}")
            case .list(let texts): texts.contains(name)
            case .map(let pairs): pairs.contains { $0.value == name }
            case .flag, .body: false
            }
        }
    }

    /// Returns the expression for a line whose cells have these names; nil for what no option names.
    private static func match(_ names: [String?], _ sign: Character, header: String, isQuoted: Bool) -> String {
        let end = sign == "\t" ? "\\t" : sign == "|" ? "\\|" : String(sign)
        let plain = "[^\(isQuoted ? "\"" : "")\(end)]*"
        let cell = isQuoted ? "(?:\"(?:[^\"]|\"\")*\"|\(plain))" : plain
        let first = header.prefix { $0 != sign }.map { "\\^$.|?*+()[]{}".contains($0) ? "\\\($0)" : "\($0)" }
        var (text, skipped) = ("^(?!\(first.joined())\(end))", 0)
        for (index, name) in names.enumerated() {
            guard let name else {
                skipped += 1
                continue
            }
            if index > skipped { text += end }
            if skipped > 0 { text += skipped == 1 ? cell + end : "(?:\(cell)\(end)){\(skipped)}" }
            text += isQuoted ? "\"?(?<\(name)>(?<=\")(?:[^\"]|\"\")*|\(plain))\"?" : "(?<\(name)>\(plain))"
            skipped = 0
        }
        return text
    }

    /// Returns the cells of a line (RFC 4180), without the quotation marks.
    private static func cells(_ line: String, _ sign: Character) -> [String] {
        var (cells, cell, isQuoted) = ([String](), "", false)
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == sign, !isQuoted {
                cells.append(cell)
                cell = ""
            } else {
                cell.append(character)
            }
        }
        return (cells + [cell]).map { $0.trimmed() }
    }
}
