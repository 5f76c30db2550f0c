// SPDX-License-Identifier: Apache-2.0

/// `quiet` and `during`: times in which a rule does not disturb.
enum QuietGate: Gate {
    static let name = "deferred"
    static let noun = "deferred matches"
    /// What it withholds is mostly told in the morning; what is not leaves a record then.
    static let leavesRecord = false
    static let countsOver = false
    /// The name of its log. A log of `digest` has a value of a field as its name, which can be `quiet`.
    static let logName = "\u{1E}quiet"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { candidate.rule.gates.quiet != nil }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let (quiet, name, end) = engine.world.quietTime(of: candidate.rule, at: now) else { return .pass }
        let reason = "quiet \(name) until \(end.rfc3339)"
        let mayChange = candidate.content != .followUp && !candidate.isListed
        switch quiet.action {
        case .drop where candidate.content == .firing && mayChange && candidate.gate != LimitGate.name:
            return .drop(reason)
        case .digest where mayChange: return .list(Verdict.ListTarget(name: logName, due: end, isCivil: true))
        case .drop, .digest, .defer: return .wait(Verdict.Waiting(reason: reason, until: end, isCivil: true))
        }
    }
}

extension RuleWorld {
    /// Returns the quiet time that `now` is in, with what it is called and its end.
    func quietTime(of rule: Rule, at now: RuleTime) -> (Quiet, String, Timestamp)? {
        guard let quiet = rule.gates.quiet else { return nil }
        // Windows that meet are one quiet time. It is cut after a week: windows that cover everything never end.
        var end: (String, Timestamp)?
        let week = now.wall.advanced(by: .seconds(7 * 86_400))
        while end.map({ $0.1 < week }) ?? true {
            guard let span = quiet.span(at: end?.1 ?? now.wall, civil) else { break }
            end = (end?.0 ?? span.name, span.end)
        }
        return end.map { (quiet, $0.0, $0.1) }
    }
}
