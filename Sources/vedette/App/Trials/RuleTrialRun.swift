// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedettePage

/// Plays stored events against rules, a page of them after another, and can be cancelled from any thread in between.
final class RuleTrialRun: Sendable {
    /// Events that one trial plays.
    static let mostEvents = 100_000
    /// Deadlines between two events that it goes through: a reminder of every second has two million a month.
    static let mostSteps = 10_000

    private struct State {
        var simulation: StoredEventSimulation?
        var trial = RuleTrial()
        var last: Timestamp?
    }

    private let state = Mutex(State())
    private let isCancelled = Atomic(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func begin(_ rules: [Rule], _ notes: [String], until end: Timestamp) {
        state.withLock { state in
            state.simulation = StoredEventSimulation(RuleSet(rules), until: end, maximumSteps: Self.mostSteps)
            state.trial.notes = notes
        }
    }

    /// - Returns: false when no more events are to be played.
    func play(_ events: [Event]) -> Bool {
        state.withLock { state in
            for event in events {
                guard !isCancelled.load(ordering: .relaxed) else { return false }
                guard state.simulation?.events ?? 0 < Self.mostEvents else {
                    state.trial.end = state.last
                    return false
                }
                state.trial.add(state.simulation?.play(event) ?? [])
                state.last = event.time
            }
            return true
        }
    }

    func finish() -> RuleTrial {
        state.withLock { state in
            // What comes after the last event that was played is not known.
            if state.trial.end == nil, !isCancelled.load(ordering: .relaxed) {
                state.trial.add(state.simulation?.finish() ?? [])
            }
            guard let simulation = state.simulation else { return state.trial }
            state.trial.events = simulation.events
            let waiting = simulation.waiting
            state.trial.waiting = waiting.prefix(RuleTrial.mostWaiting).map { "\($0.rule): \($0.line)" }
            let more = waiting.count - state.trial.waiting.count
            if more > 0 { state.trial.waiting.append("and \(more) more") }
            if simulation.isCut {
                state.trial.notes.append(
                    "of the deadlines between two events the first \(Self.mostSteps) were played, and the others left out"
                )
            }
            return state.trial
        }
    }
}

extension RuleTrial {
    fileprivate mutating func add(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            add(
                Message(
                    time: delivery.created, rule: delivery.message.rule, sink: delivery.message.sink,
                    title: delivery.message.title, reason: delivery.state == .pending ? nil : delivery.reason ?? ""))
        }
    }
}
