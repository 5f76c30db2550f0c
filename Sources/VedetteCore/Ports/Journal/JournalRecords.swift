// SPDX-License-Identifier: Apache-2.0

/// The changes of one poll, or of rules when time has passed: one unit of a commit.
public struct PollRecord: Sendable {
    /// Nil when there was no poll.
    public var record: SourceRecord?
    /// True when the snapshot is replaced: every stored item of the source is deleted first.
    public var isNewBaseline: Bool
    public var writes: [StoredItem]
    public var deletions: [String]
    public var events: [Event]
    /// Deliveries name their event by its id.
    public var deliveries: [Delivery]
    /// Changed rule memories; nil deletes one.
    public var memories: [RuleMemory.Key: RuleMemory?] = [:]
    /// Ids of silences that an item's state ended.
    public var endedSilences: [Int64] = []

    public init(
        record: SourceRecord?, isNewBaseline: Bool = false, writes: [StoredItem] = [], deletions: [String] = [],
        events: [Event] = [], deliveries: [Delivery] = []
    ) {
        (self.record, self.isNewBaseline, self.writes) = (record, isNewBaseline, writes)
        (self.deletions, self.events, self.deliveries) = (deletions, events, deliveries)
    }
}

/// Changes of a poll that may be written late: due times, validators and measures.
public struct DeferredWrite: Sendable {
    public var record: SourceRecord
    /// See `Difference.refreshes`.
    public var items: [StoredItem]

    public init(_ record: SourceRecord, items: [StoredItem] = []) { (self.record, self.items) = (record, items) }
}

/// The numbered events and deliveries of one committed `PollRecord`.
public struct Committed: Sendable {
    public var events: [Event]
    public var deliveries: [Delivery]

    public init(events: [Event], deliveries: [Delivery]) { (self.events, self.deliveries) = (events, deliveries) }
}

/// The bounds of one sink's pending deliveries.
public struct QueueLimit: Sendable, Hashable {
    public var sink: String
    public var bound: QueueBound
    /// Deliveries created before this time have expired; nil while the sink accepts messages.
    public var oldest: Timestamp?

    public init(sink: String, bound: QueueBound, oldest: Timestamp? = nil) {
        (self.sink, self.bound, self.oldest) = (sink, bound, oldest)
    }
}

/// Pending deliveries that exceed the bounds of their sinks.
public struct Overflow: Sendable {
    /// The bounds that a delivery may exceed.
    public enum Excess: Sendable, Hashable {
        /// It was not delivered within `DeliveryPolicy.giveUp`.
        case age
        /// `QueueBound.count`.
        case count
        /// `QueueBound.bytes`.
        case bytes
    }

    /// The number of pending deliveries of all sinks.
    public var pending: Int
    /// The deliveries beyond a bound, with that bound.
    public var excess: [(delivery: Delivery, by: Excess)]

    /// Creates a result.
    public init(pending: Int = 0, excess: [(delivery: Delivery, by: Excess)] = []) {
        (self.pending, self.excess) = (pending, excess)
    }
}
