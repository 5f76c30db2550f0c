// SPDX-License-Identifier: Apache-2.0

/// What the journal evicts from the queues of sinks: pending deliveries beyond their bounds, those that have expired, those that
/// fallbacks get, and those that a later message replaces.
public struct EvictionLimits: Sendable {
    /// Why a pending delivery is evicted.
    public enum Excess: Sendable, Hashable {
        /// It was not delivered within `DeliveryPolicy.giveUp`.
        case age
        /// Its sink fails, and a fallback gets it.
        case diverted
        /// `QueueBound.count`.
        case count
        /// `QueueBound.bytes`.
        case bytes
    }

    /// Deliveries that one transaction evicts at most, in addition to as many as it adds. A bound that was lowered is
    /// reached in several steps, each short enough for other writers.
    public static let step = 2000

    /// The bounds by sink; the queue of any other sink has none.
    public var bounds: [String: QueueBound]
    /// Deliveries created before this time have expired, by sink: for sinks that accept no messages.
    public var oldest: [String: Timestamp] = [:]
    /// Sinks whose pending deliveries go to their fallbacks, each with the deliveries that stay since an attempt of them is
    /// under way.
    public var diverted: [String: Set<Int64>] = [:]
    /// Sinks that persons read: a pending message that is no longer true is replaced there.
    public var textSinks: Set<String> = []
    /// Returns the outcome of a pending delivery that is evicted, with its reason and its successor; nil for one that stays, since
    /// no fallback can get it.
    public var end: @Sendable (Delivery, Excess) -> Attempt?

    public init(bounds: [String: QueueBound], end: @escaping @Sendable (Delivery, Excess) -> Attempt?) {
        (self.bounds, self.end) = (bounds, end)
    }

    /// No limits.
    public static let none = EvictionLimits(bounds: [:]) { delivery, _ in
        var end = Attempt(
            delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: delivery.due,
            reason: nil)
        end.wasMade = false
        return end
    }
}
