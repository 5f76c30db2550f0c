// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Reads what a value must be: a value, a list, or `{glob | regex | contains | above | below}`.
struct MatcherReader {
    let findings: Findings

    private var scalars: ScalarReader { ScalarReader(findings: findings) }

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
        guard node.isMap else { return scalars.texts(node, what).map { [.oneOf($0)] } ?? [] }
        guard let map = MapReader(node, what, keys: ConfigurationKeys.matcher, findings) else { return [] }
        if node.isEmpty { findings.error(node.place, "\(what) takes one of \(MatcherReader.names)") }
        return ConfigurationKeys.matcher.compactMap { key in map[key.name].flatMap { matcher(key.name, $0) } }
    }

    private static let names = ConfigurationKeys.matcher.map { "'\($0.name)'" }.joined(separator: ", ")

    private func matcher(_ name: String, _ node: YAMLNode) -> ValueMatcher? {
        switch name {
        case "glob": scalars.text(node, "'glob'").map { .glob(Glob($0)) }
        case "regex": regex(node)
        case "contains": scalars.text(node, "'contains'").map { .contains($0) }
        case "above": scalars.number(node, "'above'").map { .above($0) }
        case "not": self.matcher(node, "'not'").map { .not($0) }
        default: scalars.number(node, "'below'").map { .below($0) }
        }
    }

    private func regex(_ node: YAMLNode) -> ValueMatcher? {
        guard let text = scalars.text(node, "'regex'") else { return nil }
        do throws(PatternError) {
            return .regex(try RegularExpression(text), text: text)
        } catch {
            findings.error(node.place(ofScalarAt: error.offset ?? 0), error.detail)
            return nil
        }
    }
}
