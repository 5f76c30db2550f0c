// SPDX-License-Identifier: Apache-2.0

/// What the writing of attempts made.
public struct RecordResult: Sendable {
    /// The deliveries to fallbacks of those that died, with ids.
    public var successors: [Delivery]
    /// What ended because a successor made a queue exceed its bound.
    public var eviction: Eviction

    public init(successors: [Delivery] = [], eviction: Eviction = Eviction()) {
        (self.successors, self.eviction) = (successors, eviction)
    }
}
