// SPDX-License-Identifier: Apache-2.0

/// What `by` compares with: the value that the last message announced, or the first one that was seen.
extension RuleEngine {
    /// Returns the event as a rule with `by` sees it: a change of the rule's field starts at the value that was announced last.
    func announcedValues(in event: Event, _ rule: Rule) -> Event {
        guard !rule.announcedFields.isEmpty else { return event }
        var event = event
        for i in event.changes.indices where rule.announcedFields.contains(event.changes[i].field) {
            let key = announcedKey(rule, Subject(event), event.changes[i].field)
            if let announced = memories[key]?.lines.first { event.changes[i].from = .text(announced) }
        }
        return event
    }

    /// Remembers the value before the first change, which the next changes are compared with until a message announces one.
    mutating func keepReference(_ rule: Rule, _ event: Event, at now: RuleTime) {
        for change in event.changes where rule.announcedFields.contains(change.field) {
            let key = announcedKey(rule, Subject(event), change.field)
            guard memories[key] == nil, let value = change.from else { continue }
            remember(value, key, rule, at: now)
        }
    }

    /// Remembers the values that a message announced.
    mutating func rememberAnnounced(_ rule: Rule, _ event: Event, at now: RuleTime) {
        for field in rule.announcedFields {
            guard let value = event.item?[field] else { continue }
            remember(value, announcedKey(rule, Subject(event), field), rule, at: now)
        }
    }

    /// Forgets the values of an item that is gone.
    mutating func forgetAnnounced(_ subject: Subject) {
        for rule in rules.comparingAnnounced {
            for field in rule.announcedFields { forget(announcedKey(rule, subject, field)) }
        }
    }

    private mutating func remember(_ value: Value, _ key: RuleMemory.Key, _ rule: Rule, at now: RuleTime) {
        var memory = RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.lines = [value.description]
        rememberValue(memory)
    }

    private func announcedKey(_ rule: Rule, _ subject: Subject, _ field: String) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .announced, name: subject.text + "\u{1F}" + field)
    }
}
