// SPDX-License-Identifier: Apache-2.0

/// `remind` and `escalate`: further messages about a match that was announced and is still true. Matches of one message
/// are announced together again.
extension RuleEngine {
    /// Remembers a match for which a message was sent, for `remind` and `escalate`.
    /// - Parameter group: the message, when it announced several matches; empty when it announced this one alone.
    mutating func activate(_ rule: Rule, _ event: Event, group: String = "", at now: RuleTime) {
        guard rule.gates.nothing == .zero else { return rememberToldAbsence(rule, event) }
        let hasFollowUps = rule.gates.remind != nil || !rule.gates.escalate.isEmpty
        // The last message of a limit may be about an event that ended the match.
        guard hasFollowUps, event.kind != .digest, event.kind != .resolved,
            rule.when.matches(announcedValues(in: event, rule))
        else { return }
        let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        if let old = memories[key], old.due != nil || old.isAnnounced, !rule.when.restartsWait {
            // A further message about a match that is active already.
            (memory.since, memory.step, memory.times) = (old.since, old.step, [now.steady])
        }
        (memory.isAnnounced, memory.group) = (true, group)
        memory.due = rule.endsReminders(event) ? nil : rule.nextFollowUp(memory)
        if memory.due != nil { put(memory) }
    }

    mutating func endReminders(_ memory: RuleMemory, _ rule: Rule) {
        guard rule.matchesExisting else { return forget(memory.key) }
        var memory = memory
        memory.due = nil
        put(memory)
    }

    // MARK: Digests

    /// `digest` with `remind`: remembers a match that waits in a digest. One that is reminded of already stays as it is.
    mutating func prepareReminder(_ rule: Rule, _ event: Event, in group: String, at now: RuleTime) {
        let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
        guard rule.gates.remind != nil, event.kind != .digest, memories[key]?.due == nil else { return }
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        memory.group = group
        put(memory)
    }

    /// Moves the matches of a digest to the message that announces them.
    mutating func moveReminders(of rule: Rule, from group: String, to message: String) {
        for key in RuleEngine.ordered(groups[RowGroup(rule: rule.name, slot: .active, name: group)] ?? []) {
            guard var memory = memories[key] else { continue }
            memory.group = message
            put(memory)
        }
    }

    /// Starts the reminders of the matches that a digest announces and that are still true.
    mutating func activateDigest(_ rule: Rule, _ digest: Event, at now: RuleTime) {
        let group = digest.id.description
        for key in RuleEngine.ordered(groups[RowGroup(rule: rule.name, slot: .active, name: group)] ?? []) {
            if let event = memories[key]?.event { activate(rule, event, group: group, at: now) }
            if memories[key]?.isAnnounced == false, !rule.matchesExisting { forget(key) }
        }
    }

    /// Forgets the matches of a digest that is never sent.
    mutating func forgetReminders(of rule: Rule, _ digest: Event) {
        guard digest.kind == .digest else { return }
        for key in groups[RowGroup(rule: rule.name, slot: .active, name: digest.id.description)] ?? [] { forget(key) }
    }

    // MARK: Follow-ups

    /// Sends the escalations and the reminder that are due, for all matches that one message announced.
    mutating func sendFollowUps(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        guard memory.event != nil else { return forget(memory.key) }
        guard !deferInQuietTime(memory, rule, at: now) else { return }
        var escalations: [Int: [Event]] = [:]
        var reminders: [Event] = []
        for memory in dueTogether(with: memory, at: now) {
            guard let event = memory.event else { continue }
            var memory = memory
            let reason = obstacle(rule, event, at: now)?.reason
            while let step = rule.gates.escalate.indices.first(where: { $0 == memory.step }),
                memory.since.advanced(by: rule.gates.escalate[step].after) <= now.steady
            {
                memory.step += 1
                if let reason {
                    deliver(
                        rule, event, to: rule.gates.escalate[step].notify, suppressedBy: reason, at: now, identifier)
                } else {
                    escalations[step, default: []].append(event)
                }
            }
            if let remind = rule.gates.remind, memory.nextReminder(remind) <= now.steady {
                // One message, however many reminders were missed.
                memory.times = [now.steady]
                if let reason {
                    suppress(rule, event, reason, at: now, identifier)
                } else {
                    reminders.append(event.reminder(id: identifier(), at: now.wall, after: memory.seconds(at: now)))
                }
            }
            (memory.due, memory.isCivil) = (rule.nextFollowUp(memory), false)
            if memory.due == nil, !rule.matchesExisting {
                forget(memory.key)
            } else {
                put(memory)
            }
        }
        for (step, events) in escalations.sorted(by: { $0.key < $1.key }) {
            sendTogether(rule, events, to: rule.gates.escalate[step].notify, at: now, identifier)
        }
        sendTogether(rule, reminders, to: rule.notify, at: now, identifier)
    }

    /// Returns the row, and those of the same message that are due as well.
    private func dueTogether(with memory: RuleMemory, at now: RuleTime) -> [RuleMemory] {
        guard !memory.group.isEmpty else { return [memory] }
        let rows = RuleEngine.ordered(groups[RowGroup(memory)] ?? []).compactMap { memories[$0] }
        return rows.filter { $0.isDue(at: now) && !isUncertain($0) }
    }

    /// Sends one message about all of the events.
    private mutating func sendTogether(
        _ rule: Rule, _ events: [Event], to targets: [Rule.NotificationTarget], at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        guard let last = events.last else { return }
        guard events.count > 1 else {
            deliver(rule, last, to: targets, suppressedBy: nil, at: now, identifier)
            return
        }
        var message = last.message(about: events, of: rule, id: identifier(), at: now.wall)
        // A silence of one sink keeps digests, but no reminders.
        if last.kind == .reminder { message.kind = .reminder }
        deliverTogether(rule, events, as: message, to: targets, at: now, identifier)
    }
}

extension RuleMemory {
    func nextReminder(_ remind: Reminder) -> Timestamp { (times.last ?? since).advanced(by: remind.every) }
}

extension RuleMemory.Key {
    /// The group of the matches that wait in this digest.
    var reminderGroup: String { "digest " + name }
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
}

extension Event {
    /// Returns a reminder of this event.
    /// - Parameter seconds: how long the match has been true.
    func reminder(id: Identifier, at now: Timestamp, after seconds: Double) -> Event {
        var copy = self
        (copy.id, copy.seq, copy.kind, copy.time) = (id, 0, .reminder, now)
        copy.summary = Summary(events: [self.id.description], stood: seconds, cause: kind)
        copy.summary?.title = MessageTitle.ofReminder(self)
        return copy
    }
}
