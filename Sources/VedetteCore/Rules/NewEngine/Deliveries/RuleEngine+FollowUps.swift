// SPDX-License-Identifier: Apache-2.0

/// `remind` and `escalate`: further messages about a match that was announced and is still true. Matches of one message
/// are announced together again.
extension RuleEngine {
    /// Sends the escalations and the reminder that are due, for all matches that one message announced.
    mutating func sendFollowUps(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        let now = moment.now
        var escalations: [Int: [RuleMemory]] = [:]
        var reminders: [RuleMemory] = []
        for var row in dueTogether(with: row, at: now) {
            guard var told = row.told else { continue }
            let candidate = Candidate(rule: rule, event: told.event, sink: "", content: .followUp)
            let (verdict, gate) = verdict(of: candidate, at: now)
            var reason: String?
            switch verdict {
            case .wait(let waiting) where gate == QuietGate.self:
                (told.due, told.isCivil) = (waiting.until, waiting.isCivil)
                row.told = told
                put(row)
                continue
            case .wait(let waiting): reason = waiting.reason
            case .drop(let why): reason = why
            case .pass, .list: break
            }
            while let step = rule.gates.escalate.indices.first(where: { $0 == told.step }),
                told.since.advanced(by: rule.gates.escalate[step].after) <= now.steady
            {
                told.step += 1
                if let reason {
                    for target in rule.gates.escalate[step].notify {
                        suppress(rule, told.event, reason, for: target.sink, at: moment)
                    }
                } else {
                    escalations[step, default: []].append(row)
                }
            }
            if let remind = rule.gates.remind, told.nextReminder(remind) <= now.steady {
                // One message, however many reminders were missed.
                told.reminded = now.steady
                if let reason { suppress(rule, told.event, reason, at: moment) } else { reminders.append(row) }
            }
            (told.due, told.isCivil) = (rule.nextFollowUp(told), false)
            row.told = told.due == nil && told.sinks.isEmpty ? nil : told
            if row.told?.due == nil { row.group = "" }
            put(row)
        }
        for (step, rows) in escalations.sorted(by: { $0.key < $1.key }) {
            for target in rule.gates.escalate[step].notify { escalate(rows, rule, to: target, at: moment) }
        }
        var made: [[RuleMemory.Key]: Event] = [:]
        for target in rule.notify { remind(of: reminders, rule, target, &made, at: moment) }
    }

    /// Returns the row, and those of the same message that are due as well.
    private func dueTogether(with row: RuleMemory, at now: RuleTime) -> [RuleMemory] {
        guard !row.group.isEmpty else { return [row] }
        let rows = table.keys(in: RowTable.Group(rule: row.key.rule, name: row.group)).compactMap { table[$0] }
        return rows.filter { $0.told?.isDue(at: now) == true && !world.isUncertain($0) }
    }

    /// Sends one escalation about all of the rows. One that a silence withholds from the sink waits for its end.
    private mutating func escalate(
        _ rows: [RuleMemory], _ rule: Rule, to target: Rule.NotificationTarget, at moment: StepContext
    ) {
        var sent: [RuleMemory] = []
        for row in rows {
            guard let event = row.told?.event else { continue }
            guard let silence = world.silence(of: rule, event, sink: target.sink, at: moment.now) else {
                sent.append(row)
                continue
            }
            suppress(rule, event, "silenced: \(silence.description)", for: target.sink, at: moment)
            guard !silence.drops, var kept = table[row.key] else { continue }
            kept.event = kept.event ?? event
            kept.waits.append(RuleMemory.Wait(.firing, target.sink))
            let end = world.silenceEnd(of: rule, event, sink: target.sink, at: moment.now)
            let waiting = Verdict.Waiting(reason: "silenced: \(silence.description)", until: end, isCivil: true)
            kept.wait(target.sink, at: SinkSilencesGate.name, waiting)
            put(kept)
        }
        let events = sent.compactMap { $0.told?.event }
        guard let last = events.last else { return }
        let message =
            events.count > 1 ? last.message(about: events, of: rule, id: moment.identifier(), at: moment.now.wall) : last
        deliver(rule, message, to: target, at: moment)
        noteFollowUps(sent, rule, target.sink)
    }

    /// Sends one reminder of all rows to a sink.
    private mutating func remind(
        of rows: [RuleMemory], _ rule: Rule, _ target: Rule.NotificationTarget, _ made: inout [[RuleMemory.Key]: Event],
        at moment: StepContext
    ) {
        var sent: [(row: RuleMemory, event: Event)] = []
        for row in rows {
            guard let told = row.told else { continue }
            let seconds = max(0, moment.now.steady.seconds(since: told.since))
            let event =
                made[[row.key]] ?? told.event.reminder(id: moment.identifier(), at: moment.now.wall, after: seconds)
            made[[row.key]] = event
            if let silence = world.silence(of: rule, event, sink: target.sink, at: moment.now) {
                suppress(rule, event, "silenced: \(silence.description)", for: target.sink, at: moment)
            } else {
                sent.append((row, event))
            }
        }
        guard let last = sent.last?.event else { return }
        var message = last
        if sent.count > 1 {
            let keys = sent.map(\.row.key)
            message =
                made[keys]
                ?? last.message(about: sent.map(\.event), of: rule, id: moment.identifier(), at: moment.now.wall)
            message.kind = .reminder
            made[keys] = message
        }
        deliver(rule, message, to: target, at: moment)
        noteFollowUps(sent.map(\.row), rule, target.sink)
    }

    private mutating func noteFollowUps(_ rows: [RuleMemory], _ rule: Rule, _ sink: String) {
        for key in rows.map(\.key) {
            guard var row = table[key] else { continue }
            noteFollowUp(&row, rule, sink)
            if row != table[key] { put(row) }
        }
    }
}

extension RuleMemory.Told {
    func nextReminder(_ remind: Reminder) -> Timestamp { (reminded ?? since).advanced(by: remind.every) }
}

extension Rule {
    /// Returns when the next escalation or reminder of a match is due.
    func nextFollowUp(_ told: RuleMemory.Told) -> Timestamp? {
        let escalation =
            told.step < gates.escalate.count ? told.since.advanced(by: gates.escalate[told.step].after) : nil
        return [escalation, gates.remind.map(told.nextReminder)].compactMap { $0 }.min()
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
