// SPDX-License-Identifier: Apache-2.0

/// What later events and time do to the matches that rules remember: a match ends, a row expires, an item changes.
extension RuleEngine {
    /// Updates what is remembered of the event's subject.
    /// - Returns: the rules for which the event only takes back what they never announced.
    mutating func updateMemories(
        with event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) -> Set<String> {
        var retracting = Set<String>()
        for key in RuleEngine.ordered(bySubject[Subject(event)] ?? []) {
            guard let memory = memories[key], let rule = rule(of: key) else { continue }
            if key.slot.waitsForAll, memory.sink == nil, let past = memory.event, event.takesBack(past),
                isBelieved(event, rule)
            {
                retracting.insert(key.rule)
            }
            update(memory, rule, with: event, at: now, identifier)
        }
        return retracting
    }

    /// Returns whether each sink believes what the event says, although no message told it.
    func isBelieved(_ event: Event, _ rule: Rule) -> Bool {
        if let change = HealthChange(event) {
            // A message that waits for others of its server will be told.
            let grouped = memories[RuleMemory.Key(rule: rule.name, slot: .grouped, name: event.source)]?.event
            if let was = grouped.flatMap(HealthChange.init), was.contradicts(change) { return false }
            let told = Set(recipients(rule, event))
            return change == .recovered ? told.isEmpty : told.isSuperset(of: rule.notify.map(\.sink))
        }
        // What a silence withheld from one sink, only that sink does not know.
        return !rule.allTargets.contains { target in
            [RuleMemory.Slot.silenced, .blocked].contains { slot in
                let name = event.withheldName(sink: target.sink)
                return memories[RuleMemory.Key(rule: rule.name, slot: slot, name: name)] != nil
            }
        }
    }

    /// Resolves a match that the event ends, else takes the item's new values over.
    mutating func update(
        _ memory: RuleMemory, _ rule: Rule, with event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let past = memory.event else { return }
        // The end of a match stays true until the rule matches again, and that replaces it.
        let isOver = past.kind != .resolved && !rule.when.remainsTrue(since: past, after: event)
        switch memory.key.slot {
        case .pending, .deferred, .active, .recipients, .silenced, .blocked:
            if isOver {
                let reason = "no longer so after \(memory.age(at: now))"
                resolve(memory, rule, reason, by: event, at: now, identifier)
            } else if memory.key.slot == .active, rule.endsReminders(event) {
                endReminders(memory, rule)
            } else if event.kind != .disappeared {
                refreshItem(event, in: memory)
            }
        case .limited: updateLimited(memory, rule, with: event, isOver: isOver)
        // A message that the rule makes of this event takes the row back itself.
        case .grouped: if isOver, !rule.when.matches(event) { forget(memory.key) }
        case .limit, .digest, .outage, .tally, .absence, .counted, .announced, .once, .failed: return
        }
    }

    /// A limit of one item ends in the latest state, also when the rule does not match that: the message before the limit
    /// announced another one. An item of another group was not named before, so it is named only while the match is true.
    private mutating func updateLimited(_ memory: RuleMemory, _ rule: Rule, with event: Event, isOver: Bool) {
        if rule.gates.limit?.by == .item, !rule.gates.resolved {
            guard rule.isRelevant(event) else { return refreshItem(event, in: memory) }
            var memory = memory
            (memory.event, memory.isAfter) = (event, true)
            put(memory)
        } else if isOver {
            endLimited(memory, rule)
        } else {
            refreshItem(event, in: memory)
        }
    }

    /// Takes the item over, so that a later message shows it as it is then.
    private mutating func refreshItem(_ event: Event, in memory: RuleMemory) {
        guard let item = event.item, memory.event?.item != item else { return }
        var memory = memory
        memory.event?.item = item
        put(memory)
    }

