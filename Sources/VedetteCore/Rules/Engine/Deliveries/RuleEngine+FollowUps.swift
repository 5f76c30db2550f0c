// SPDX-License-Identifier: Apache-2.0

/// `remind` and `escalate`: further messages about a match that was announced and is still true. Matches of one message
/// are announced together again.
extension RuleEngine {
    /// How soon a reminder of `nothing` is asked for again while its source cannot be read.
    private static let retryOfFollowUp = Duration.seconds(60)

    /// What a reminder or an escalation says of one row, and the sinks for which it is due.
    private typealias Part = (key: RuleMemory.Key, event: Event, sinks: [String])

    /// Sends the escalations and the reminder that are due, for all matches that one message announced.
    mutating func sendFollowUps(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        let now = moment.now
        var escalations: [Int: [Part]] = [:]
        var reminders: [Part] = []
        for var row in dueTogether(with: row, at: now) {
            guard var told = row.told, let event = row.firingMatch else { continue }
            var reason: String?
            let candidate = Candidate(rule: rule, event: event, sink: "", content: .followUp)
            switch verdict(of: candidate, at: now) {
            case (.wait(let waiting), let gate):
                if gate.leavesRecord, told.gate != gate.name {
                    suppress(rule, event, waiting.reason, at: moment)
                }
                told.follow(at: waiting.until, isCivil: waiting.isCivil, gate: gate.name)
                row.told = told
                put(row)
                continue
            case (.drop(let why), _): reason = why
            case (.pass, _), (.list, _):
                // Whether there still was no match is unknown.
                if rule.gates.nothing > .zero, isAbsenceUnknown(rule) {
                    told.follow(at: now.steady.advanced(by: RuleEngine.retryOfFollowUp))
                    row.told = told
                    put(row)
                    continue
                }
            }
            while told.step < rule.gates.escalate.count,
                told.since.advanced(by: rule.gates.escalate[told.step].after) <= now.steady
            {
                if let reason {
                    for target in rule.gates.escalate[told.step].notify {
                        suppress(rule, event, reason, for: target.sink, at: moment)
                    }
                } else {
                    let sinks = rule.gates.escalate[told.step].notify.map(\.sink)
                    escalations[told.step, default: []].append((row.key, event, sinks))
                }
                told.step += 1
            }
            let sinks = rule.sinksToRemind(told, at: now)
            // One message, however many reminders were missed.
            for sink in sinks { told.noteMessage(to: sink, rule, at: now.steady) }
            if let reason {
                suppress(rule, event, reason, to: sinks, at: moment)
            } else if !sinks.isEmpty {
                reminders.append((row.key, rule.reminder(of: event, told, moment), sinks))
            }
            told.follow(at: rule.nextFollowUp(told))
            row.told = rule.needs(told) ? told : nil
            if told.due == nil { row.group = "" }
            put(row)
        }
        for (number, parts) in escalations.sorted(by: { $0.key < $1.key }) {
            sendTogether(parts, rule, to: rule.gates.escalate[number].notify, at: moment)
        }
        sendTogether(reminders, rule, to: rule.notify, at: moment)
    }

    /// Sends the reminders and escalations that a gate withheld and no longer withholds. An item whose source is uncertain waits
    /// for a good poll.
    mutating func askForFollowUps(
        of keys: [RuleMemory.Key], _ rule: Rule, _ group: RowTable.Group, at moment: StepContext
    ) {
        guard let gate = group.gate else { return }
        let withheld = keys.filter { table[$0]?.told?.gate == gate }
        for key in withheld {
            guard var row = table[key] else { continue }
            row.told?.follow(at: moment.now.steady, gate: gate)
            put(row)
        }
        for key in withheld {
            guard let row = table[key], row.told?.isDue(at: moment.now) == true, !world.isUncertain(row) else {
                continue
            }
            sendFollowUps(row, rule, at: moment)
        }
    }

    /// Returns the row, and the other rows of its message that are due.
    private func dueTogether(with row: RuleMemory, at now: RuleTime) -> [RuleMemory] {
        guard !row.group.isEmpty else { return [row] }
        let rows = table.keys(in: RowTable.Group(rule: row.key.rule, name: row.group)).compactMap { table[$0] }
        return rows.filter { $0.told?.isDue(at: now) == true && !world.isUncertain($0) }
    }

