// SPDX-License-Identifier: Apache-2.0

/// Messages, and what is remembered after them.
extension RuleEngine {
    /// Makes a pending delivery for each of the rule's sinks.
    /// - Parameter withheld: earlier messages that were withheld.
    mutating func send(
        _ rule: Rule, _ event: Event, withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, suppressedBy: nil, withheld: withheld, at: now, identifier)
        activate(rule, event, at: now)
    }

    /// Makes a suppressed delivery for each of the rule's sinks.
    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, suppressedBy: reason, at: now, identifier)
    }

    /// `remind` and `escalate`: remembers a match for which a message was sent.
    private mutating func activate(_ rule: Rule, _ event: Event, at now: RuleTime) {
        let hasFollowUps = rule.gates.remind != nil || !rule.gates.escalate.isEmpty
        // The last message of a limit may be about an event that ended the match.
        guard hasFollowUps, event.kind != .digest, rule.when.matches(event) else { return }
        let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        if let old = memories[key], old.due != nil, !rule.when.restartsWait {
            // A further message about a match that is active already.
            (memory.since, memory.step, memory.times) = (old.since, old.step, [now.steady])
        }
        memory.due = rule.nextFollowUp(memory)
        if memory.due != nil { put(memory) }
    }

    /// Updates what is remembered of the event's subject.
    mutating func updateMemories(with event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        for key in RuleEngine.ordered(bySubject[Subject(event)] ?? []) {
            guard let memory = memories[key], let rule = rule(of: key) else { continue }
            update(memory, rule, with: event, at: now, identifier)
        }
    }

    /// Resolves a match that the event ends, else takes the item's new values over.
    mutating func update(
        _ memory: RuleMemory, _ rule: Rule, with event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let past = memory.event else { return }
        switch memory.key.slot {
        case .pending, .deferred, .active:
            let isOver = !rule.when.remainsTrue(since: past, after: event)
            if isOver || (memory.key.slot == .active && rule.endsReminders(event)) {
                resolve(memory, rule, "no longer so after \(memory.age(at: now))", at: now, identifier)
            } else if event.kind != .disappeared {
                refreshItem(event, in: memory)
            }
        case .limit where memory.count > 0:
            guard rule.isRelevant(event) else { return refreshItem(event, in: memory) }
            // The last message tells the latest state, also when the rule does not match that.
            var memory = memory
            (memory.event, memory.isAfter) = (event, true)
            put(memory)
        case .limit, .digest, .once, .failed: return
        }
    }

    /// Takes the item over, so that a later message shows it as it is then.
    private mutating func refreshItem(_ event: Event, in memory: RuleMemory) {
        guard let item = event.item, memory.event?.item != item else { return }
        var memory = memory
        memory.event?.item = item
        put(memory)
    }

    /// Ends a match that is no longer true. A message that was waiting is suppressed.
    mutating func resolve(
        _ memory: RuleMemory, _ rule: Rule, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
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
        case .limit, .digest, .once, .failed: return
        }
    }

    /// Does what a row that is due waits for.
    mutating func expire(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        switch memory.key.slot {
        case .pending:
            forget(memory.key)
            if let event = memory.event { release(rule, event, at: now, identifier) }
        case .deferred:
            forget(memory.key)
            // It passes the gates again: a silence or another quiet time may have begun.
            if let event = memory.event { release(rule, event, count: memory.count, at: now, identifier) }
        case .digest: sendDigest(memory, rule, at: now, identifier)
        case .limit: slideWindow(memory, rule, at: now, identifier)
        case .active: sendFollowUps(memory, rule, at: now, identifier)
        case .once, .failed: break
        }
    }

    private mutating func sendDigest(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard !deferInQuietTime(memory, rule, at: now) else { return }
        forget(memory.key)
        guard var event = memory.event else { return }
        if memory.count > 1 { event = event.digest(of: memory, id: identifier(), at: now.wall) }
        if let reason = suppressionReason(rule, event, at: now) {
            return suppress(rule, event, reason, at: now, identifier)
        }
        applyLimit(rule, event, count: 0, at: now, identifier)
    }

    /// Moves a row that is due inside a quiet time to its end. Returns whether it did.
    private mutating func deferInQuietTime(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime) -> Bool {
        guard let (_, _, end) = quietTime(of: rule, at: now) else { return false }
        var memory = memory
        (memory.due, memory.isCivil) = (end, true)
        put(memory)
        return true
    }

    /// The oldest message left the window of a limit: sends the latest state of what was withheld.
    private mutating func slideWindow(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit else { return forget(memory.key) }
        var memory = memory
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        if memory.count > 0, memory.times.count < limit.count, let event = memory.event {
            guard !deferInQuietTime(memory, rule, at: now) else { return }
            let withheld = memory.isAfter ? memory.count : memory.count - 1
            (memory.count, memory.event, memory.isAfter) = (0, nil, false)
            if let reason = suppressionReason(rule, event, at: now) {
                suppress(rule, event, reason, at: now, identifier)
            } else {
                memory.times.append(now.steady)
                send(rule, event, withheld: withheld, at: now, identifier)
            }
        }
        guard let first = memory.times.first else { return forget(memory.key) }
        (memory.due, memory.isCivil) = (first.advanced(by: limit.per), false)
        put(memory)
    }

    /// Sends the escalations and the reminder that are due.
    private mutating func sendFollowUps(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return forget(memory.key) }
        guard !deferInQuietTime(memory, rule, at: now) else { return }
        var memory = memory
        let reason = suppressionReason(rule, event, at: now)
        while memory.step < rule.gates.escalate.count,
            memory.since.advanced(by: rule.gates.escalate[memory.step].after) <= now.steady
        {
            let targets = rule.gates.escalate[memory.step].notify
            memory.step += 1
            deliver(rule, event, to: targets, suppressedBy: reason, at: now, identifier)
        }
        if let remind = rule.gates.remind, memory.nextReminder(remind) <= now.steady {
            // One message, however many reminders were missed.
            memory.times = [now.steady]
            let reminder = event.reminder(id: identifier(), at: now.wall, after: memory.seconds(at: now))
            deliver(
                rule, reason == nil ? reminder : event, to: rule.notify, suppressedBy: reason, at: now, identifier)
        }
        (memory.due, memory.isCivil) = (rule.nextFollowUp(memory), false)
        if memory.due == nil, !rule.matchesExisting { forget(memory.key) } else { put(memory) }
    }

    /// - Parameter reason: why the messages are suppressed; nil when they are sent.
    private mutating func deliver(
        _ rule: Rule, _ event: Event, to targets: [Rule.NotificationTarget], suppressedBy reason: String?,
        withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        step.deliveries += targets.map { target in
            var delivery = rule.delivery(of: event, to: target, withheld: withheld, at: now.wall, identifier())
            if let reason { (delivery.state, delivery.reason) = (.suppressed, reason) }
            return delivery
        }
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
            "rule '\(memory.key.rule)' does not send '\(MessageFormatter.title(of: event))': "
                + "\(reason) while it was held back")
    }
}

