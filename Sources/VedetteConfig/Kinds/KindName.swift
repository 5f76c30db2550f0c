// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the `kind` of a source or sink, on which the other keys depend.
enum KindName {
    static func read(_ node: YAMLNode, _ what: String, among known: [String], _ values: ValueReader) -> String? {
        // All pairs are read only where `<<:` may bring the key: that takes as long as the rest of a short map.
        guard let kind = node.child("kind") ?? merged(node, what, values.findings), !kind.isAbsent else {
            if node.isMap {
                values.findings.error(
                    node.place, "\(what) lacks 'kind': one of \(known.sorted().joined(separator: ", "))")
            }
            return nil
        }
        guard let name = values.text(kind, "'kind'") else { return nil }
        return values.findings.isKnown(name, "kind", among: known, at: kind.place) ? name : nil
    }

    private static func merged(_ node: YAMLNode, _ what: String, _ findings: Findings) -> YAMLNode? {
        node.entries(what, findings)?.first { $0.name == "kind" }?.value
    }
}
