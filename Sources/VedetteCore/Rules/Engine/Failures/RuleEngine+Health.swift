// SPDX-License-Identifier: Apache-2.0

/// Keeps which sources are failing or down, for the gate `depends` and for messages about several sources.
extension RuleEngine {
    /// Keeps the sets of sources that are failing and down, and lets go what waited for one of them.
    mutating func trackFailure(_ event: Event, at now: RuleTime) {
        let before = Step.Failure(isFailing: failing.contains(event.source), cause: causes[event.source])
        // Without polls, as in a simulation, only the failure names the server.
        if let server = event.error?.server, servers[event.source] == nil { servers[event.source] = server }
        switch event.kind {
        case .failing:
            failing.insert(event.source)
            causes[event.source] = event.error?.detail
        case .recovered:
            failing.remove(event.source)
            causes[event.source] = nil
        case .appeared where event.sourceKind == Event.http, .changed where event.sourceKind == Event.http:
            trackDown(event.source, event.item?.state == "down", at: now)
        default: break
        }
        let after = Step.Failure(isFailing: failing.contains(event.source), cause: causes[event.source])
        guard after != before else { return }
        if step.wereFailing[event.source] == nil { step.wereFailing[event.source] = before }
        if before.isFailing, !after.isFailing { becameAvailable(event.source, at: now) }
    }

    /// Keeps whether the response of a source means down.
    mutating func trackDown(_ source: String, _ isDown: Bool, at now: RuleTime) {
        guard down.contains(source) != isDown else { return }
        if step.wereDown[source] == nil { step.wereDown[source] = !isDown }
        if isDown { down.insert(source) } else { down.remove(source) }
        if !isDown { becameAvailable(source, at: now) }
    }

    private mutating func becameAvailable(_ source: String, at now: RuleTime) {
        for rule in rules.rules where rule.gates.depends.contains(source) { openDependencies(of: rule, at: now) }
    }
}

extension Event {
    /// `sourceKind` of a source whose item is the response itself.
    static let http = "http"
}
