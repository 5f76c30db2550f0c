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
            restoreEnd(rule, event, by: ending, at: now, identifier)
        case .active:
            forget(memory.key)
            if rule.gates.resolved, memory.isAnnounced {
                sendResolved(memory, rule, event, by: ending, at: now, identifier)
            }
        case .limited:
            endLimited(memory, rule)
            restoreEnd(rule, event, by: ending, at: now, identifier)
        case .silenced, .blocked:
            // Its message is suppressed already. If it becomes true again, the message has the count.
            var ended = memory
            ended.event = nil
            put(ended)
            if memory.sink == nil { restoreEnd(rule, event, by: ending, at: now, identifier) }
        case .limit, .digest, .grouped, .outage, .tally, .absence, .counted, .announced, .once, .ended, .failed: return
        }
    }

    /// `resolved`: announces the end of a match that a message announced, to every sink that got one.
    private mutating func sendResolved(
        _ memory: RuleMemory, _ rule: Rule, _ event: Event, by ending: Event?, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        let resolved = event.resolved(by: ending, id: identifier(), at: now.wall, after: memory.seconds(at: now))
        releaseEnd(rule, resolved, step: memory.step, untold: memory.untold, count: 0, at: now, identifier)
    }

    /// Passes the end of a match to `depends`, silences and `quiet`; no other gate holds it.
    /// - Parameters:
    ///   - sink: the only sink that did not get it; nil for all.
    ///   - step: escalation steps of the match that were done.
    ///   - untold: the sinks that were not told the match.
    ///   - count: earlier messages that were withheld.
    mutating func releaseEnd(
        _ rule: Rule, _ resolved: Event, sink: String? = nil, step: Int, untold: [String], count: Int,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        if let obstacle = obstacle(rule, resolved, at: now) {
            if sink == nil, !obstacle.drops { keepEnd(rule, resolved, step: step, untold: untold, at: now) }
            return withhold(
                rule, resolved, by: obstacle, step: step, untold: untold, count: count, at: now, identifier)
        }
        if let (quiet, name, end) = quietTime(of: rule, at: now) {
            if sink == nil, quiet.action == .defer {
                keepEnd(rule, resolved, step: step, untold: untold, at: now)
            }
            return applyQuiet(
                rule, resolved, quiet, name, until: end, step: step, untold: untold, count: count, at: now, identifier)
        }
        if sink == nil { forget(endKey(rule, resolved)) }
        guard sink != nil || !joinsGroup(rule, resolved, at: now, identifier) else { return }
        let escalated = rule.gates.escalate.prefix(step).flatMap(\.notify)
        let all = rule.notify + escalated.filter { target in !rule.notify.contains { $0.sink == target.sink } }
        let targets = sink.map(rule.targets) ?? all
        deliver(
            rule, resolved, to: targets.filter { untold.contains($0.sink) },
            suppressedBy: "this sink was not told what has ended", at: now, identifier)
        deliver(
            rule, resolved, to: targets.filter { !untold.contains($0.sink) }, suppressedBy: nil, withheld: count,
            at: now, identifier)
    }

    // MARK: Ends that wait

    private func endKey(_ rule: Rule, _ event: Event) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .ended, name: Subject(event).text)
    }

    /// Remembers the end of a match while the message about it is withheld.
    private mutating func keepEnd(_ rule: Rule, _ resolved: Event, step: Int, untold: [String], at now: RuleTime) {
        let key = endKey(rule, resolved)
        var memory = RuleMemory(key: key, identity: rule.identity, event: resolved, since: now.steady)
        (memory.step, memory.untold) = (step, untold)
        put(memory)
    }

    /// Forgets the end that waited, since a message tells that the match is true again.
    mutating func forgetEnd(_ rule: Rule, _ event: Event) { forget(endKey(rule, event)) }

    /// A match that no message told is over. When it took the place of the message about an earlier end, that end still has to
    /// be told: else its receiver would take the earlier match for true for ever.
    private mutating func restoreEnd(
        _ rule: Rule, _ event: Event, by ending: Event?, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let memory = memories[endKey(rule, event)], let earlier = memory.event else { return }
        var resolved = event.resolved(by: ending, id: identifier(), at: now.wall, after: 0)
        // The match that was told, and how long it was true.
        resolved.summary?.events = earlier.summary?.events ?? []
        resolved.summary?.stood = earlier.summary?.stood
        releaseEnd(rule, resolved, step: memory.step, untold: memory.untold, count: 0, at: now, identifier)
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
