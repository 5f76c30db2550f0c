// SPDX-License-Identifier: Apache-2.0

/// `depends`: messages wait while a source that others need is failing or down.
enum DependsGate: Gate {
    static let name = "blocked"
    static let waitingText = "told when what it depends on is back, if it is still so"
    static let noun = "messages that wait for a source of 'depends'"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool { !candidate.rule.gates.depends.isEmpty }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let source = engine.world.unavailableSource(of: candidate.rule, for: candidate.event.source) else {
            return .pass
        }
        let state = engine.world.health.failing[source] != nil ? "failing" : "down"
        return .wait(Verdict.Waiting(reason: "it depends on '\(source)', which is \(state)"))
    }
}

extension RuleEngine {
    /// Lets the gate be asked again about what `depends` withheld and whose sources are available. Items wait for a good poll
    /// of their own source: they may have looked gone only because of the outage.
    mutating func openDependencies(of rule: Rule, at moment: StepContext) {
        let now = moment.now
        let group = RowTable.Group(rule: rule.name, gate: DependsGate.name)
        // A log waits for no poll, and a later match of its items is not to be told before it.
        reconcile(rule, group, at: moment) { engine, row in row.isLogMessage && engine.fires(rule.name) }
        for key in table.keys(in: group) {
            guard var row = table[key], let source = row.subject?.source,
                world.unavailableSource(of: rule, for: source) == nil
            else { continue }
            let awaitsPoll = row.dependsOnItem
            if awaitsPoll, !share.polls(source) { continue }
            for i in row.waits.indices where row.waits[i].gate == DependsGate.name {
                (row.waits[i].until, row.waits[i].isCivil) = (now.steady, false)
                row.waits[i].awaitsPoll = awaitsPoll
            }
            if row.told?.gate == DependsGate.name { row.told?.follow(at: now.steady, gate: DependsGate.name) }
            put(row)
            if awaitsPoll {
                world.doubt(source)
                table.awaitPoll(key)
            }
        }
    }
}
