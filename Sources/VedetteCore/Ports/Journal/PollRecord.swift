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
    /// What the evaluation is based on; nil where nobody else writes the journal.
    public var basis: RuleBasis?

    public init(
        record: SourceRecord?, isNewBaseline: Bool = false, writes: [StoredItem] = [], deletions: [String] = [],
        events: [Event] = [], deliveries: [Delivery] = []
    ) {
        (self.record, self.isNewBaseline, self.writes) = (record, isNewBaseline, writes)
        (self.deletions, self.events, self.deliveries) = (deletions, events, deliveries)
    }

    /// Whether rules of other watchers may find something else in the source afterwards. A first list without items has
    /// neither writes nor events.
    public var changesSource: Bool {
        isNewBaseline || !(events.isEmpty && writes.isEmpty && deletions.isEmpty) || record?.snapshot?.count == 0
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

/// What a commit wrote.
public struct CommitResult: Sendable {
    /// One for each `PollRecord`, in order.
    public var polls: [Committed]
    /// What the commit ended to keep the bounds of queues, of this commit and of earlier ones.
    public var eviction: Eviction

    public init(polls: [Committed], eviction: Eviction = Eviction()) {
        (self.polls, self.eviction) = (polls, eviction)
    }
}

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
