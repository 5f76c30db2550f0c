// SPDX-License-Identifier: Apache-2.0

/// `recovered_for`: a match must stay over this long before its end is told.
enum RecoveredForGate: Gate {
    static let name = "recovering"
    static let waitingText = "over, told when that lasts"
    static let noun = "ends that must last"
    static let leavesRecord = false
    static let countsOver = false
    static let confirmsEnds = true

    static func longestWait(_ rule: Rule) -> Duration { rule.gates.recoveredFor }

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        candidate.rule.gates.recoveredFor > .zero && candidate.content == .end && !candidate.isListed
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        let span = candidate.rule.gates.recoveredFor
        var due = now.steady.advanced(by: span)
        if candidate.gate == name {
            let row = engine.table[candidate.rule.key(of: Subject(candidate.event))]
            let wait = row?.waits.first { $0.sink == candidate.sink && $0.gate == name }
            // It is down again: what was withheld is counted by the message about its end.
            if wait?.content == .count { return .wait(Verdict.Waiting()) }
            due = wait?.until ?? now.steady
        }
        guard candidate.isNew || candidate.gate == name, due > now.steady else { return .pass }
        let least = DurationText.long(seconds: span.inSeconds)
        // A good poll confirms the ends of its own source.
        return .wait(
            Verdict.Waiting(reason: "over for less than \(least)", until: due, group: candidate.event.source))
    }
}
