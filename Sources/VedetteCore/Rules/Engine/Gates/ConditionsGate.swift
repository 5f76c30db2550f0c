// SPDX-License-Identifier: Apache-2.0

/// `if` and `unless`: what other sources must show, and what they must not show.
enum ConditionsGate: Gate {
    static let name = "conditions"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        !candidate.rule.gates.conditions.isEmpty && candidate.content == .firing && !candidate.isListed
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        engine.world.facts.unmet(candidate.rule).map(Verdict.drop) ?? .pass
    }
}
