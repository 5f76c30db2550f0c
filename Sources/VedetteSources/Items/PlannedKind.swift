// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A kind whose items are read by a plan, which names what they have.
protocol PlannedKind: SourceKind {
    var plan: ItemPlan { get }
}

extension PlannedKind {
    var fieldNames: [String]? { plan.names }
    var noteNames: Set<String> { plan.noteNames }
    var measureNames: Set<String> { plan.measureNames }
    var stateNames: StateNames? { plan.stateNames }
    var fingerprints: [String: UInt64] { plan.fingerprints }
    var doubts: [OptionProblem] { plan.doubts }
    var filtersTexts: Bool { true }
}
