// SPDX-License-Identifier: Apache-2.0

/// What `by` compares with: the value that the last message announced, or the first one that was seen.
extension RuleEngine {
    /// Returns the event as a rule with `by` sees it: a change of the rule's field starts at the value that was announced last.
    func referenced(_ event: Event, _ rule: Rule) -> Event {
        guard !rule.announcedFields.isEmpty else { return event }
        var event = event
        for i in event.changes.indices where rule.announcedFields.contains(event.changes[i].field) {
            let key = rule.referenceKey(Subject(event), event.changes[i].field)
            if let announced = table[key]?.lines.first { event.changes[i].from = .text(announced) }
        }
        return event
    }

    /// Remembers the value before the first change, which the next changes are compared with until a message announces one.
    mutating func keepReference(_ rule: Rule, _ event: Event, at moment: StepContext) {
        for change in event.changes where rule.announcedFields.contains(change.field) {
            let key = rule.referenceKey(Subject(event), change.field)
            guard table[key] == nil, let value = change.from else { continue }
            remember(value, key, rule, at: moment)
        }
    }

    /// Remembers the values that a message announced.
    mutating func rememberReference(_ rule: Rule, _ event: Event, at moment: StepContext) {
        for field in rule.announcedFields {
            guard let value = event.item?[field] else { continue }
            remember(value, rule.referenceKey(Subject(event), field), rule, at: moment)
        }
    }

    /// Forgets the values of an item that is gone.
    mutating func forgetReferences(of subject: Subject) {
        for rule in rules.comparingAnnounced {
            for field in rule.announcedFields { forget(rule.referenceKey(subject, field)) }
        }
    }

    private mutating func remember(_ value: Value, _ key: RuleMemory.Key, _ rule: Rule, at moment: StepContext) {
        var row = RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
        row.lines = [value.description]
        rememberValue(row)
    }
}

extension Rule {
    fileprivate func referenceKey(_ subject: Subject, _ field: String) -> RuleMemory.Key {
        RuleMemory.Key(rule: name, slot: .reference, name: subject.text + "\u{1F}" + field)
    }
}
