// SPDX-License-Identifier: Apache-2.0

/// What comes of matches in the end: messages, and what is remembered after them.
extension RuleEngine {
    /// A message to each of the rule's sinks.
    mutating func send(
        _ rule: Rule, _ event: Event, held: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, unless: nil, held: held, at: now, identifier)
        stand(rule, event, at: now)
    }

    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, unless: reason, at: now, identifier)
    }

    /// What is said now will be said again, or to others, while it is so.
    private mutating func stand(_ rule: Rule, _ event: Event, at now: RuleTime) {
        let speaksAgain = rule.gates.remind != nil || !rule.gates.escalate.isEmpty
        // The last word of a limit may say that it is over.
        guard speaksAgain, event.kind != .digest, rule.when.isMet(by: event) else { return }
        let key = RuleMemory.Key(rule: rule.name, slot: .standing, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        if let old = memories[key], old.due != nil, !rule.when.waitsForRest {
            // Another word on what stands already.
            (memory.since, memory.step, memory.times) = (old.since, old.step, [now.steady])
        }
        memory.due = rule.nextWord(memory)
        if memory.due != nil { put(memory) }
    }

    /// A later event of a subject that something is remembered of.
    mutating func reconsider(_ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        for key in RuleEngine.ordered(bySubject[Subject(event)] ?? []) {
            guard let memory = memories[key], let rule = rule(of: key) else { continue }
            reconsider(memory, rule, event, at: now, identifier)
        }
    }

    mutating func reconsider(
        _ memory: RuleMemory, _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let past = memory.event else { return }
        switch memory.key.slot {
        case .held, .deferred, .standing:
            let isOver = !rule.when.persists(since: past, after: event)
            if isOver || (memory.key.slot == .standing && rule.endsReminders(event)) {
                end(memory, rule, "no longer so after \(memory.age(at: now))", at: now, identifier)
            } else if event.kind != .disappeared {
                show(event, in: memory)
            }
        case .limit where memory.count > 0:
            guard rule.isNews(event) else { return show(event, in: memory) }
            // Nobody is left believing an old state.
            var memory = memory
            (memory.event, memory.isAfter) = (event, true)
            put(memory)
        case .limit, .digest, .once: return
        }
    }

    /// What is said later shows the item as it is then.
    private mutating func show(_ event: Event, in memory: RuleMemory) {
        guard let item = event.item, memory.event?.item != item else { return }
        var memory = memory
        memory.event?.item = item
        put(memory)
    }

    /// The match is over.
    mutating func end(
        _ memory: RuleMemory, _ rule: Rule, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return }
        switch memory.key.slot {
        case .held:
            forget(memory.key)
            suppress(rule, event, reason, at: now, identifier)
        case .deferred:
            // Should it come back before the quiet time ends, it says how often it was so.
            var memory = memory
            (memory.count, memory.event) = (memory.count + 1, nil)
            put(memory)
            suppress(rule, event, reason, at: now, identifier)
        case .standing: forget(memory.key)
        case .limit, .digest, .once: return
        }
    }

    /// Something remembered is due.
    mutating func elapsed(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        switch memory.key.slot {
        case .held:
            forget(memory.key)
            if let event = memory.event { release(rule, event, at: now, identifier) }
        case .deferred:
            forget(memory.key)
            // The gates once more: a silence may have begun, another quiet time too.
            if let event = memory.event { release(rule, event, count: memory.count, at: now, identifier) }
        case .digest: releaseDigest(memory, rule, at: now, identifier)
        case .limit: windowMoved(memory, rule, at: now, identifier)
        case .standing: speakAgain(memory, rule, at: now, identifier)
        case .once: break
        }
    }

    private mutating func releaseDigest(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard !waits(memory, rule, at: now) else { return }
        forget(memory.key)
        guard var event = memory.event else { return }
        if memory.count > 1 { event = event.digest(of: memory, id: identifier(), at: now.wall) }
        if let reason = whySilent(rule, event, at: now) { return suppress(rule, event, reason, at: now, identifier) }
        limit(rule, event, count: 0, at: now, identifier)
    }

    /// What was held back before a quiet time began, and is due in it, waits for its end.
    private mutating func waits(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime) -> Bool {
        guard let (_, _, end) = quietTime(of: rule, at: now) else { return false }
        var memory = memory
        (memory.due, memory.isCivil) = (end, true)
        put(memory)
        return true
    }

    /// The oldest message left the sliding window: what was held back is said, in its latest state.
    private mutating func windowMoved(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit else { return forget(memory.key) }
        var memory = memory
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        if memory.count > 0, memory.times.count < limit.count, let event = memory.event {
            guard !waits(memory, rule, at: now) else { return }
            let held = memory.isAfter ? memory.count : memory.count - 1
            (memory.count, memory.event, memory.isAfter) = (0, nil, false)
            if let reason = whySilent(rule, event, at: now) {
                suppress(rule, event, reason, at: now, identifier)
            } else {
                memory.times.append(now.steady)
                send(rule, event, held: held, at: now, identifier)
            }
        }
        guard let first = memory.times.first else { return forget(memory.key) }
        (memory.due, memory.isCivil) = (first.advanced(by: limit.per), false)
        put(memory)
    }

    private mutating func speakAgain(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return forget(memory.key) }
        guard !waits(memory, rule, at: now) else { return }
        var memory = memory
        let silence = whySilent(rule, event, at: now)
        while memory.step < rule.gates.escalate.count,
            memory.since.advanced(by: rule.gates.escalate[memory.step].after) <= now.steady
        {
            let notices = rule.gates.escalate[memory.step].notify
            memory.step += 1
            deliver(rule, event, to: notices, unless: silence, at: now, identifier)
        }
        if let remind = rule.gates.remind, memory.nextReminder(remind) <= now.steady {
            // One, however many were missed.
            memory.times = [now.steady]
            let reminder = event.reminder(id: identifier(), at: now.wall, after: memory.seconds(at: now))
            deliver(rule, silence == nil ? reminder : event, to: rule.notify, unless: silence, at: now, identifier)
        }
        (memory.due, memory.isCivil) = (rule.nextWord(memory), false)
        if memory.due == nil, !rule.matchesExisting { forget(memory.key) } else { put(memory) }
    }

    /// - Parameter reason: why nobody hears of it.
    private mutating func deliver(
        _ rule: Rule, _ event: Event, to notices: [Rule.NotificationTarget], unless reason: String?, held: Int = 0,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        step.deliveries += notices.map { notice in
            var delivery = rule.delivery(of: event, to: notice, held: held, at: now.wall, identifier())
            if let reason { (delivery.state, delivery.reason) = (.suppressed, reason) }
            return delivery
        }
    }

    /// Of a rule that is gone or says something else now, or a source that is gone: what it held is not said, and
    /// `explain` tells so.
    /// - Parameter rule: as it was, or as it is now; nil when nobody knows any more to whom it spoke.
    mutating func abandon(
        _ memory: RuleMemory, of rule: Rule?, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event, memory.isPending else { return }
        let nobody = Rule(name: memory.key.rule, when: .any([]), notify: [Rule.NotificationTarget(sink: "nobody")])
        suppress(rule ?? nobody, event, "\(reason) while it was held back", at: now, identifier)
        step.abandoned.append(
            "rule '\(memory.key.rule)' does not say '\(MessageFormatter.title(of: event))': \(reason) while it was held back"
        )
    }
}

