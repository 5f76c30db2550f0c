// SPDX-License-Identifier: Apache-2.0

/// What `by` compares with: the value that the last message told, else the first one that was seen.
extension RuleEngine {
    /// Returns the event as a rule with `by` sees it: a change of the rule's field starts at the value that was told last.
    func toldValues(in event: Event, _ rule: Rule) -> Event {
        guard !rule.toldFields.isEmpty else { return event }
        var event = event
        for i in event.changes.indices where rule.toldFields.contains(event.changes[i].field) {
            let key = toldKey(rule, Subject(event), event.changes[i].field)
            if let told = memories[key]?.lines.first { event.changes[i].from = .text(told) }
        }
        return event
    }

    /// Remembers the value before the first change, which the next changes are compared with until a message tells one.
    mutating func keepReference(_ rule: Rule, _ event: Event, at now: RuleTime) {
        for change in event.changes where rule.toldFields.contains(change.field) {
            let key = toldKey(rule, Subject(event), change.field)
            guard memories[key] == nil, let value = change.from else { continue }
            remember(value, key, rule, at: now)
        }
    }

    /// Remembers the values that a message told.
    mutating func rememberTold(_ rule: Rule, _ event: Event, at now: RuleTime) {
        for field in rule.toldFields {
            guard let value = event.item?[field] else { continue }
            remember(value, toldKey(rule, Subject(event), field), rule, at: now)
        }
    }

    /// Forgets the values of an item that is gone.
    mutating func forgetTold(_ subject: Subject) {
        for rule in rules.comparingTold {
            for field in rule.toldFields { forget(toldKey(rule, subject, field)) }
        }
    }

    private mutating func remember(_ value: Value, _ key: RuleMemory.Key, _ rule: Rule, at now: RuleTime) {
        var memory = RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.lines = [value.description]
        rememberValue(memory)
    }

    private func toldKey(_ rule: Rule, _ subject: Subject, _ field: String) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .told, name: subject.text + "\u{1F}" + field)
    }
}
