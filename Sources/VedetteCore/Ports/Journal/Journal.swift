// SPDX-License-Identifier: Apache-2.0

/// The durable state as the engine uses it: snapshots, events and deliveries. The journal is the only queue.
public protocol Journal: Sendable {
    /// This watcher's part of a journal that others write, too; nil where everything is its own.
    var shares: (any JournalShares)? { get }

    /// Reads the record of every source that was polled and is still kept.
    func sourceRecords() async throws(JournalError) -> [SourceRecord]

    /// Reads the sinks that are paused, disabled or failing, in order of name.
    func stoppedSinks() async throws(JournalError) -> [StoppedSink]

    /// Reads the last report of how late polls start, by the name of its watcher, which is empty where that has the
    /// journal for itself. A watcher stores one each minute, so that the last one shows how long it ran.
    func lateness() async throws(JournalError) -> [String: PollLateness.Report]

    /// Reads the items of a source's snapshot, including those remembered as absent.
    func items(of source: String) async throws(JournalError) -> [String: StoredItem]

    /// Reads those items of a source's snapshot that have one of these keys.
    func items(of source: String, withKeys keys: Set<String>) async throws(JournalError) -> [String: StoredItem]

    /// Reads the last event about the watcher that has one of two types; nil when there is none.
    func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) async throws(JournalError) -> Event?

    /// Reads what rules remember between an event and a message.
    func ruleMemories() async throws(JournalError) -> [RuleMemory]

    /// Reads every silence, including those that are over.
    func silences() async throws(JournalError) -> [Silence]

    /// Commits the changes of several polls in one transaction (I1), and returns them with `seq`s and delivery ids. The same
    /// transaction evicts deliveries, so that no queue that got one exceeds its bound.
    func commit(_ polls: [PollRecord], within limits: EvictionLimits) async throws(JournalError) -> CommitResult

    /// Writes due times, validators and measures in one transaction.
    func write(deferred writes: [DeferredWrite]) async throws(JournalError)

    /// Lists the lanes that have pending deliveries.
    func pendingLanes() async throws(JournalError) -> [DeliveryLane]

    /// Reads the oldest pending deliveries of a lane in the order of their release, from the first id above `after`.
    func pending(in lane: DeliveryLane, after: Int64, limit: Int) async throws(JournalError) -> [Delivery]

    /// Reads the messages that the rule of a delivery sent to its sink before it and that have a `receiverID`, the newest first.
    func sent(before delivery: Delivery, limit: Int) async throws(JournalError) -> [Delivery]

    /// Reads the messages of a rule to a sink that are about a subject or about several, from the first id below `before`, the
    /// newest first.
    /// - Parameter subject: as `Message.subject` has it.
    func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus]

    /// Writes the outcomes of attempts in one transaction, within the limits of the queues that get successors. An outcome
    /// for a delivery that has ended is ignored (I5), except that a success makes it sent: it was evicted or
    /// dropped while its attempt was in flight, and the receiver has it.
    @discardableResult
    func record(_ attempts: [Attempt], within limits: EvictionLimits) async throws(JournalError) -> RecordResult

    /// Makes every pending delivery younger: time in which the watcher did not run does not count towards `give_up`.
    func excludeFromAge(_ pause: Duration) async throws(JournalError)

    /// Evicts pending deliveries that have expired or exceed the bounds of their queues, one step in one transaction.
    func evict(_ limits: EvictionLimits) async throws(JournalError) -> QueueCheck
}

extension Journal {
    /// Nobody else writes it.
    public var shares: (any JournalShares)? { nil }

    /// Reads every item, and keeps those with one of the keys.
    public func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await items(of: source).filter { keys.contains($0.key) }
    }
}