    /// Does what a row that is due waits for.
    mutating func expire(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        switch memory.key.slot {
        case .pending:
            forget(memory.key)
            if let event = memory.event { count(rule, event, at: now, identifier) }
        case .deferred: releaseDeferred(rule, at: now, identifier)
        case .digest: sendDigest(memory, rule, at: now, identifier)
        case .limit: slideWindow(memory, rule, at: now, identifier)
        case .active: sendFollowUps(memory, rule, at: now, identifier)
        case .silenced, .blocked: open(RowGroup(memory), rule, at: now, identifier)
        case .outage: sendGroup(memory, rule, at: now, identifier)
        case .tally: slideTally(memory, rule, at: now)
        case .absence: sendAbsence(memory, rule, at: now, identifier)
        case .limited: releaseLimited(memory, rule, at: now, identifier)
        case .grouped, .counted, .announced, .once, .recipients, .failed: break
        }
    }

    /// Moves a row that is due inside a quiet time to its end. Returns whether it did.
    mutating func deferInQuietTime(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime) -> Bool {
        guard let (_, _, end) = quietTime(of: rule, at: now) else { return false }
        var memory = memory
        (memory.due, memory.isCivil) = (end, true)
        put(memory)
        return true
    }

    /// Suppresses the message that a discarded row was waiting to send, so that `explain` shows the reason.
    /// - Parameter rule: the rule before or after the change; nil when it is unknown and with it the sinks.
    mutating func discard(
        _ memory: RuleMemory, of rule: Rule?, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event, memory.hasWaitingMessage else { return }
        let unknown = Rule(name: memory.key.rule, when: .any([]), notify: [Rule.NotificationTarget(sink: "nobody")])
        suppress(rule ?? unknown, event, "\(reason) while it was held back", at: now, identifier)
        step.discarded.append(
            "rule '\(memory.key.rule)' does not send '\(MessageTitle.of(event))': "
                + "\(reason) while it was held back")
    }
}

extension Event {
    /// Returns whether everything is as it was before the other event, so that who was not told it needs no message.
    fileprivate func takesBack(_ other: Event) -> Bool {
        switch (other.kind, kind) {
        case (.disappeared, .appeared), (.appeared, .disappeared), (.failing, .recovered), (.recovered, .failing),
            (.offline, .online), (.online, .offline), (.unequal, .equal), (.equal, .unequal):
            true
        default: false
        }
    }
}

extension RuleMemory.Slot {
    /// Whether its rows are matches of which no sink got a message. Those in groups take each other back when they are released.
    fileprivate var waitsForAll: Bool {
        switch self {
        case .pending, .deferred, .limited, .silenced, .blocked: true
        case .digest, .limit, .grouped, .outage, .tally, .absence, .counted, .announced, .once, .active, .recipients,
            .failed:
            false
        }
    }
}

extension RuleMemory {
    /// Whether a message waits to be sent.
    fileprivate var hasWaitingMessage: Bool {
        switch key.slot {
        case .pending, .deferred, .digest, .limited, .silenced, .blocked, .grouped: true
        case .limit, .outage, .tally, .absence, .counted, .announced, .once, .active, .recipients, .failed: false
        }
    }
}

extension Rule {
    /// Returns whether an event of the same subject changes what the rule is about.
    func isRelevant(_ event: Event) -> Bool {
        event.kind != .changed || field.map { event.change(of: $0) != nil } ?? false
    }

    /// Returns the longest time that a row on the steady clock can wait.
    func maximumDelay(of slot: RuleMemory.Slot) -> Duration {
        var digest = Duration.zero
        if case .every(let interval) = gates.digest?.release { digest = interval }
        return switch slot {
        case .pending: max(gates.pendingFor, when.age?.least ?? .zero)
        case .digest: digest
        case .limit: gates.limit?.per ?? .zero
        case .active: max(gates.remind?.every ?? .zero, gates.escalate.last?.after ?? .zero)
        case .outage: RuleEngine.groupSpan
        case .tally: gates.atLeast?.per ?? .zero
        case .absence: gates.nothing
        case .deferred, .limited, .silenced, .blocked, .grouped, .counted, .announced, .once, .recipients, .failed:
            .zero
        }
    }
}
