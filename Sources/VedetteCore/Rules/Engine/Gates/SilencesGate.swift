// SPDX-License-Identifier: Apache-2.0

/// Silences of all sinks: `snooze` and `mute`.
enum SilencesGate: Gate {
    static let name = "silenced"
    static let waitingText = "told at the end if it is still so"
    static let noun = "silenced messages"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { !world.silences.all.isEmpty }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        engine.world.silences.verdict(candidate, sink: nil, at: now)
    }
}

/// Silences of one sink. They come last, so that the other sinks get the message, and use up nothing.
enum SinkSilencesGate: Gate {
    static let name = "sink silenced"
    static let waitingText = SilencesGate.waitingText
    static let noun = SilencesGate.noun

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { !world.silences.all.isEmpty }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        engine.world.silences.verdict(candidate, sink: candidate.sink, at: now)
    }
}

extension SilenceList {
    fileprivate func verdict(_ candidate: Candidate, sink: String?, at now: RuleTime) -> Verdict {
        guard let silence = silence(of: candidate.rule, candidate.event, sink: sink, at: now) else { return .pass }
        let reason = "silenced: \(silence.description)"
        // The end of what was told is never dropped, and no digest with one.
        guard !silence.drops || candidate.event.parts.contains(where: { $0.kind == Event.Kind.resolved.word }) else {
            return .drop(reason)
        }
        let end = self.end(of: candidate.rule, candidate.event, sink: candidate.sink, at: now)
        return .wait(Verdict.Waiting(reason: reason, until: end, isCivil: true))
    }
}

extension RuleEngine {
    /// Asks the gates again about everything that silences withheld.
    mutating func openSilences(at moment: StepContext) {
        for gate in [SilencesGate.name, SinkSilencesGate.name] {
            for name in table.rules(waitingAt: gate) {
                let group = RowTable.Group(rule: name, gate: gate)
                if let rule = rule(of: group) { reconcile(rule, group, at: moment) }
            }
        }
    }
}
