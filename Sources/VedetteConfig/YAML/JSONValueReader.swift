// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import Yams

/// Reads a YAML value as JSON. Only an unquoted scalar can be a number, `true`, `false` or `null` (YAML 1.2 §10.2).
struct JSONValueReader {
    let values: ValueReader

    /// Reads a map or list; a single value is a text.
    func value(_ node: YAMLNode, _ what: String) -> JSON? {
        node.isMap || node.isList ? inner(node, what) : values.text(node, what).map(JSON.string)
    }

    /// Returns an unquoted number, `true`, `false` or `null`; nil for a text.
    func word(_ node: YAMLNode) -> JSON? {
        if node.isAbsent || (node.isPlain && node.text == "~") { return .null }
        return node.isPlain && node.foreignTag == nil ? node.text.flatMap { try? JSON(parsing: $0.utf8) } : nil
    }

    private func inner(_ node: YAMLNode, _ what: String) -> JSON? {
        if node.isMap { return object(node, what) }
        if node.isList { return array(node, what) }
        return word(node) ?? values.text(node, what).map(JSON.string)
    }

    private func object(_ node: YAMLNode, _ what: String) -> JSON? {
        guard let entries = node.entries(what, values.findings) else { return nil }
        let members = entries.compactMap { entry in
            inner(entry.value, "'\(entry.name)' of \(what)").map { JSON.Member(name: entry.name, value: $0) }
        }
        return members.count == entries.count ? .object(members) : nil
    }

    private func array(_ node: YAMLNode, _ what: String) -> JSON? {
        guard let elements = node.elements(what, values.findings) else { return nil }
        let read = elements.compactMap { inner($0, what) }
        return read.count == elements.count ? .array(read) : nil
    }
}
