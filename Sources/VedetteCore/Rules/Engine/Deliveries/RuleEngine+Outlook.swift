// SPDX-License-Identifier: Apache-2.0

/// What would happen now about one subject of a rule, for `explain --now`. The gates are asked as when a message is made; nothing
/// is changed.
extension RuleEngine {
    /// What one sink would get.
    public struct Outlook: Sendable, Hashable {
        /// What it is to be told.
        public enum Content: Sendable { case match, end, state, reminder, escalation }
        /// What would become of it.
        public enum Outcome: Sendable, Hashable {
            case told
            /// - Parameter gate: the name of the gate that withholds it.
            case waits(gate: String, reason: String, until: Timestamp?)
            case dropped(reason: String)
            /// It is in the digest that is sent then.
            case listed(until: Timestamp?)
        }

        /// The name of the sink.
        public var sink: String
        /// What it is to be told.
        public var content: Content
        /// What would become of it.
        public var outcome: Outcome
    }

    /// Returns what each sink waits for, in the order of the rule's sinks; none for a sink for which there is nothing to do.
    public func outlook(of rule: Rule, _ subject: Subject, at now: RuleTime) -> [Outlook] {
        var outlooks = listed(subject, by: rule)
        guard let row = table[rule.key(of: subject)] else { return outlooks }
        outlooks += row.waits.filter { $0.content != .count }.compactMap { wait in
            (row.event ?? row.told?.event).map { event in
                let isLate = row.isLate(wait.content == .end ? .end : .firing, rule)
                let content: Outlook.Content =
                    switch wait.content {
                    case .end: .end
                    case .latest: .state
                    default: .match
                    }
                let candidate = Candidate(rule, event, wait, isLate: isLate)
                return Outlook(sink: wait.sink, content: content, outcome: outcome(of: candidate, at: now))
            }
        }
        if let held = row.held {
            let span = DurationText.long(seconds: rule.gates.pendingFor.inSeconds)
            let reason = rule.when.age == nil ? "it must stay so for \(span)" : "it is not old enough"
            outlooks += rule.notify.map {
                Outlook(
                    sink: $0.sink, content: .match,
                    outcome: .waits(gate: ForGate.name, reason: reason, until: held.due))
            }
        }
        return (outlooks + followUps(row, rule, at: now)).sorted { order(of: $0, rule) < order(of: $1, rule) }
    }

    /// The logs that list it.
    private func listed(_ subject: Subject, by rule: Rule) -> [Outlook] {
        table.all.filter { log in
            log.key.slot == .log && log.key.rule == rule.name
                && log.parts.contains { $0.source == subject.source && $0.key == subject.key }
        }.flatMap { log in
            log.sinks.map { Outlook(sink: $0, content: .match, outcome: .listed(until: log.due)) }
        }
    }

    private func order(of outlook: Outlook, _ rule: Rule) -> Int {
        rule.allTargets.firstIndex { $0.sink == outlook.sink } ?? rule.allTargets.count
    }

    /// The reminder and the escalation that come next.
    private func followUps(_ row: RuleMemory, _ rule: Rule, at now: RuleTime) -> [Outlook] {
        guard rule.hasFollowUps, let told = row.told, let event = row.firingMatch, !rule.endsReminders(event) else {
            return []
        }
        func outlook(_ sink: String, _ content: Outlook.Content, due: Timestamp) -> Outlook {
            var candidate = Candidate(rule: rule, event: event, sink: sink, content: .followUp)
            candidate.gate = ConfirmedGate.name
            var outcome = outcome(of: candidate, at: now)
            // What was acknowledged has no due time.
            if told.due != nil, due > now.steady { outcome = .waits(gate: "", reason: "it is not due", until: due) }
            return Outlook(sink: sink, content: content, outcome: outcome)
        }
        let reminders = rule.gates.remind.map { remind in
            rule.remindedSinks(told).map { outlook($0, .reminder, due: told.nextReminder(remind, to: $0)) }
        }
        guard told.step < rule.gates.escalate.count else { return reminders ?? [] }
        let next = rule.gates.escalate[told.step]
        return (reminders ?? [])
            + next.notify.map { outlook($0.sink, .escalation, due: told.since.advanced(by: next.after)) }
    }

    private func outcome(of candidate: Candidate, at now: RuleTime) -> Outlook.Outcome {
        let (verdict, gate) = verdict(of: candidate, at: now)
        switch verdict {
        case .pass: return .told
        // It is asked again in the same step.
        case .wait(let waiting) where waiting.joinsStep: return .told
        case .wait(let waiting):
            return .waits(gate: gate.name, reason: waiting.reason, until: waiting.awaitsPoll ? nil : waiting.until)
        case .drop(let reason): return .dropped(reason: reason)
        case .list(let target): return .listed(until: target.due)
        }
    }
}
