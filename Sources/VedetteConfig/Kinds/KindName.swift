// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the `kind` of a source or sink, on which the other keys depend.
enum KindName {
    static func read(_ node: YAMLNode, _ what: String, among known: [String], _ findings: Findings) -> String? {
        // All pairs are read only where `<<:` may bring the key: that takes as long as the rest of a short map.
        guard let kind = node.child("kind") ?? merged(node, what, findings), !kind.isAbsent else {
            if node.isMap {
                findings.error(node.place, "\(what) lacks 'kind': one of \(known.sorted().joined(separator: ", "))")
            }
            return nil
        }
        guard let name = ScalarReader(findings: findings).text(kind, "'kind'") else { return nil }
        if !known.contains(name) { findings.error(kind.place, MapReader.unknown("kind", name, among: known)) }
        return name
    }

    private static func merged(_ node: YAMLNode, _ what: String, _ findings: Findings) -> YAMLNode? {
        node.entries(what, findings)?.first { $0.name == "kind" }?.value
    }
}
