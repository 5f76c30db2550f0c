// SPDX-License-Identifier: Apache-2.0

/// `nothing`: a message when nothing matched for a time.
extension RuleEngine {
    /// `nothing`: starts the time without a match of each rule that has none yet.
    mutating func startAbsences(at now: RuleTime, _ identifier: () -> Identifier) {
        for rule in rules.rules where rule.gates.nothing > .zero {
            let key = RuleMemory.Key(rule: rule.name, slot: .absence, name: "")
            guard memories[key] == nil else { continue }
            var memory = RuleMemory(key: key, identity: rule.identity, since: now.steady)
            memory.event = Event(
                id: identifier(), kind: .elapsed, time: now.wall,
                source: rule.when.sources?.min() ?? Event.watcher, sourceKind: Event.watcher, poll: "")
            memory.due = now.steady.advanced(by: rule.gates.nothing)
            put(memory)
        }
    }

    /// `nothing`: a match starts the time again, and ends what was announced.
    mutating func noteMatch(_ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        let key = RuleMemory.Key(rule: rule.name, slot: .absence, name: "")
        let announced = memories[key].flatMap { $0.isAnnounced ? $0.event : nil }
        let seconds = memories[key]?.seconds(at: now) ?? 0
        var memory = RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.event = memories[key]?.event ?? event
        memory.event?.item = nil
        memory.event?.changes = []
        memory.due = now.steady.advanced(by: rule.gates.nothing)
        put(memory)
        if let absence = memory.event {
            // What waits to announce the absence is no longer so.
            for slot in [RuleMemory.Slot.silenced, .blocked, .deferred, .limited] {
                let key = RuleMemory.Key(rule: rule.name, slot: slot, name: Subject(absence).text)
                guard let memory = memories[key] else { continue }
                forget(key)
                // The message of the other slots is suppressed already.
                if slot == .deferred, let event = memory.event {
                    suppress(rule, event, "no longer so after \(memory.age(at: now))", at: now, identifier)
                }
            }
        }
        guard rule.gates.resolved, let announced else { return }
        let resolved = announced.resolved(by: event, id: identifier(), at: now.wall, after: seconds)
        release(rule, resolved, at: now, identifier)
    }

    /// `nothing`: the time is over without a match.
    mutating func sendAbsence(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        var memory = memory
        memory.due = nil
        put(memory)
        guard var event = memory.event else { return }
        (event.id, event.kind, event.time) = (identifier(), .elapsed, now.wall)
        let seconds = memory.seconds(at: now)
        event.summary = Event.Summary(count: 0, stood: seconds)
        event.summary?.title = MessageTitle.ofAbsence(rule, after: seconds)
        release(rule, event, at: now, identifier)
    }

    /// Remembers for `resolved` that a message told the absence, unless a match ended it meanwhile.
    mutating func rememberToldAbsence(_ rule: Rule, _ event: Event) {
        let key = RuleMemory.Key(rule: rule.name, slot: .absence, name: "")
        guard event.kind == .elapsed, var memory = memories[key], memory.due == nil else { return }
        memory.isAnnounced = true
        put(memory)
    }
}
