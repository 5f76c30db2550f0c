// SPDX-License-Identifier: Apache-2.0

/// `if` and `unless`: what other sources must show, and what they must not show. News is dropped; a state waits.
enum ConditionsGate: Gate {
    static let name = "conditions"
    static let waitingText = "told when 'if' and 'unless' allow it, if it is still so"
    static let noun = "matches that wait for 'if' or 'unless'"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        !candidate.rule.gates.conditions.isEmpty && candidate.content != .end && !candidate.isListed
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let unmet = engine.world.facts.inForce.unmet(candidate.rule) else { return .pass }
        let isDropped = unmet.drops || candidate.rule.isNews(candidate.event)
        return isDropped ? .drop(unmet.obstacle) : .wait(Verdict.Waiting(reason: unmet.obstacle))
    }
}

extension RuleEngine {
    /// Lets the gate be asked again about what waits for items of a source, or of any.
    mutating func openConditions(on source: String? = nil, at moment: StepContext) {
        for name in rulesThatWait(for: source) {
            guard let rule = rules.rule(named: name), world.facts.inForce.unmet(rule) == nil else { continue }
            reconcile(rule, RowTable.Group(rule: name, gate: ConditionsGate.name), at: moment) { engine, row in
                row.dependsOnItem ? engine.share.polls(row.subject?.source ?? "") : engine.share.fires(name)
            }
        }
    }

    /// The rules with rows that wait until the source, or any, shows what `if` and `unless` ask for.
    func rulesThatWait(for source: String?) -> [String] {
        guard let source else { return table.rules(waitingAt: ConditionsGate.name) }
        return world.facts.inForce.rules(asking: source).filter {
            !table.isEmpty(RowTable.Group(rule: $0, gate: ConditionsGate.name))
        }.sorted()
    }
}

extension Rule {
    /// Whether a match tells what happened, and not a state that lasts.
    func isNews(_ event: Event) -> Bool { gates.nothing == .zero && when.isNews(event) == true }
}

extension Condition {
    /// Whether a match of the event tells what happened, and not a state that lasts; nil when the condition says neither.
    fileprivate func isNews(_ event: Event) -> Bool? {
        switch self {
        case .appears, .disappears, .changes, .by: true
        case .field(_, _, let to): to == nil
        case .stays, .older, .howMany: false
        case .sourceState: [.recovered, .online, .equal].contains(event.kind)
        case .source, .item, .not: nil
        case .all(let parts): Condition.isNews(parts, event)
        case .any(let parts): Condition.isNews(parts.filter { $0.matches(event) }, event)
        }
    }

    private static func isNews(_ parts: [Condition], _ event: Event) -> Bool? {
        let known = parts.compactMap { $0.isNews(event) }
        return known.isEmpty ? nil : !known.contains(false)
    }
}
