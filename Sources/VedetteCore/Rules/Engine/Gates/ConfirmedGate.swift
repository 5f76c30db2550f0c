// SPDX-License-Identifier: Apache-2.0

/// What waited is told only after a good poll of its source: the item may have changed meanwhile.
enum ConfirmedGate: Gate {
    static let name = "unconfirmed"
    static let leavesRecord = false

    /// A new match is confirmed by the poll that brought it.
    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { !candidate.isNew && !candidate.isListed }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard engine.world.isUncertain(candidate.event) else { return .pass }
        let reason = "'\(candidate.event.source)' has not been polled well since"
        return .wait(Verdict.Waiting(reason: reason, until: now.steady, awaitsPoll: true))
    }
}
