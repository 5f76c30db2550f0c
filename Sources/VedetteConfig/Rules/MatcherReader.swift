// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads what a value must be: a value, a list, or `{glob | regex | contains | above | below}`.
struct MatcherReader {
    let values: ValueReader

    private var findings: Findings { values.findings }

    /// Exactly one.
    func matcher(_ node: YAMLNode, _ what: String) -> ValueMatcher? {
        let all = matchers(node, what)
        if all.count > 1 { findings.error(node.place, "\(what) takes one of \(MatcherReader.names)") }
        return all.first
    }

    /// Each of them must hold: `{above: 5, below: 10}`.
    func matchers(_ node: YAMLNode, _ what: String) -> [ValueMatcher] {
        if node.isAbsent {
            findings.error(node.place, "\(what) has no value; write one, \"\" for an empty text, or remove the key")
            return []
        }
        guard node.isMap else {
            for word in node.isList ? node.children : [node] { doubt(word) }
            return values.texts(node, what).map { [.oneOf($0)] } ?? []
        }
        guard let map = MapReader(node, what, keys: ConfigurationKeys.matcher, values) else { return [] }
        if node.isEmpty { findings.error(node.place, "\(what) takes one of \(MatcherReader.names)") }
        return ConfigurationKeys.matcher.compactMap { matcher($0.name, map) }
    }

    private static let names = ConfigurationKeys.matcher.map { "'\($0.name)'" }.joined(separator: ", ")

    private func matcher(_ name: String, _ map: MapReader) -> ValueMatcher? {
        switch name {
        case "glob": map.text(name).map { .glob(Glob($0)) }
        case "regex":
            map.node(name).flatMap { node in
                values.pattern(node, "") { text throws(PatternError) in .regex(try RegularExpression(text), text: text)
                }
            }
        case "contains": map.text(name).map { .contains($0) }
        case "above": map.number(name).map { .above($0) }
        case "not": map.node(name).flatMap { matcher($0, "'not'") }.map { .not($0) }
        default: map.number(name).map { .below($0) }
        }
    }

    /// Warns of a text that other programs read as a comparison or a pattern.
    private func doubt(_ node: YAMLNode) {
        guard let text = node.text, let meant = MatcherReader.meant(by: text) else { return }
        findings.warn(node.place, "\(quoted(text)) is compared as a plain text; write \(meant) if that is meant")
    }

    /// Returns the map that a text may stand for; nil for a text that is just a value.
    private static func meant(by text: String) -> String? {
        let operators = [
            ("<=", "{not: {above: ", "}}"), (">=", "{not: {below: ", "}}"), ("!=", "{not: ", "}"),
            ("<", "{below: ", "}"),
            (">", "{above: ", "}"),
        ]
        for (sign, start, end) in operators where text.hasPrefix(sign) {
            let value = text.dropFirst(sign.count).trimmingPrefix(while: \.isWhitespace)
            let isNumber = Double(value) != nil
            return !value.isEmpty && (isNumber || sign == "!=") ? start + value + end : nil
        }
        guard text.count > 1 else { return nil }
        if text.hasPrefix("*") || text.hasSuffix("*") { return "{glob: '\(text)'}" }
        // A path may stand between slashes, too.
        let isRegex = text.hasPrefix("/") && text.hasSuffix("/") && text.contains(where: "^$*+?()[]|\\".contains)
        return isRegex ? "{regex: '\(text.dropFirst().dropLast())'}" : nil
    }

    /// Reads a map of fields and what their values must be.
    func items(_ map: MapReader, _ name: String, _ scope: NameScope? = nil) -> [(name: String, matcher: ValueMatcher)] {
        (map.node(name)?.entries("'\(name)'", findings) ?? []).flatMap { entry in
            scope?.check(field: entry.name, at: entry.key.place, findings)
            return matchers(entry.value, "'\(entry.name)'").map { (name: entry.name, matcher: $0) }
        }
    }
}
