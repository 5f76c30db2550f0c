// SPDX-License-Identifier: Apache-2.0

/// `depends`: messages wait while a source that others need is failing or down.
extension RuleEngine {
    /// Returns a source of `depends` that is failing or down. Messages about a source do not depend on that source itself.
    func unavailableSource(of rule: Rule, for source: String?) -> String? {
        rule.gates.depends.first { $0 != source && (failing.contains($0) || down.contains($0)) }
    }

    /// Lets the messages go that `depends` withheld, when no other source of `depends` is unavailable any more. Those about
    /// items wait for a good poll of their own source: its items may have looked gone only because of the outage.
    mutating func openDependencies(of rule: Rule, at now: RuleTime) {
        for key in RuleEngine.ordered(groups[RowGroup(rule: rule.name, slot: .blocked)] ?? []) {
            guard var memory = memories[key], memory.due == nil,
                unavailableSource(of: rule, for: memory.subject?.source) == nil
            else { continue }
            if memory.dependsOnItem, let source = memory.subject?.source, followed?.contains(source) == false {
                continue
            }
            (memory.due, memory.isCivil) = (now.steady, false)
            put(memory)
            if memory.dependsOnItem, let source = memory.subject?.source { unconfirmed.insert(source) }
        }
    }
}
