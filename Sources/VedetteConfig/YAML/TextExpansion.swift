// SPDX-License-Identifier: Apache-2.0

import Yams

/// Replaces `{{host}}` by a value, in one pass: a value is not read again, and other names in double braces stay.
struct TextExpansion {
    private let values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    func expand(_ text: String) -> String {
        guard text.contains("{{") else { return text }
        var expanded = ""
        TextExpansion.split(text) { part, name in
            expanded += name.flatMap { values[String($0)] }.map { $0[...] } ?? part
        }
        return expanded
    }

    /// Replaces in each scalar of a node; keys stay.
    /// - Parameter size: grows with the nodes and the new texts.
    func expand(_ node: Node, _ size: inout Int) -> Node {
        size += 1
        switch node {
        case .scalar(var scalar):
            let text = expand(scalar.string)
            guard text != scalar.string else { return node }
            // A node counts as 32 bytes.
            size += text.utf8.count / 32
            scalar.string = text
            return .scalar(scalar)
        case .mapping(let mapping):
            let pairs = mapping.map { ($0.key, expand($0.value, &size)) }
            return .mapping(Node.Mapping(pairs, mapping.tag, mapping.style, mapping.mark))
        case .sequence(let sequence):
            let nodes = sequence.map { expand($0, &size) }
            return .sequence(Node.Sequence(nodes, sequence.tag, sequence.style, sequence.mark))
        case .alias: return node
        }
    }

    /// Whether a text holds the name in double braces.
    static func has(_ name: String, in text: String) -> Bool { names(in: text).contains(name) }

    /// Returns the names in double braces.
    static func names(in text: String) -> [String] {
        var names: [String] = []
        split(text) { _, name in if let name { names.append(String(name)) } }
        return names
    }

    /// Whether it can stand in double braces.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }

    /// Calls back with each part of a text: `{{ name }}` with its name, and what is between.
    private static func split(_ text: String, _ take: (_ part: Substring, _ name: Substring?) -> Void) {
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            take(rest[..<open.lowerBound], nil)
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else {
                return take(rest[open.lowerBound...], nil)
            }
            let name = rest[open.upperBound..<close.lowerBound].trimmingPrefix { $0 == " " }
            let word = name.prefix { $0 != " " }
            let isWhole = isName(String(word)) && name.dropFirst(word.count).allSatisfy { $0 == " " }
            guard isWhole else {
                // `{{{x}}`: the braces of the name may begin later.
                let next = rest.index(after: open.lowerBound)
                take(rest[open.lowerBound..<next], nil)
                rest = rest[next...]
                continue
            }
            take(rest[open.lowerBound..<close.upperBound], word)
            rest = rest[close.upperBound...]
        }
        take(rest, nil)
    }
}

extension YAMLNode {
    /// Whether the map has the key, or merges others that may have it.
    func mayHave(_ key: String) -> Bool {
        node.mapping?.contains { pair in pair.key.scalar.map { $0.string == key || $0.string == "<<" } ?? false }
            ?? false
    }

    /// Visits each scalar below, keys too.
    func forEachScalar(_ visit: (YAMLNode) -> Void) {
        if node.scalar != nil { visit(self) }
        for child in children { child.forEachScalar(visit) }
    }
}
