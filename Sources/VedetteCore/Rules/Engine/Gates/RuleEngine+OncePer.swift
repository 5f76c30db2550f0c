// SPDX-License-Identifier: Apache-2.0

/// `once_per`: one message for each value of a field.
extension RuleEngine {
    /// `once_per`: returns whether the value is new, and remembers it.
    mutating func passesOncePer(_ rule: Rule, _ event: Event?, at now: RuleTime) -> Bool {
        guard let value = rule.valueOfOncePer(in: event) else { return true }
        let key = RuleMemory.Key(rule: rule.name, slot: .once, name: value)
        guard memories[key] == nil else { return false }
        rememberValue(RuleMemory(key: key, identity: rule.identity, since: now.steady))
        return true
    }

    /// Forgets the value of `once_per` of a message that is not sent now.
    mutating func forgetOncePer(_ rule: Rule, _ memory: RuleMemory) {
        // The item of a message that `limit` withheld may have another value by now.
        let passed = memory.key.slot == .limited ? memory.lines.first : nil
        guard let value = passed ?? rule.valueOfOncePer(in: memory.event) else { return }
        forget(RuleMemory.Key(rule: rule.name, slot: .once, name: value))
    }

    mutating func suppressRepetition(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let field = rule.gates.oncePer ?? ""
        let value = rule.valueOfOncePer(in: event) ?? ""
        suppress(rule, event, "already sent for \(field) '\(value)'", at: now, identifier)
    }

    /// Remembers a value of `once_per` or `by`. When there is no room, the oldest tenth of the values is evicted.
    mutating func rememberValue(_ memory: RuleMemory) {
        guard !put(memory) else { return }
        let values = memories.values.filter { $0.key.rule == memory.key.rule && $0.key.slot == memory.key.slot }
        let oldest = values.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        for value in oldest.prefix(RuleMemory.maximum / 10) { forget(value.key) }
        put(memory)
    }
}

extension Rule {
    /// Returns the value that `once_per` lets through once; nil when the rule has no such gate or the item no such field.
    func valueOfOncePer(in event: Event?) -> String? {
        gates.oncePer.flatMap { event?.item?[$0].map { IndexedText.bounded($0.description) } }
    }
}