extension RuleMemory {
    /// Whether a message waits to be sent.
    fileprivate var hasWaitingMessage: Bool {
        switch key.slot {
        case .pending, .deferred, .digest: true
        case .limit: count > 0
        case .once, .active, .failed: false
        }
    }

    func nextReminder(_ remind: Reminder) -> Timestamp { (times.last ?? since).advanced(by: remind.every) }
}

extension Rule {
    /// Returns when the next escalation or reminder of an active match is due.
    func nextFollowUp(_ memory: RuleMemory) -> Timestamp? {
        let escalation =
            memory.step < gates.escalate.count ? memory.since.advanced(by: gates.escalate[memory.step].after) : nil
        return [escalation, gates.remind.map(memory.nextReminder)].compactMap { $0 }.min()
    }

    /// Returns whether the event brings a value that ends the reminders.
    func endsReminders(_ event: Event) -> Bool {
        guard let remind = gates.remind, !remind.until.isEmpty, let value = event.item?[field ?? "state"] else {
            return false
        }
        return remind.until.contains(value.description)
    }

    /// Returns whether an event of the same subject changes what the rule is about.
    func isRelevant(_ event: Event) -> Bool {
        event.kind != .changed || field.map { event.change(of: $0) != nil } ?? false
    }

    /// Returns the longest time that a row on the steady clock can wait.
    func maximumDelay(of slot: RuleMemory.Slot) -> Duration {
        var digest = Duration.zero
        if case .every(let interval) = gates.digest?.release { digest = interval }
        return switch slot {
        case .pending: gates.pendingFor
        case .digest: digest
        case .limit: gates.limit?.per ?? .zero
        case .active: max(gates.remind?.every ?? .zero, gates.escalate.last?.after ?? .zero)
        case .deferred, .once, .failed: .zero
        }
    }
}

extension Event {
    /// Returns a reminder of this event.
    /// - Parameter seconds: how long the match has been true.
    func reminder(id: Identifier, at now: Timestamp, after seconds: Double) -> Event {
        var copy = self
        (copy.id, copy.seq, copy.kind, copy.time) = (id, 0, .reminder, now)
        copy.summary = Summary(events: [self.id.description], stood: seconds)
        return copy
    }

    /// Returns the event of a digest. It is in the lane of this event's source, the latest one that was gathered.
    func digest(of memory: RuleMemory, id: Identifier, at now: Timestamp) -> Event {
        var digest = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        digest.summary = Summary(events: memory.events, count: memory.count, lines: memory.lines)
        return digest
    }
}
