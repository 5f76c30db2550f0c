// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Steps that are submitted and not committed; those that failed stay while polls are evaluated that may be based on them.
struct UnstoredSteps {
    private var steps: [(step: RuleEngine.Step, ticket: CommitTicket)] = []
    /// Polls whose evaluation began and is not submitted.
    private var evaluations = 0

    /// Returns the records on which a step is based. Its own record fails with them.
    func basis(of step: RuleEngine.Step) -> [CommitTicket] {
        steps.filter { step.depends(on: $0.step) }.map(\.ticket)
    }

    mutating func submitted(_ step: RuleEngine.Step, _ ticket: CommitTicket) {
        if !step.changes.isEmpty { steps.append((step, ticket)) }
    }

    mutating func committed(_ ticket: CommitTicket) { steps.removeAll { $0.ticket === ticket } }

    mutating func evaluationBegan() { evaluations += 1 }

    mutating func evaluationEnded() {
        evaluations -= 1
        forgetFailed()
    }

    mutating func forgetFailed() { if evaluations == 0 { steps.removeAll { $0.ticket.failure != nil } } }
}
