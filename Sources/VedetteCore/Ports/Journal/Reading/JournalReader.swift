// SPDX-License-Identifier: Apache-2.0

/// Reads a journal beside the watcher, or where none runs. It holds no transaction between two calls.
public protocol JournalReader: Sendable {
    /// False when another journal has taken the place of this one; this reader still sees the old one.
    var isCurrent: Bool { get }

    /// Reads the oldest events with a seq above `seq`, in order.
    func events(after seq: Int64, _ filter: EventFilter, limit: Int) async throws(JournalError) -> [Event]

    /// Reads the seq after which the newest `count` events begin; the last seq when there is none, 0 when all are wanted.
    func seq(before count: Int, _ filter: EventFilter) async throws(JournalError) -> Int64

    /// Reads the states of the deliveries that were made of events, by seq; those without one are left out.
    func deliveryStates(of events: [Int64]) async throws(JournalError) -> [Int64: Set<DeliveryState>]

    /// Reads the newest events, oldest first.
    func lastEvents(_ count: Int, _ filter: EventFilter) async throws(JournalError) -> [Event]

    /// Finds the events whose id starts with `text`, or whose seq it is: none, one, or up to ten candidates.
    func events(matching text: String) async throws(JournalError) -> [Event]

    /// Finds the deliveries of messages whose own event is not stored, such as digests, by the id of that event or the
    /// beginning of it: at most `DeliveryRow.maximumOfMessage`, grouped by message.
    func deliveries(ofMessage text: String) async throws(JournalError) -> [DeliveryStatus]

    /// Reads the newest events of an item, oldest first.
    func history(source: String, key: String, limit: Int) async throws(JournalError) -> [Event]

    /// Reads deliveries in the order of their release, those with an id above `after`.
    func deliveries(_ filter: DeliveryFilter, after: Int64, limit: Int) async throws(JournalError) -> [DeliveryStatus]

    /// Reads the failed attempts of a delivery that are still kept, in order.
    func attempts(of delivery: Int64) async throws(JournalError) -> [Attempt]

    /// Reads the record of every source that was polled and is still kept.
    func sourceRecords() async throws(JournalError) -> [SourceRecord]

    /// Reads the record of one source; nil when it was never polled.
    func sourceRecord(of source: String) async throws(JournalError) -> SourceRecord?

    /// Reads the items of a source's snapshot, including those remembered as absent.
    func items(of source: String) async throws(JournalError) -> [String: StoredItem]

    /// Reads those items of a source's snapshot that have one of these keys.
    func items(of source: String, withKeys keys: Set<String>) async throws(JournalError) -> [String: StoredItem]

    /// Reads a page of the present items of a source's snapshot, in the order of the bytes of their keys.
    /// - Parameter offset: how many items come before.
    func items(of source: String, from offset: Int, limit: Int) async throws(JournalError) -> [StoredItem]

    /// Reads the sinks that are paused, disabled or failing, in order of name.
    func stoppedSinks() async throws(JournalError) -> [StoppedSink]

    /// Reads the last report of how late polls start, by the name of its watcher, which is empty where that has the journal for
    /// itself.
    func lateness() async throws(JournalError) -> [String: PollLateness.Report]

    /// Counts the pending and dead deliveries of each sink that has any, in order of name.
    func sinkCounts() async throws(JournalError) -> [SinkCount]

    /// Reads what each of these sinks delivered since a time, and its last dead message, in the order of the names.
    func activity(of sinks: [String], since start: Timestamp) async throws(JournalError) -> [SinkActivity]

    /// Counts the newest messages of a rule.
    func ruleCount(of rule: String) async throws(JournalError) -> RuleCount

    /// Reads what rules remember between an event and a message.
    func ruleMemories() async throws(JournalError) -> [RuleMemory]

    /// Reads every silence, including those that are over.
    func silences() async throws(JournalError) -> [Silence]

    /// Reads the last seq that this journal ever gave; 0 before the first event.
    func lastSeq() async throws(JournalError) -> Int64

    /// Checks the whole journal and lists what is damaged; empty when it is sound. It reads every page.
    func damages() async throws(JournalError) -> [String]
}

extension JournalReader {
    /// Reads all matching events page by page, in order.
    /// - Parameter start: the seq after which to begin.
    public func allEvents(
        _ filter: EventFilter = .init(), after start: Int64 = 0, page: Int = 1000
    ) -> JournalPages<Event> {
        JournalPages(size: page, start: start, number: \.seq) { after, limit async throws(JournalError) in
            try await events(after: after, filter, limit: limit)
        }
    }

    /// Reads all matching deliveries page by page, in the order of their release.
    public func allDeliveries(_ filter: DeliveryFilter = .init(), page: Int = 1000) -> JournalPages<DeliveryStatus> {
        JournalPages(size: page, number: \.delivery.id) { after, limit async throws(JournalError) in
            try await deliveries(filter, after: after, limit: limit)
        }
    }
}
