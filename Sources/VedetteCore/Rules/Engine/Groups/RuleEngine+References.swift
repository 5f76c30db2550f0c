// SPDX-License-Identifier: Apache-2.0

/// What `by` compares with: the value that the last message to a sink announced, or the first one that was seen. What all sinks
/// of a rule know has one row; a sink that knows another value has a row of its own.
extension RuleEngine {
    /// Returns the event as a rule with `by` compares it for a sink: a change of the rule's field starts at the value that the
    /// sink was told last.
    func referenced(_ event: Event, _ rule: Rule, for sink: String) -> Event {
        guard !rule.announcedFields.isEmpty else { return event }
        var event = event
        for i in event.changes.indices {
            let announced = announced(rule, Subject(event), event.changes[i].field, to: sink).values
            if let value = announced.first { event.changes[i].from = .text(value) }
        }
        return event
    }

    /// Returns the event as a message to a sink shows it. The value that it announces may be the one that the sink was told last,
    /// as in a digest: then the change starts at the value before.
    func shown(_ event: Event, _ rule: Rule, to sink: String) -> Event {
        guard !rule.announcedFields.isEmpty else { return event }
        var event = event
        for i in event.changes.indices {
            let announced = announced(rule, Subject(event), event.changes[i].field, to: sink).values
            if let value = announced.first(where: { $0 != event.changes[i].to?.description }) {
                event.changes[i].from = .text(value)
            }
        }
        return event
    }

    /// Returns the event as each sink of the rule sees it, without repetitions.
    func referenced(_ event: Event, _ rule: Rule) -> [Event] {
        guard !rule.announcedFields.isEmpty, !rule.notify.isEmpty else { return [event] }
        var events: [Event] = []
        for target in rule.notify {
            let seen = referenced(event, rule, for: target.sink)
            if !events.contains(where: { $0.changes == seen.changes }) { events.append(seen) }
        }
        return events
    }

    /// Returns the sinks for which the event is a match. Where `by` holds for none, what it compared with is forgotten, and the
    /// match is for all.
    func targets(of event: Event, _ rule: Rule) -> [Rule.NotificationTarget] {
        guard referenced(event, rule).count > 1 else { return rule.notify }
        let targets = rule.notify.filter { rule.result(for: referenced(event, rule, for: $0.sink)) == .matched }
        return targets.isEmpty ? rule.notify : targets
    }

    /// Returns whether the event takes back the change that made a match of a rule with `by` before it was told: to no sink the
    /// value is a match any more.
    func takesBackChange(_ event: Event, of past: Event, _ rule: Rule) -> Bool {
        guard !rule.announcedFields.isEmpty, let item = event.item else { return false }
        var present = past
        present.item = item
        for i in past.changes.indices {
            let field = past.changes[i].field
            if rule.announcedFields.contains(field), let change = event.change(of: field) {
                present.changes[i].to = change.to
            }
        }
        guard present.changes != past.changes else { return false }
        return referenced(present, rule).allSatisfy { event in
            if case .unmatched = rule.result(for: event) { true } else { false }
        }
    }

    /// Remembers the value before the first change, which the next changes are compared with until a message announces one.
    mutating func keepReference(_ rule: Rule, _ event: Event, at moment: StepContext) {
        for change in event.changes where rule.announcedFields.contains(change.field) {
            let key = rule.referenceKey(Subject(event), change.field)
            guard table[key] == nil, let value = change.from else { continue }
            remember(Announced(values: [value.description]), key, rule, at: moment)
        }
    }

    /// Remembers the values that a message announced to sinks of the rule.
    /// - Parameter isListed: whether a log lists the event, which may not be told after all.
    mutating func rememberReference(
        _ rule: Rule, _ event: Event, for sinks: [String], isListed: Bool = false, at moment: StepContext
    ) {
        for field in rule.announcedFields {
            guard let value = event.item?[field]?.description else { continue }
            changeReferences(rule, Subject(event), field, of: sinks, at: moment) { announced in
                let isNew = announced.values.first != value
                if isNew { announced.values = [value] + announced.values.prefix(1) }
                if isNew || !isListed { announced.listed = isListed ? event.id.description : nil }
            }
        }
    }

    /// Goes back to the values that a sink knew before a log listed others that it is never told. What was announced since stays.
    mutating func takeBackReferences(_ rule: Rule, in message: Event, for sink: String, at moment: StepContext) {
        guard !rule.announcedFields.isEmpty else { return }
        for part in message.parts {
            for field in rule.announcedFields {
                let subject = Subject(source: part.source, key: part.key)
                let listed = announced(rule, subject, field, to: sink)
                guard listed.listed == part.event, listed.values.count > 1 else { continue }
                changeReferences(rule, subject, field, of: [sink], at: moment) { announced in
                    announced = Announced(values: Array(listed.values.dropFirst()))
                }
            }
        }
    }

    /// Changes what sinks were told of a field. What all sinks of the rule know then has one row.
    private mutating func changeReferences(
        _ rule: Rule, _ subject: Subject, _ field: String, of sinks: [String], at moment: StepContext,
        _ change: (inout Announced) -> Void
    ) {
        let all = rule.notify.map(\.sink)
        var known: [String: Announced] = [:]
        for sink in all {
            var announced = announced(rule, subject, field, to: sink)
            if sinks.contains(sink) { change(&announced) }
            if !announced.values.isEmpty { known[sink] = announced }
        }
        if known.count == all.count, let announced = known.values.first, Set(known.values).count == 1 {
            remember(announced, rule.referenceKey(subject, field), rule, at: moment)
            for sink in all { forget(rule.referenceKey(subject, field, of: sink)) }
        } else {
            for sink in all where sinks.contains(sink) {
                guard let announced = known[sink] else { continue }
                remember(announced, rule.referenceKey(subject, field, of: sink), of: sink, rule, at: moment)
            }
        }
    }

    /// Forgets the values of an item that is gone.
    mutating func forgetReferences(of subject: Subject) {
        for rule in rules.comparingAnnounced {
            for field in rule.announcedFields {
                forget(rule.referenceKey(subject, field))
                for target in rule.notify { forget(rule.referenceKey(subject, field, of: target.sink)) }
            }
        }
    }

    /// Returns what a sink was told of a field.
    private func announced(_ rule: Rule, _ subject: Subject, _ field: String, to sink: String) -> Announced {
        guard rule.announcedFields.contains(field) else { return Announced() }
        let row = table[rule.referenceKey(subject, field, of: sink)] ?? table[rule.referenceKey(subject, field)]
        return Announced(values: row?.lines ?? [], listed: row?.events.first)
    }

    private mutating func remember(
        _ announced: Announced, _ key: RuleMemory.Key, of sink: String? = nil, _ rule: Rule, at moment: StepContext
    ) {
        var row = RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
        row.lines = announced.values
        row.events = announced.listed.map { [$0] } ?? []
        row.sinks = sink.map { [$0] } ?? []
        rememberValue(row)
    }
}

/// What a sink was told of a field.
private struct Announced: Hashable {
    /// The last value, and the one before; empty when none is known.
    var values: [String] = []
    /// The event that a log listed with the last value; nil where a message has told it.
    var listed: String?
}

extension Rule {
    /// - Parameter sink: the sink that knows another value than the others; nil for what all of them know.
    fileprivate func referenceKey(_ subject: Subject, _ field: String, of sink: String? = nil) -> RuleMemory.Key {
        let parts = [subject.text, field] + [sink].compactMap { $0 }
        return RuleMemory.Key(rule: name, slot: .reference, name: parts.joined(separator: "\u{1F}"))
    }
}
