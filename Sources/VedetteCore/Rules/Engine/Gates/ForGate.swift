// SPDX-License-Identifier: Apache-2.0

/// `for`: while a later match of the subject must stay true, nothing is told of an earlier one, which it replaces or ends.
enum ForGate: Gate {
    static let name = "for"
    static let leavesRecord = false

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        candidate.rule.gates.pendingFor > .zero && !candidate.isListed
            && (!candidate.isNew || candidate.content == .followUp)
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard engine.table[candidate.rule.key(of: Subject(candidate.event))]?.held != nil else { return .pass }
        return .wait(Verdict.Waiting(reason: "a later one waits in 'for'"))
    }
}
