// SPDX-License-Identifier: Apache-2.0

/// The way of a match to its messages: the gates after `for`, in their order.
extension RuleEngine {
    /// Passes a match that was true for long enough to `depends`, silences and `quiet`.
    /// - Parameter count: earlier matches that were withheld.
    mutating func release(
        _ rule: Rule, _ event: Event, count: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        if let reason = unmetCondition(of: rule) { return suppress(rule, event, reason, at: now, identifier) }
        guard rememberRelease(rule, event, at: now) else {
            return suppressForRoom(rule, event, .active, at: now, identifier)
        }
        guard !takesBackGrouped(rule, event, at: now, identifier) else { return }
        if let obstacle = obstacle(rule, event, at: now) {
            return withhold(rule, event, by: obstacle, count: count, at: now, identifier)
        }
        let quiet = quietTime(of: rule, at: now)
        let last: RuleMemory.Slot = quiet == nil ? .deferred : .limited
        let withheld = count + takeEarlier(rule, event, from: [.silenced, .blocked, last], at: now, identifier)
        if let (quiet, name, end) = quiet {
            return applyQuiet(rule, event, quiet, name, until: end, count: withheld, at: now, identifier)
        }
        passQuiet(rule, event, count: withheld, at: now, identifier)
    }

    /// Takes back what gates withheld of the same subject, since this message is later. Returns the number of messages.
    /// - Parameter sink: the only sink for which it was withheld; nil for all sinks.
    mutating func takeEarlier(
        _ rule: Rule, _ event: Event, sink: String? = nil, from slots: [RuleMemory.Slot], at now: RuleTime,
        _ identifier: () -> Identifier
    ) -> Int {
        var earlier = 0
        for slot in slots {
            let key = RuleMemory.Key(rule: rule.name, slot: slot, name: event.withheldName(sink: sink))
            guard let memory = memories[key] else { continue }
            earlier += memory.count
            if slot == .limited, memory.event != nil { forgetOncePer(rule, memory) }
            forget(key)
            // The messages of the other slots are suppressed already, and counted.
            if slot == .deferred, let event = memory.event {
                earlier += 1
                suppress(rule, event, "a later one follows", at: now, identifier)
            }
        }
        return earlier
    }

    /// `stays`: remembers a released item, so that a restart does not release it again. Returns false without room.
    mutating func rememberRelease(_ rule: Rule, _ event: Event, at now: RuleTime) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
        guard rule.matchesExisting, memories[key] == nil else { return true }
        return put(RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady))
    }

    /// Passes a match outside a quiet time to `once_per`, `digest` and `limit`.
    mutating func passQuiet(
        _ rule: Rule, _ event: Event, count: Int, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard passesOncePer(rule, event, at: now) else {
            return suppressRepetition(rule, event, at: now, identifier)
        }
        guard let digest = rule.gates.digest else { return applyLimit(rule, event, count: count, at: now, identifier) }
        let group = digest.by.value(of: event)
        switch digest.release {
        case .every(let interval):
            let due = now.steady.advanced(by: interval)
            addToDigest(rule, event, group: group, due: due, replaced: count, at: now, identifier)
        case .at(let time, let days):
            let due = time.next(after: now.wall, days: days, civil)
            addToDigest(
                rule, event, group: group, due: due, isCivil: true, replaced: count, at: now, identifier)
        }
    }
}
