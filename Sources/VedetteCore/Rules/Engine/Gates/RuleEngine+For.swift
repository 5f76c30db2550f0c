// SPDX-License-Identifier: Apache-2.0

/// `for`, `stays` and `older`: holds a match until its time.
extension RuleEngine {
    /// `for`: holds a match until its time, or releases it at once.
    mutating func hold(_ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        noteMatchAfterEnd(rule, event)
        guard rule.gates.nothing == .zero else { return noteMatch(rule, event, at: now, identifier) }
        if rule.when.age != nil, event.item != nil { return holdUntilOld(rule, event, at: now, identifier) }
        guard rule.gates.pendingFor > .zero else { return count(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        // A match that is already pending keeps its time, unless the rule waits until changes stop.
        if memory.due == nil || rule.when.restartsWait {
            memory.due = now.steady.advanced(by: rule.gates.pendingFor)
        }
        memory.event = event
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }

    /// `stays`: returns whether the item is pending or was released before.
    func isHeldOrReleased(_ event: Event, _ rule: Rule) -> Bool {
        let name = Subject(event).text
        return [RuleMemory.Slot.pending, .active].contains { slot in
            memories[RuleMemory.Key(rule: rule.name, slot: slot, name: name)] != nil
        }
    }

    /// `stays`: holds an item that already has the value.
    /// - Parameter since: when it got the value, on the wall clock.
    mutating func holdExisting(
        _ rule: Rule, _ event: Event, since: Timestamp, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard rule.when.age == nil else { return holdUntilOld(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        let age = max(0, now.wall.milliseconds - since.milliseconds)
        memory.due = Timestamp(
            milliseconds: now.steady.advanced(by: rule.gates.pendingFor).milliseconds.addingClamped(-age))
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }

    /// `older`: holds an item until the time in its field is as long ago as the rule says.
    private mutating func holdUntilOld(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let due = rule.timeOfAge(of: event, at: now) else { return }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        let released = RuleMemory.Key(rule: rule.name, slot: .active, name: key.name)
        guard memories[released] == nil else { return }
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        memory.due = due
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }
}

extension Rule {
    /// `older`: returns when the time in the item's field is as long ago as the rule says, on the steady clock; nil when the
    /// rule has no such condition or the item no such time.
    func timeOfAge(of event: Event, at now: RuleTime) -> Timestamp? {
        guard let (field, least) = when.age, let time = event.item?[field].flatMap(Timestamp.init(written:)) else {
            return nil
        }
        let left = time.advanced(by: least).milliseconds.addingClamped(-now.wall.milliseconds)
        return Timestamp(milliseconds: now.steady.milliseconds.addingClamped(max(0, left)))
    }
}

extension Condition {
    /// Whether each match restarts `for`: a rule about changes as such has no state that could last.
    var restartsWait: Bool {
        switch self {
        case .changes, .by: true
        case .all(let parts), .any(let parts): parts.contains(where: \.restartsWait)
        default: false
        }
    }
}
