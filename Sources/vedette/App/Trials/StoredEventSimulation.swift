// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Plays stored events against rules, for `vedette test --since` and the page: what would have been sent. Nothing is sent and
/// nothing is written.
struct StoredEventSimulation {
    private let rules: RuleSet
    private let end: Timestamp
    private let maximumSteps: Int
    private var simulation: RuleSimulation
    /// The events that were played.
    private(set) var events = 0

    /// Whether deadlines were left out.
    var isCut: Bool { simulation.isCut }

    /// - Parameters:
    ///   - end: later events are not played.
    ///   - maximumSteps: deadlines between two events to go through at most.
    init(_ rules: RuleSet, until end: Timestamp, maximumSteps: Int = .max) {
        (self.rules, self.end, self.maximumSteps) = (rules, end, maximumSteps)
        simulation = RuleSimulation(rules, civil: ZoneTime())
    }

    /// Returns what an event, and the time until it, would have made.
    mutating func play(_ event: Event) -> [Delivery] {
        guard event.time <= end else { return [] }
        events += 1
        return advance(to: event.time) + simulation.evaluate(event)
    }

    /// Returns what the time until the end would have made.
    mutating func finish() -> [Delivery] { advance(to: end) }

    private mutating func advance(to time: Timestamp) -> [Delivery] {
        simulation.advance(to: time, confirming: true, maximumSteps: maximumSteps)
    }

    /// What waits at the end: the rule, and a sentence about each match.
    var waiting: [(rule: String, line: String)] {
        simulation.memories.compactMap { memory in
            memory.waitingLine(of: rules.rule(named: memory.key.rule), at: end).map { (memory.key.rule, $0) }
        }
    }
}
