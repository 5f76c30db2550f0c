// SPDX-License-Identifier: Apache-2.0

/// The durable state: snapshots, events, deliveries. The only queue there is.
public protocol Journal: Sendable {
    /// Every source that was ever polled and is still kept.
    func sourceRecords() async throws(JournalError) -> [SourceRecord]

    /// The snapshot's items, those remembered as absent included.
    func items(of source: String) async throws(JournalError) -> [String: StoredItem]

    /// The last event about the watcher itself: whether the machine was offline.
    func lastOfWatcher() async throws(JournalError) -> Event?

    /// What rules remember between an event and a message.
    func ruleMemories() async throws(JournalError) -> [RuleMemory]

    /// What somebody asked not to hear of.
    func silences() async throws(JournalError) -> [Silence]

    /// Commits what polls changed, all of it in one transaction (I1), and returns it with `seq`s and delivery ids.
    func commit(_ polls: [PollRecord]) async throws(JournalError) -> [Committed]

    /// Writes what polls changed that nobody waits for, in one transaction.
    func touch(_ touches: [DeferredWrite]) async throws(JournalError)

    /// The lanes in which something is owed.
    func pendingLanes() async throws(JournalError) -> [DeliveryLane]

    /// The oldest deliveries owed in a lane, in the order of their release, from the first id above `after`.
    func pending(in lane: DeliveryLane, after: Int64, limit: Int) async throws(JournalError) -> [Delivery]

    /// Writes what came of attempts, in one transaction.
    /// - Returns: the successors of what died, with delivery ids.
    @discardableResult
    func record(_ attempts: [Attempt]) async throws(JournalError) -> [Delivery]

    /// What is owed to sinks beyond their bounds, at most `limit` deliveries of each.
    func overflow(_ limits: [OutboxLimit], most limit: Int) async throws(JournalError) -> Overflow

    /// Deletes events older than `before` that nothing owed speaks of, deliveries that ended before it, and sources
    /// that are not in `keeping` and were last polled before `abandoned`.
    func prune(eventsBefore: Timestamp, keeping sources: Set<String>, abandoned: Timestamp) async throws(JournalError)
}

public struct JournalError: Error, Sendable, Hashable {
    public enum Reason: Sendable, Hashable {
        /// Another `run` holds the lock.
        case locked(pid: Int32?)
        case full
        case readOnly
        case corrupt
        /// Written by a later version.
        case newer
        case missing
        case busy
        case inputOutput
    }

    public var reason: Reason
    /// One clear sentence with the file and the remedy.
    public var detail: String

    public init(_ reason: Reason, _ detail: String) { (self.reason, self.detail) = (reason, detail) }
}

/// All that one poll changed, or what rules made of the time that passed.
public struct PollRecord: Sendable {
    /// Nil when there was no poll.
    public var record: SourceRecord?
    /// True when the snapshot starts anew: every stored item of the source is dropped first.
    public var isNewBaseline: Bool
    public var writes: [StoredItem]
    public var deletions: [String]
    public var events: [Event]
    /// Deliveries name their event by its id.
    public var deliveries: [Delivery]
    /// What rules remember now; nil for what they forgot.
    public var memories: [RuleMemory.Key: RuleMemory?] = [:]
    /// Silences that a state ended.
    public var endedSilences: [Int64] = []

    public init(
        record: SourceRecord?, isNewBaseline: Bool = false, writes: [StoredItem] = [], deletions: [String] = [],
        events: [Event] = [], deliveries: [Delivery] = []
    ) {
        (self.record, self.isNewBaseline, self.writes) = (record, isNewBaseline, writes)
        (self.deletions, self.events, self.deliveries) = (deletions, events, deliveries)
    }
}

/// What a poll changed that is no event: due times, validators, measures.
public struct DeferredWrite: Sendable {
    public var record: SourceRecord
    /// See `Difference.refreshes`.
    public var items: [StoredItem]

    public init(_ record: SourceRecord, items: [StoredItem] = []) { (self.record, self.items) = (record, items) }
}

/// What may be owed to one sink.
public struct OutboxLimit: Sendable, Hashable {
    public var sink: String
    public var bound: QueueBound
    /// What was created before has died of age; nil while the sink takes what it is given.
    public var oldest: Timestamp?

    public init(sink: String, bound: QueueBound, oldest: Timestamp? = nil) {
        (self.sink, self.bound, self.oldest) = (sink, bound, oldest)
    }
}

/// What is owed beyond a sink's bounds.
public struct Overflow: Sendable {
    public enum Excess: Sendable, Hashable {
        case age, count, bytes
    }

    /// Deliveries owed, of every sink.
    public var pending: Int
    public var excess: [(delivery: Delivery, by: Excess)]

    public init(pending: Int = 0, excess: [(delivery: Delivery, by: Excess)] = []) {
        (self.pending, self.excess) = (pending, excess)
    }
}

/// What a commit numbered.
public struct Committed: Sendable {
    public var events: [Event]
    public var deliveries: [Delivery]

    public init(events: [Event], deliveries: [Delivery]) { (self.events, self.deliveries) = (events, deliveries) }
}
