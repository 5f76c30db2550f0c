// SPDX-License-Identifier: Apache-2.0

/// What comes of matches in the end: messages, and what is remembered after them.
extension RuleEngine {
    /// A message to each of the rule's sinks.
    mutating func send(
        _ rule: Rule, _ event: Event, held: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        step.deliveries += rule.notify.map { rule.delivery(of: event, to: $0, held: held, at: now.wall, identifier()) }
        stand(rule, event, at: now)
    }

    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        step.deliveries += rule.notify.map { notice in
            var delivery = rule.delivery(of: event, to: notice, at: now.wall, identifier())
            (delivery.state, delivery.reason) = (.suppressed, reason)
            return delivery
        }
    }

    /// What is said now will be said again, or to others, while it is so.
    private mutating func stand(_ rule: Rule, _ event: Event, at now: RuleTime) {
        let speaksAgain = rule.gates.remind != nil || !rule.gates.escalate.isEmpty
        guard speaksAgain || rule.seeks, event.kind != .digest else { return }
        let key = RuleMemory.Key(rule: rule.name, slot: .standing, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        memory.due = rule.nextWord(memory)
        // Of a rule that seeks what is so, it is remembered that it was said: what it finds again is no news.
        if memory.due != nil || rule.seeks { put(memory) }
    }

    /// A later event of a subject that something is remembered of.
    mutating func reconsider(_ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        for key in (bySubject[Subject(event)] ?? []).sorted(by: {
            ($0.rule, $0.slot.rawValue) < ($1.rule, $1.slot.rawValue)
        }) {
            guard var memory = memories[key], let rule = rule(of: key) else { continue }
            let isStill = rule.when.persists(after: event)
            switch key.slot {
            case .held, .deferred:
                guard !isStill else { continue }
                forget(key)
                guard let past = memory.event else { continue }
                suppress(rule, past, "no longer so after \(memory.age(at: now))", at: now, identifier)
            case .standing:
                if !isStill || rule.endsReminders(event) { forget(key) }
            case .limit where memory.count > 0:
                // Nobody is left believing an old state.
                memory.event = event
                put(memory)
            case .limit, .digest, .once: continue
            }
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
        case .digest:
            forget(memory.key)
            limitDigest(memory, rule, at: now, identifier)
        case .limit: windowMoved(memory, rule, at: now, identifier)
        case .standing: speakAgain(memory, rule, at: now, identifier)
        case .once: break
        }
    }

    private mutating func limitDigest(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return }
        if memory.count == 1 { return limit(rule, event, count: 0, at: now, identifier) }
        limit(rule, event.digest(of: memory, id: identifier(), at: now.wall), count: 0, at: now, identifier)
    }

    /// The oldest message left the sliding window: what was held back is said, in its latest state.
    private mutating func windowMoved(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit else { return forget(memory.key) }
        var memory = memory
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        if memory.count > 0, memory.times.count < limit.count, let event = memory.event {
            let held = memory.count - 1
            memory.times.append(now.steady)
            (memory.count, memory.event) = (0, nil)
            send(rule, event, held: held, at: now, identifier)
        }
        guard let first = memory.times.first else { return forget(memory.key) }
        memory.due = first.advanced(by: limit.per)
        put(memory)
    }

    private mutating func speakAgain(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let event = memory.event else { return forget(memory.key) }
        var memory = memory
        let isSilent = silences.contains { $0.covers(rule: rule.name, event, at: now.wall) }
        while memory.step < rule.gates.escalate.count,
            memory.since.advanced(by: rule.gates.escalate[memory.step].after) <= now.steady
        {
            let notices = rule.gates.escalate[memory.step].notify
            memory.step += 1
            guard !isSilent else { continue }
            step.deliveries += notices.map { rule.delivery(of: event, to: $0, at: now.wall, identifier()) }
        }
        if let remind = rule.gates.remind, memory.nextReminder(remind) <= now.steady {
            // One, however many were missed.
            memory.times = [now.steady]
            let isQuiet = rule.gates.quiet?.windows.contains { $0.end(of: now.wall, civil) != nil } ?? false
            if !isSilent, !isQuiet {
                let reminder = event.reminder(id: identifier(), at: now.wall, after: memory.seconds(at: now))
                step.deliveries += rule.notify.map {
                    rule.delivery(of: reminder, to: $0, at: now.wall, identifier())
                }
            }
        }
        memory.due = rule.nextWord(memory)
        if memory.due == nil, !rule.seeks { forget(memory.key) } else { put(memory) }
    }

    /// Of a rule that is gone or says something else now: what it held is not said.
    mutating func abandon(_ memory: RuleMemory, reason: String, at now: RuleTime) {
        forget(memory.key)
        guard let event = memory.event, memory.key.slot != .standing else { return }
        step.abandoned.append("\(reason): it does not say '\(Wording.title(of: event))'")
    }
}

extension RuleMemory {
    func age(at now: RuleTime) -> String { Wording.duration(seconds: seconds(at: now)) }
    func seconds(at now: RuleTime) -> Double { max(0, now.steady.seconds(since: since)) }

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

    /// The longest that anything on the steady clock can have to wait.
    var longestWait: Duration {
        var digest = Duration.zero
        if case .every(let interval) = gates.digest?.release { digest = interval }
        let waits = [gates.hold, digest, gates.limit?.per, gates.remind?.every, gates.escalate.last?.after]
        return waits.compactMap { $0 }.max() ?? .zero
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
