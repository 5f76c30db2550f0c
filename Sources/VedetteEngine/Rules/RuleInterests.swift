// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Publishes what rules need from each source, so that an unchanged poll need not call the coordinator.
final class RuleInterests: Sendable {
    private struct State {
        var thresholds: ThresholdIndex
        var bySource: [String: RuleEngine.Interest] = [:]
    }

    private let state: Mutex<State>
    private let time: SteadyClock

    init(_ rules: RuleSet, _ time: SteadyClock) {
        state = Mutex(State(thresholds: ThresholdIndex(rules.rules)))
        self.time = time
    }

    func set(_ rules: RuleSet) { state.withLock { $0.thresholds = ThresholdIndex(rules.rules) } }
    func set(_ interest: RuleEngine.Interest?, of source: String) { state.withLock { $0.bySource[source] = interest } }
    func replace(_ interests: [String: RuleEngine.Interest]) { state.withLock { $0.bySource = interests } }

    /// Sources of which rules remember something that a poll confirms.
    var sources: [String] { state.withLock { Array($0.bySource.keys) } }

    /// What the measures of that source's items are compared with.
    func thresholds(for source: String) -> Thresholds { state.withLock { $0.thresholds.thresholds(for: source) } }

    /// Whether rules remember anything of that source's items.
    func hasMemories(of source: String) -> Bool { state.withLock { $0.bySource[source] != nil } }

    /// When a rule wants that source polled, to confirm something.
    func confirmation(of source: String) -> BootTime? {
        state.withLock { $0.bySource[source]?.nextConfirmation }.map(time.boot)
    }

    /// Whether rules need a good poll of that source although nothing changed.
    func needsPoll(of source: String, at now: Moment) -> Bool {
        guard let interest = state.withLock({ $0.bySource[source] }) else { return false }
        return interest.isUncertain || interest.nextConfirmation.map { $0 <= time.moment(now).wall } ?? false
    }
}
