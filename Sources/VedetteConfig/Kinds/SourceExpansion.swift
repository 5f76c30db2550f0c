// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import Yams

/// Makes a source of each value of `each`, as if all of them were written out: `site-{{host}}` with
/// `each: {host: [a, b]}` becomes `site-a` and `site-b`. Nobody else knows of it.
struct SourceExpansion {
    static let key = "each"
    /// How many sources one entry makes.
    static let maximum = 10_000
    /// The longest value, in characters.
    static let longestValue = 2000

    let values: ValueReader

    private var findings: Findings { values.findings }

    /// The values by name of one source, in the order of the file.
    private typealias Row = [(name: String, value: String)]

    /// Returns the sources that an entry makes; itself when it has no `each`, and none after an error.
    func expand(_ entry: YAMLEntry) -> [YAMLEntry] {
        guard entry.value.mayHave(SourceExpansion.key) else { return [entry] }
        let pairs = entry.value.entries("source '\(entry.name)'", findings) ?? []
        guard let each = pairs.first(where: { $0.name == SourceExpansion.key }) else { return [entry] }
        guard let rows = rows(each), let names = rows.first?.map(\.name) else { return [] }
        guard names.contains(where: { TextExpansion.has($0, in: entry.name) }) else {
            let all = names.map { "{{\($0)}}" }.joined(separator: " or ")
            findings.error(
                entry.key.place,
                "'each' makes several sources of '\(entry.name)', so its name must hold \(all), as '\(entry.name)-{{\(names[0])}}'"
            )
            return []
        }
        let options = pairs.filter { $0.name != SourceExpansion.key }
        warnOfSimilar(options, names)
        var known: Set<String> = []
        var expanded: [YAMLEntry] = []
        for row in rows {
            guard let source = self.source(entry, options, row) else { return [] }
            guard known.insert(source.name).inserted else {
                findings.error(
                    each.value.place,
                    "'each' makes the source '\(source.name)' twice; remove a value, or write each of its names into '\(entry.name)'"
                )
                return []
            }
            expanded.append(source)
        }
        return expanded
    }

    private func source(_ entry: YAMLEntry, _ options: [YAMLEntry], _ row: Row) -> YAMLEntry? {
        let text = TextExpansion(Dictionary(row.map { ($0.name, $0.value) }) { first, _ in first })
        let said = row.map { "\($0.name) '\($0.value)'" }.joined(separator: ", ")
        let name = text.expand(entry.name)
        let source = YAMLSource(entry.value.source, expanded: YAMLExpansion(values: said, from: entry.name, to: name))
        var size = 0
        let pairs = options.map { option in (option.key.node, text.expand(option.value.node, &size)) }
        guard entry.value.source.budget.spend(size, at: entry.key.place, findings) else { return nil }
        let mapping = Node.Mapping(pairs, .implicit, .any, entry.value.node.mark)
        return YAMLEntry(
            name: name, key: YAMLNode(node: entry.key.node, source: source),
            value: YAMLNode(node: .mapping(mapping), source: source))
    }

    /// Warns of `{{hots}}` where `each` has `host`: other names in double braces belong to the templates of the kinds.
    private func warnOfSimilar(_ options: [YAMLEntry], _ names: [String]) {
        for option in options {
            option.value.forEachScalar { node in
                for name in TextExpansion.names(in: node.text ?? "") where !names.contains(name) {
                    guard let meant = didYouMean(name, among: names) else { continue }
                    findings.warn(node.place, "'each' has no {{\(name)}}\(meant)")
                }
            }
        }
    }
}

/// The values.
extension SourceExpansion {
    /// Reads `{host: [a, b]}`, of which every combination counts, or `[{host: a, port: 80}, …]`.
    private func rows(_ each: YAMLEntry) -> [Row]? {
        let node = each.value
        let rows = node.isList ? listed(node) : combined(node)
        guard let rows else { return nil }
        if rows.isEmpty || rows[0].isEmpty {
            findings.error(node.place, "'each' has no value; write one as {host: [a.example, b.example]} or remove it")
            return nil
        }
        guard rows.count <= SourceExpansion.maximum else {
            findings.error(
                node.place, "'each' makes \(rows.count) sources, more than \(SourceExpansion.maximum); split it")
            return nil
        }
        return rows
    }

    private func listed(_ node: YAMLNode) -> [Row]? {
        guard let maps = node.elements("'each'", findings) else { return nil }
        let rows = maps.compactMap { map -> Row? in
            guard let entries = map.entries("an element of 'each'", findings) else { return nil }
            let row = entries.compactMap { entry in value(entry.value, entry).map { (name: entry.name, value: $0) } }
            return row.count == entries.count ? row : nil
        }
        guard rows.count == maps.count, let first = rows.first else { return rows.count == maps.count ? [] : nil }
        for (map, row) in zip(maps, rows) where Set(row.map(\.name)) != Set(first.map(\.name)) {
            findings.error(
                map.place,
                "each element of 'each' has the same names as the first: "
                    + first.map(\.name).joined(separator: ", "))
            return nil
        }
        return rows
    }

    private func combined(_ node: YAMLNode) -> [Row]? {
        guard let lists = node.entries("'each'", findings) else { return nil }
        var rows: [Row] = lists.isEmpty ? [] : [[]]
        for list in lists {
            guard let nodes = values.oneOrMany(list.value, "'\(list.name)' of 'each'") else { return nil }
            let texts = nodes.compactMap { value($0, list) }
            guard !texts.isEmpty, texts.count == nodes.count else { return nil }
            let (count, isTooMany) = rows.count.multipliedReportingOverflow(by: texts.count)
            guard !isTooMany, count <= SourceExpansion.maximum else {
                findings.error(
                    node.place, "the lists of 'each' make more than \(SourceExpansion.maximum) sources; split it")
                return nil
            }
            rows = rows.flatMap { row in texts.map { row + [(name: list.name, value: $0)] } }
        }
        return rows
    }

    private func value(_ node: YAMLNode, _ entry: YAMLEntry) -> String? {
        guard TextExpansion.isName(entry.name) else {
            findings.error(
                entry.key.place, "'\(entry.name)' cannot name a value of 'each'; take letters, digits and _")
            return nil
        }
        guard let text = values.text(node, "a value of '\(entry.name)' of 'each'") else { return nil }
        guard text.count <= SourceExpansion.longestValue else {
            findings.error(
                node.place,
                "a value of 'each' has at most \(SourceExpansion.longestValue) characters, not \(text.count)")
            return nil
        }
        return text
    }
}
