// SPDX-License-Identifier: Apache-2.0

/// Deliveries that ended beyond the limits of their queues.
public struct Eviction: Sendable, Hashable {
    public var evicted: [Delivery]
    /// Their deliveries to fallbacks, with ids. One that exceeds the bound of its own queue is evicted too.
    public var successors: [Delivery]

    public var isEmpty: Bool { evicted.isEmpty }

    public init(evicted: [Delivery] = [], successors: [Delivery] = []) {
        (self.evicted, self.successors) = (evicted, successors)
    }
}
