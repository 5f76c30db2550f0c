// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Warns of sources, sinks and windows that no rule uses. Where there are no rules at all, people read the events with `tail`,
/// and nothing is unused.
struct UsageValidator {
    let rules: [ReadRule]
    let findings: Findings

    func validate(sources: [YAMLEntry], sinks: [YAMLEntry], windows: [YAMLEntry]) {
        // What an error hides, such as a rule that names a source wrongly, may be what uses it.
        guard !rules.isEmpty, !findings.hasErrors else { return }
        let matched = rules.map(\.rule.when.sources)
        if !matched.contains(nil) {
            var used = matched.reduce(into: Set<String>()) { $0.formUnion($1 ?? []) }
            for gates in rules.map(\.rule.gates) { used.formUnion(gates.depends + gates.conditions.map(\.source)) }
            warn(sources, "source", except: used, "no rule is about it; its events reach only 'tail'")
        }
        let fallbacks = sinks.flatMap { texts(of: $0.value.child("else")) }
        let notified = rules.flatMap { read in
            (read.rule.notify + read.rule.gates.escalate.flatMap(\.notify)).map(\.sink)
        }
        warn(sinks, "sink", except: Set(fallbacks + notified), "no rule notifies it, and no sink has it under 'else'")
        // By the texts of the rules: wherever a rule names it, or a source has it under 'during'.
        var named = rules.reduce(into: Set<String>()) { $0.formUnion(scalars(of: $1.node)) }
        for source in sources { named.formUnion(texts(of: source.value.child("during"))) }
        warn(windows, "window", except: named, "no rule and no source names it")
    }

    private func warn(_ entries: [YAMLEntry], _ noun: String, except used: Set<String>, _ reason: String) {
        for entry in entries where !used.contains(entry.name) {
            findings.warn(
                entry.key.place, "the \(noun) '\(entry.name)' is unused: \(reason); remove it, or use it in a rule")
        }
    }

    private func texts(of node: YAMLNode?) -> [String] {
        guard let node else { return [] }
        return node.isList ? node.children.compactMap(\.text) : node.text.map { [$0] } ?? []
    }

    private func scalars(of node: YAMLNode) -> [String] {
        node.text.map { [$0] } ?? node.children.flatMap(scalars)
    }
}