extension RuleMemory {
    /// Somebody waits to hear of it.
    fileprivate var isPending: Bool {
        switch key.slot {
        case .held, .deferred, .digest: true
        case .limit: count > 0
        case .once, .standing: false
        }
    }

    func nextReminder(_ remind: Reminder) -> Timestamp { (times.last ?? since).advanced(by: remind.every) }
}

extension Rule {
    /// When a standing match is spoken of next.
    func nextWord(_ memory: RuleMemory) -> Timestamp? {
        let escalation =
            memory.step < gates.escalate.count ? memory.since.advanced(by: gates.escalate[memory.step].after) : nil
        return [escalation, gates.remind.map(memory.nextReminder)].compactMap { $0 }.min()
    }

    func endsReminders(_ event: Event) -> Bool {
        guard let remind = gates.remind, !remind.until.isEmpty, let value = event.item?[field ?? "state"] else {
            return false
        }
        return remind.until.contains(value.description)
    }

    /// Whether an event of the same subject tells something new of what the rule speaks of.
    func isNews(_ event: Event) -> Bool {
        event.kind != .changed || field.map { event.change(of: $0) != nil } ?? false
    }

    /// The longest that what is remembered on the steady clock can have to wait.
    func longestWait(of slot: RuleMemory.Slot) -> Duration {
        var digest = Duration.zero
        if case .every(let interval) = gates.digest?.release { digest = interval }
        return switch slot {
        case .held: gates.hold
        case .digest: digest
        case .limit: gates.limit?.per ?? .zero
        case .standing: max(gates.remind?.every ?? .zero, gates.escalate.last?.after ?? .zero)
        case .deferred, .once: .zero
        }
    }
}

extension Event {
    /// The same item, said again.
    func reminder(id: Identifier, at now: Timestamp, after seconds: Double) -> Event {
        var copy = self
        (copy.id, copy.seq, copy.kind, copy.time) = (id, 0, .reminder, now)
        copy.summary = Summary(events: [self.id.description], stood: seconds)
        return copy
    }

    /// One for all that a digest gathered; it stands in the lane of the latest one's source.
    func digest(of memory: RuleMemory, id: Identifier, at now: Timestamp) -> Event {
        var digest = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        digest.summary = Summary(events: memory.events, count: memory.count, lines: memory.lines)
        return digest
    }
}
