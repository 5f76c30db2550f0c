// SPDX-License-Identifier: Apache-2.0

/// What one step of `Journal.evict` found.
public struct QueueCheck: Sendable, Hashable {
    /// The pending deliveries of all sinks that are left.
    public var pending: Int
    /// What the step ended; empty when no queue exceeds its limits.
    public var eviction: Eviction

    public init(pending: Int, eviction: Eviction = Eviction()) { (self.pending, self.eviction) = (pending, eviction) }
}
