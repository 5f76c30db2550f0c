// SPDX-License-Identifier: Apache-2.0

/// Deliveries that ended beyond the limits of their queues.
public struct Eviction: Sendable, Hashable {
    public var evicted: [Delivery]
    /// Their deliveries to fallbacks, with ids. One that exceeds the bound of its own queue is evicted too.
    public var successors: [Delivery]

    /// Deliveries that a later message of their rule and subject replaces, and reminders that an earlier one makes needless.
    public var replaced: [DeliveryPlace]

    public var isEmpty: Bool { evicted.isEmpty && replaced.isEmpty }

    public init(evicted: [Delivery] = [], successors: [Delivery] = [], replaced: [DeliveryPlace] = []) {
        (self.evicted, self.successors, self.replaced) = (evicted, successors, replaced)
    }
}
