// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import Yams

/// The file that nodes belong to.
final class YAMLSource {
    let file: ConfigurationFile
    let budget: AliasBudget
    /// The values of `each` that the nodes were made with; nil for nodes as they are written.
    let expansion: YAMLExpansion?
    /// What nodes were written in that `each` expanded, which has the lines for all of them.
    private let written: YAMLSource?
    private lazy var ownLines = file.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        .map { Array($0) }

    /// The lines of the file, to find the place of a character inside a scalar.
    var lines: [[Unicode.Scalar]] { written?.lines ?? ownLines }

    init(file: ConfigurationFile, budget: AliasBudget) {
        (self.file, self.budget, expansion, written) = (file, budget, nil, nil)
    }

    init(_ written: YAMLSource, expanded: YAMLExpansion) {
        (file, budget, expansion, self.written) = (written.file, written.budget, expanded, written)
    }
}

/// The values of `each` that a source was made with.
struct YAMLExpansion: Sendable, Hashable {
    /// `host 'a.example'`
    var values: String
    /// The name as it is written, and with the values.
    var from: String
    var to: String
}

/// A node of a file.
struct YAMLNode {
    let node: Node
    let source: YAMLSource

    var place: Place {
        guard let mark = node.mark else { return Place(file: source.file.path, expansion: source.expansion) }
        return Place(
            file: source.file.path, line: mark.line, column: mark.column, expansion: source.expansion)
    }

    /// Whether it is the value of a `key:` without a value.
    var isAbsent: Bool {
        guard let scalar = node.scalar else { return false }
        return scalar.string.isEmpty && scalar.style == .plain
    }

    /// The text of a scalar; nil for a map, a list and an absent value.
    var text: String? { isAbsent ? nil : node.scalar?.string }

    /// Whether it is a text without quotes.
    var isPlain: Bool { node.scalar?.style == .plain }
    var isMap: Bool { node.mapping != nil }
    var isList: Bool { node.sequence != nil }

    /// The type in words, for diagnostics.
    var noun: String {
        if isAbsent { return "nothing" }
        switch node {
        case .mapping: return "a map"
        case .sequence: return "a list"
        default: return "a text"
        }
    }

    /// A hint for the most common cause of a map or list in place of a text: its first character is special in YAML.
    var quotingHint: String {
        guard isMap || isList, let mark = node.mark, mark.line <= source.lines.count,
            source.lines[mark.line - 1].dropFirst(mark.column - 1).first.map({ "{[".unicodeScalars.contains($0) })
                == true
        else { return "" }
        return "; quote a text that begins with '\(isMap ? "{" : "[")'"
    }

    /// A tag like `!name`, which has no meaning here; nil for none.
    var foreignTag: String? {
        guard
            let name = node.scalar?.tag.description ?? node.mapping?.tag.description ?? node.sequence?.tag.description,
            name.hasPrefix("!"), name != "!"
        else { return nil }
        return name
    }

    func with(_ other: Node) -> YAMLNode { YAMLNode(node: other, source: source) }

    var isEmpty: Bool { node.mapping?.isEmpty ?? node.sequence?.isEmpty ?? isAbsent }

    /// Returns the value of a key without any diagnostics.
    func child(_ name: String) -> YAMLNode? {
        node.mapping?.first { $0.key.scalar?.string == name }.map { with($0.value) }
    }

    func child(_ index: Int) -> YAMLNode? {
        guard let sequence = node.sequence, sequence.indices.contains(index) else { return nil }
        return with(sequence[index])
    }

    /// The keys of a map.
    var keys: [YAMLNode] { node.mapping?.map { with($0.key) } ?? [] }

    /// Keys, values and elements, one level down.
    var children: [YAMLNode] {
        if let sequence = node.sequence { return sequence.map(with) }
        return node.mapping?.flatMap { [with($0.key), with($0.value)] } ?? []
    }
}

/// One pair of a map.
struct YAMLEntry {
    var name: String
    var key: YAMLNode
    var value: YAMLNode
}

extension YAMLNode {
    /// Returns the elements of a list; reports an error when it is none.
    func elements(_ what: String, _ findings: Findings) -> [YAMLNode]? {
        guard let sequence = node.sequence else {
            findings.error(place, "\(what) must be a list, not \(noun)")
            return nil
        }
        guard source.budget.spend(sequence.count + 1, at: place, findings) else { return nil }
        return sequence.map { with($0) }
    }

    /// Returns a map's own pairs, then the pairs of `<<:`; reports an error when the node is no map.
    /// - Parameter example: how such a map is written.
    func entries(_ what: String, _ findings: Findings, as example: @autoclosure () -> String? = nil) -> [YAMLEntry]? {
        guard let mapping = node.mapping else {
            findings.error(place, "\(what) must be a map\(example().map { " as \($0)" } ?? ""), not \(noun)")
            return nil
        }
        if let tag = foreignTag { findings.error(place, "the tag '\(tag)' has no meaning here; remove it") }
        guard source.budget.spend(mapping.count + 1, at: place, findings) else { return nil }
        var entries: [YAMLEntry] = []
        entries.reserveCapacity(mapping.count)
        var merged: [YAMLEntry] = []
        for (key, value) in mapping {
            let key = with(key)
            guard let name = key.text, !name.isEmpty else {
                let found = key.isAbsent ? "nothing" : key.text == "" ? "an empty one" : key.noun
                findings.error(key.place, "a key must be a text, not \(found)")
                continue
            }
            if name == "<<", key.node.scalar?.style == .plain {
                merged += with(value).merged(findings)
            } else {
                entries.append(YAMLEntry(name: name, key: key, value: with(value)))
            }
        }
        guard !merged.isEmpty else { return entries }
        var names = Set(entries.map(\.name))
        return entries + merged.filter { names.insert($0.name).inserted }
    }

    /// Returns the pairs of `<<: *name` or `<<: [*a, *b]`; of equal keys the first counts (yaml.org/type/merge).
    private func merged(_ findings: Findings) -> [YAMLEntry] {
        let maps = isList ? elements("'<<'", findings) ?? [] : [self]
        return maps.flatMap { map -> [YAMLEntry] in
            guard !map.hasMerge else {
                findings.error(map.place, "a merged map cannot merge another one; name both in a list: '<<: [*a, *b]'")
                return []
            }
            return map.entries("what '<<' merges", findings) ?? []
        }
    }

    private var hasMerge: Bool { node.mapping?.contains { $0.key.scalar?.string == "<<" } ?? false }
}

extension YAMLNode {
    /// Adds the node's texts and structure to a digest.
    func add(to digest: inout StableHash) {
        if let text = node.scalar?.string { digest.add(text) }
        digest.add(isMap ? "{" : isList ? "[" : "")
        for child in children { child.add(to: &digest) }
        digest.add(isMap ? "}" : isList ? "]" : "")
    }
}