    /// Sends each sink one message about the parts that no silence withholds from it.
    private mutating func sendTogether(
        _ parts: [Part], _ rule: Rule, to targets: [Rule.NotificationTarget], at moment: StepContext
    ) {
        var made: [SeveralRows<RuleMemory.Key>: Event] = [:]
        for target in targets {
            var sent: [Part] = []
            for part in parts where part.sinks.contains(target.sink) {
                if let silence = world.silences.silence(of: rule, part.event, sink: target.sink, at: moment.now) {
                    suppress(rule, part.event, "silenced: \(silence.description)", for: target.sink, at: moment)
                    guard !silence.drops else { continue }
                    let end = world.silences.end(of: rule, part.event, sink: target.sink, at: moment.now)
                    let waiting = Verdict.Waiting(
                        reason: "silenced: \(silence.description)", until: end, isCivil: true)
                    keepEscalation(part, rule, target.sink, waiting, moment.now)
                } else {
                    sent.append(part)
                }
            }
            guard !target.tellsEach else {
                for part in sent {
                    deliver(rule, part.event, to: target, at: moment)
                    noteFollowUp(part.key, rule, target.sink)
                }
                continue
            }
            guard let last = sent.last?.event else { continue }
            var message = last
            if sent.count > 1 {
                let shown = sent.map { self.shown($0.event, rule, to: target.sink) }
                let several = SeveralRows(sent.map(\.key), shown, of: rule)
                message =
                    made[several] ?? last.message(about: shown, of: rule, id: moment.identifier(), at: moment.now.wall)
                if last.kind == .reminder { message.kind = .reminder }
                made[several] = message
            }
            deliver(rule, message, to: target, at: moment)
            for part in sent { noteFollowUp(part.key, rule, target.sink) }
        }
    }

    /// Lets an escalation that a silence of one sink withholds wait for its end; a reminder does not.
    private mutating func keepEscalation(
        _ part: Part, _ rule: Rule, _ sink: String, _ waiting: Verdict.Waiting, _ now: RuleTime
    ) {
        let key = part.key
        var row = table[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        guard part.event.kind != .reminder,
            !row.waits.contains(where: { $0.sink == sink && $0.content != .count })
        else { return }
        row.event = row.event ?? part.event
        var wait = RuleMemory.Wait(.firing, sink)
        // What was withheld of an earlier match, which is over.
        wait.count = row.waits.first { $0.sink == sink }?.count ?? 0
        row.waits.removeAll { $0.sink == sink }
        row.waits.append(wait)
        row.wait(sink, at: SinkSilencesGate.name, waiting)
        put(row)
    }

    /// Remembers the sinks that were told a reminder or an escalation: they are told the end, too.
    private mutating func noteFollowUp(_ key: RuleMemory.Key, _ rule: Rule, _ sink: String) {
        guard var row = table[key], let told = row.told, rule.remembersSinks(told.event), !told.sinks.contains(sink)
        else { return }
        row.told?.sinks = (told.sinks + [sink]).sorted()
        put(row)
    }
}

extension RuleMemory.Told {
    /// Returns when the next reminder to a sink is due. Where it is unknown which sinks were told what, it goes with the last one
    /// that was.
    func nextReminder(_ remind: Reminder, to sink: String) -> Timestamp {
        (lastMessages[sink] ?? lastMessages.values.max() ?? since).advanced(by: remind.every)
    }

    /// Notes a message from which the next reminder to the sink counts. Escalations have no reminders.
    mutating func noteMessage(to sink: String, _ rule: Rule, at now: Timestamp) {
        guard rule.gates.remind != nil, rule.notify.contains(where: { $0.sink == sink }) else { return }
        lastMessages[sink] = now
    }
}

extension Rule {
    /// Returns when the next escalation or reminder of a match is due.
    func nextFollowUp(_ told: RuleMemory.Told) -> Timestamp? {
        let escalation =
            told.step < gates.escalate.count ? told.since.advanced(by: gates.escalate[told.step].after) : nil
        let reminders = gates.remind.map { remind in remindedSinks(told).map { told.nextReminder(remind, to: $0) } }
        return ((reminders ?? []) + [escalation].compactMap { $0 }).min()
    }

    /// Returns the sinks that are reminded. One that was added to the rule since, or for which the match was dropped, is told
    /// later matches alone.
    func remindedSinks(_ told: RuleMemory.Told) -> [String] {
        let sinks = notify.map(\.sink)
        return told.lastMessages.isEmpty ? sinks : sinks.filter { told.lastMessages[$0] != nil }
    }

    /// Returns the sinks for which a reminder is due.
    fileprivate func sinksToRemind(_ told: RuleMemory.Told, at now: RuleTime) -> [String] {
        guard let remind = gates.remind else { return [] }
        return remindedSinks(told).filter { told.nextReminder(remind, to: $0) <= now.steady }
    }

    fileprivate func reminder(of event: Event, _ told: RuleMemory.Told, _ moment: StepContext) -> Event {
        let seconds = max(0, moment.now.steady.seconds(since: told.since))
        var reminder = event.reminder(id: moment.identifier(), at: moment.now.wall, after: seconds)
        if gates.nothing > .zero {
            reminder.summary?.title = MessageTitle.ofAbsence(self, after: gates.nothing.inSeconds + seconds)
        }
        return reminder
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
