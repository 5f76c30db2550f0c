// SPDX-License-Identifier: Apache-2.0

/// `digest`: gathers what happened into one message.
enum DigestGate: Gate {
    static let name = "digest"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        candidate.rule.gates.digest != nil && candidate.content != .followUp && !candidate.isListed
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let digest = candidate.rule.gates.digest else { return .pass }
        let group = engine.group(of: candidate.event, candidate.rule, by: digest.by)
        switch digest.release {
        case .every(let interval):
            return .list(Verdict.ListTarget(name: group, due: now.steady.advanced(by: interval), isCivil: false))
        case .at(let time, let days):
            let due = time.next(after: now.wall, days: days, engine.world.civil)
            return .list(Verdict.ListTarget(name: group, due: due, isCivil: true))
        }
    }
}
