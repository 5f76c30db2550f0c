// SPDX-License-Identifier: Apache-2.0

/// The end of a match, and `resolved`: the message about it.
extension RuleEngine {
    /// Ends a match that is no longer true. A message that was waiting is suppressed.
    /// - Parameter ending: the event that ended it; nil when no event shows it.
    mutating func resolve(
        _ memory: RuleMemory, _ rule: Rule, _ reason: String, by ending: Event? = nil, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return }
        switch memory.key.slot {
        case .pending:
            forget(memory.key)
            suppress(rule, event, reason, at: now, identifier)
        case .deferred:
            // If it becomes true again before the quiet time ends, its message has the count.
            var memory = memory
            (memory.count, memory.event) = (memory.count + 1, nil)
            put(memory)
            suppress(rule, event, reason, at: now, identifier)
        case .active: forget(memory.key)
        case .recipients: endTold(memory, rule, event, by: ending, at: now, identifier)
        case .limited: endLimited(memory, rule)
        case .silenced, .blocked:
            // Its message is suppressed already. If it becomes true again, the message has the count.
            var memory = memory
            memory.event = nil
            put(memory)
        case .limit, .digest, .grouped, .outage, .tally, .absence, .counted, .announced, .once, .failed: return
        }
    }

    /// `resolved`: a match that sinks were told is over. Its end is released once, and again only when the match was true in
    /// between: then its message may have taken the place of the one about the end.
    private mutating func endTold(
        _ memory: RuleMemory, _ rule: Rule, _ event: Event, by ending: Event?, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        guard rule.gates.resolved else { return endUnresolved(memory, rule, by: ending) }
        guard !memory.isAfter else { return }
        var memory = memory
        memory.isAfter = true
        if memory.times.isEmpty { memory.times = [now.steady] }
        put(memory)
        let seconds = max(0, (memory.times.first ?? now.steady).seconds(since: memory.since))
        let resolved = event.resolved(by: ending, id: identifier(), at: now.wall, after: seconds)
        releaseEnd(rule, resolved, count: 0, at: now, identifier)
    }

    /// Passes the end of a match to `depends`, silences and `quiet`; no other gate holds it. It goes to the sinks that were told
    /// the match.
    /// - Parameters:
    ///   - sink: the only sink that did not get it; nil for all.
    ///   - count: earlier messages that were withheld.
    mutating func releaseEnd(
        _ rule: Rule, _ resolved: Event, sink: String? = nil, count: Int, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        let recipients = recipients(rule, resolved).filter { sink == nil || $0 == sink }
        guard !recipients.isEmpty else { return }
        if sink == nil {
            // A further match that waits for others of its server is over.
            forget(RuleMemory.Key(rule: rule.name, slot: .grouped, name: resolved.withheldName(sink: nil)))
        }
        if let obstacle = obstacle(rule, resolved, sink: sink, at: now) {
            if obstacle.drops { forgetRecipients(rule, resolved, Set(recipients)) }
            return withhold(rule, resolved, by: obstacle, sink: sink, count: count, at: now, identifier)
        }
        if sink == nil, let (quiet, name, end) = quietTime(of: rule, at: now) {
            if quiet.action == .drop { forgetRecipients(rule, resolved, Set(recipients)) }
            let count = count + takeEarlier(rule, resolved, from: [.silenced, .blocked], at: now, identifier)
            return applyQuiet(rule, resolved, quiet, name, until: end, count: count, at: now, identifier)
        }
        guard sink != nil || !joinsGroup(rule, resolved, at: now, identifier) else { return }
        // A sink that the rule names no longer is not told the end.
        let targets = rule.allTargets.filter { recipients.contains($0.sink) }
        forgetRecipients(rule, resolved, Set(recipients).subtracting(targets.map(\.sink)))
        if sink == nil {
            let others = rule.notify.filter { !recipients.contains($0.sink) }
            let reason = "this sink was not told what has ended"
            deliver(rule, resolved, to: others, suppressedBy: reason, at: now, identifier)
        }
        deliver(rule, resolved, to: targets, suppressedBy: nil, withheld: count, at: now, identifier)
    }
}

extension Event {
    /// Returns the event that announces the end of the match that this event made.
    /// - Parameters:
    ///   - ending: the event that ended it; nil when no event shows it.
    ///   - seconds: how long the match was true.
    func resolved(by ending: Event?, id: Identifier, at now: Timestamp, after seconds: Double) -> Event {
        var copy = ending ?? self
        (copy.id, copy.seq, copy.kind, copy.time) = (id, 0, .resolved, now)
        if ending == nil { copy.changes = [] }
        copy.error = copy.error ?? error
        copy.summary = Summary(events: [self.id.description], stood: seconds)
        copy.summary?.title = MessageTitle.ofEnd(self, by: ending)
        return copy
    }
}
