// SPDX-License-Identifier: Apache-2.0

/// `vedette ack`: somebody works on a match, so that there are no reminders and no escalations of it until it changes.
enum AcknowledgedGate: Gate {
    static let name = "acknowledged"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { candidate.content == .followUp }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        let row = engine.table[candidate.rule.key(of: Subject(candidate.event))]
        guard let acknowledgement = row?.acknowledgement else { return .pass }
        return .wait(Verdict.Waiting(reason: "acknowledged \(acknowledgement.description)"))
    }
}

extension RuleEngine {
    /// Notes that somebody works on a match. Nothing is changed when another match has taken its place meanwhile.
    /// - Parameter acknowledgement: nil when nobody works on it any more: what was due meanwhile is sent.
    public mutating func acknowledge(
        _ name: String, _ subject: Subject, _ acknowledgement: Acknowledgement?, at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            guard let rule = engine.rules.heir(of: name), var row = engine.table[rule.key(of: subject)],
                var told = row.told
            else { return }
            guard let match = row.firingMatch else {
                // A match that goes on after its end is not to be acknowledged any more.
                if acknowledgement == nil, told.acknowledgement != nil {
                    row.told?.acknowledgement = nil
                    engine.put(row)
                }
                return
            }
            guard acknowledgement?.match ?? match.id.description == match.id.description else { return }
            told.acknowledgement = acknowledgement
            if let acknowledgement {
                // An escalation that a gate withholds is due again when nobody works on the match any more.
                let escalations = row.waits.filter { wait in
                    wait.content == .firing && !rule.notify.contains { $0.sink == wait.sink }
                }
                for sink in escalations.map(\.sink) {
                    let step = rule.gates.escalate.firstIndex { $0.notify.contains { $0.sink == sink } }
                    told.step = min(told.step, step ?? told.step)
                    engine.suppress(rule, match, "acknowledged \(acknowledgement.description)", for: sink, at: moment)
                }
                row.waits.removeAll(where: escalations.contains)
            }
            let isFollowed = acknowledgement == nil && rule.hasFollowUps && !rule.endsReminders(match)
            let gate = acknowledgement != nil && rule.hasFollowUps ? AcknowledgedGate.name : ""
            told.follow(at: isFollowed ? rule.nextFollowUp(told) : nil, gate: gate)
            row.told = told
            // The escalation had the later match: what is told once the acknowledgement is taken back is that one.
            row.noteReplacement()
            row.dropEventIfUnused()
            engine.put(row)
        }
    }

    /// Returns what was said about the subject before a message; nil for nothing.
    func acknowledgement(of rule: Rule, before event: Event) -> Acknowledgement? {
        if let end = event.summary?.acknowledgement { return end }
        guard event.kind != .digest, rule.hasFollowUps || rule.remembersSinks(event) else { return nil }
        return table[rule.key(of: Subject(event))]?.told?.acknowledgement
    }
}

extension RuleMemory {
    /// The match that sinks were told and that is true, or a later one that they were not told; nil for none.
    public var firingMatch: Event? {
        guard let told, told.ended == nil else { return nil }
        let latest = told.latest ?? told.event
        return waits.contains { $0.content == .firing } ? event ?? latest : latest
    }

    /// Who works on the match that is true; nil for nobody.
    public var acknowledgement: Acknowledgement? {
        told?.acknowledgement.flatMap { $0.match == firingMatch?.id.description ? $0 : nil }
    }
}

extension Rule {
    /// Whether a match that was told is remembered while it is true.
    public var remembersMatches: Bool { hasFollowUps || gates.resolved }
}
