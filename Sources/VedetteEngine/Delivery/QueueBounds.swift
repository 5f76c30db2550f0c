// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The bounds of the queues of all configured sinks (I8). The dispatcher sets them; the writers of commits and of outcomes
/// apply them.
final class QueueBounds: Sendable {
    private struct State {
        var sinks: Set<String> = []
        var policy: [String: DeliveryPolicy] = [:]
    }

    private let state: Mutex<State>
    private let clock: any Clock
    private let random: any RandomGenerator

    init(sinks: Set<String>, policy: [String: DeliveryPolicy], _ dependencies: Dependencies) {
        state = Mutex(State(sinks: sinks, policy: policy))
        (clock, random) = (dependencies.clock, dependencies.random)
    }

    func set(sinks: Set<String>, policy: [String: DeliveryPolicy]) {
        state.withLock { $0 = State(sinks: sinks, policy: policy) }
    }

    /// Returns the limits for a transaction that begins now.
    func limits() -> EvictionLimits {
        let (state, now, random) = (state.withLock { $0 }, clock.now().wall, random)
        let bounds = state.sinks.map { ($0, (state.policy[$0] ?? DeliveryPolicy()).queue) }
        var limits = EvictionLimits(bounds: Dictionary(uniqueKeysWithValues: bounds)) { delivery, excess in
            let policy = state.policy[delivery.message.sink] ?? DeliveryPolicy()
            var end = Attempt(
                delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: now,
                reason: policy.reason(excess, delivery))
            end.wasMade = false
            end.passOn(delivery, policy, to: state.sinks, at: now, random)
            // Where no fallback is configured, it stays.
            return excess == .diverted && end.successor == nil ? nil : end
        }
        limits.textSinks = state.sinks.filter { state.policy[$0]?.isTextSink == true }
        return limits
    }

    /// Returns the limits for all deliveries: the bounds, the ages of what sinks that accept no messages have pending, and what
    /// fallbacks get.
    /// - Parameter kept: the deliveries under way.
    func limits(
        unavailable: Set<String>, diverted: Set<String>, keeping kept: Set<Int64>, at now: Timestamp
    ) -> EvictionLimits {
        let state = state.withLock { $0 }
        var limits = self.limits()
        for sink in diverted.intersection(state.sinks) { limits.diverted[sink] = kept }
        for sink in unavailable.intersection(state.sinks) {
            limits.oldest[sink] = now.advanced(by: .zero - (state.policy[sink] ?? DeliveryPolicy()).giveUp)
        }
        return limits
    }
}

extension Attempt {
    /// Gives a delivery that ended the successor at its next fallback. One that was not sent is no dead one then: another sink is
    /// told.
    /// - Parameter sinks: the sinks that are configured.
    mutating func passOn(
        _ delivery: Delivery, _ policy: DeliveryPolicy, to sinks: Set<String>, at now: Timestamp,
        _ random: any RandomGenerator
    ) {
        let id = Message.idPrefix + random.identifier(at: now).description
        successor = delivery.fallback(among: policy.fallbacks, where: sinks.contains, id: id, at: now)
        guard let next = successor?.message.sink, state != .sent else { return }
        (state, reason) = (.suppressed, "told by '\(next)'" + (reason.map { ": " + $0 } ?? ""))
    }
}

extension DeliveryPolicy {
    /// Returns why a delivery that is evicted is dead.
    fileprivate func reason(_ excess: EvictionLimits.Excess, _ delivery: Delivery) -> String {
        let which = queue.policy == .dropOldest ? "the oldest" : "the newest"
        switch excess {
        case .age:
            let last = delivery.reason.map { ": " + $0 } ?? ""
            return "gave up after \(DurationText.long(seconds: giveUp.inSeconds))\(last)"
        case .diverted: return delivery.reason ?? "the sink fails"
        case .count:
            return "queue full: more than \(queue.count) messages were pending for the sink, \(which) is dropped"
        case .bytes: return "queue full: more than \(queue.bytes) bytes were pending for the sink, \(which) is dropped"
        }
    }
}
