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
        if let obstacle = obstacle(rule, event, at: now) {
            return withhold(rule, event, by: obstacle, count: count, at: now, identifier)
        }
        let withheld = count + takeEarlier(rule, event)
        if let (quiet, name, end) = quietTime(of: rule, at: now) {
            return applyQuiet(rule, event, quiet, name, until: end, count: withheld, at: now, identifier)
        }
        passQuiet(rule, event, count: withheld, at: now, identifier)
    }

    /// Forgets what a silence or `depends` held of the same subject, since this message is later. Returns the number.
    /// - Parameter sink: the only sink for which it was held; nil for all sinks.
    mutating func takeEarlier(_ rule: Rule, _ event: Event, sink: String? = nil) -> Int {
        var earlier = 0
        for slot in [RuleMemory.Slot.silenced, .blocked] {
            let key = RuleMemory.Key(rule: rule.name, slot: slot, name: event.withheldName(sink: sink))
            earlier += memories[key]?.count ?? 0
            forget(key)
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
