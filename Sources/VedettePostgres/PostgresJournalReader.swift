// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads a journal on PostgreSQL beside the process that watches, or where none does.
struct PostgresJournalReader: JournalReader {
    private let worker: ConnectionWorker

    init(_ worker: ConnectionWorker) { self.worker = worker }

    /// A database does not change its place.
    var isCurrent: Bool { true }

    private func read<T: Sendable>(_ block: @escaping @Sendable (Connection) throws -> T) async throws(JournalError)
        -> T
    {
        try await worker.run(block)
    }

    func events(after seq: Int64, _ filter: EventFilter, limit: Int) async throws(JournalError) -> [Event] {
        try await read { try EventRows.select($0, after: seq, filter, .oldestFirst, limit: limit) }
    }

    func seq(before count: Int, _ filter: EventFilter) async throws(JournalError) -> Int64 {
        try await read { try EventRows.seq(before: count, filter, $0) }
    }

    func deliveryStates(of events: [Int64]) async throws(JournalError) -> [Int64: Set<DeliveryState>] {
        try await read { try DeliveryRows.states(of: events, $0) }
    }

    func lastEvents(_ count: Int, _ filter: EventFilter) async throws(JournalError) -> [Event] {
        try await read { try EventRows.select($0, after: 0, filter, .newestFirst, limit: count).reversed() }
    }

    func events(matching text: String) async throws(JournalError) -> [Event] {
        try await read { try EventRows.matching($0, text, limit: EventRow.maximumMatching) }
    }

    func deliveries(ofMessage text: String) async throws(JournalError) -> [DeliveryStatus] {
        try await read { try DeliveryRows.select($0, ofMessage: text) }
    }

    func history(source: String, key: String, limit: Int) async throws(JournalError) -> [Event] {
        try await read { try EventRows.history($0, source: source, key: key, limit: limit).reversed() }
    }

    func deliveries(
        _ filter: DeliveryFilter, after: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await read { try DeliveryRows.select($0, filter, after: after, limit: limit) }
    }

    func attempts(of delivery: Int64) async throws(JournalError) -> [Attempt] {
        try await read { try AttemptRows.of(delivery, $0) }
    }

    func sourceRecords() async throws(JournalError) -> [SourceRecord] { try await read(SourceRows.records) }

    func sourceRecord(of source: String) async throws(JournalError) -> SourceRecord? {
        try await read { try SourceRows.record($0, of: source) }
    }

    func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await read { try SourceRows.items($0, of: source) }
    }

    func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await read { try SourceRows.items($0, of: source, withKeys: keys) }
    }

    func items(of source: String, from offset: Int, limit: Int) async throws(JournalError) -> [StoredItem] {
        try await read { try SourceRows.items($0, of: source, from: offset, limit: limit) }
    }

    func stoppedSinks() async throws(JournalError) -> [StoppedSink] { try await read(StoppedSinkRows.all) }

    func lateness() async throws(JournalError) -> [String: PollLateness.Report] {
        try await read(PollLatenessRows.all)
    }

    func sinkCounts() async throws(JournalError) -> [SinkCount] { try await read(QueueTotalRows.counts) }

    func activity(of sinks: [String], since start: Timestamp) async throws(JournalError) -> [SinkActivity] {
        try await read { connection in try sinks.map { try DeliveryRows.activity(connection, of: $0, since: start) } }
    }

    func ruleCount(of rule: String) async throws(JournalError) -> RuleCount {
        try await read { try DeliveryRows.count(of: rule, $0) }
    }

    func ruleMemories() async throws(JournalError) -> [RuleMemory] { try await read(RuleMemoryRows.all) }

    func silences() async throws(JournalError) -> [Silence] { try await read(SilenceRows.all) }

    func lastSeq() async throws(JournalError) -> Int64 { try await read(EventRows.lastSeq) }

    func damages() async throws(JournalError) -> [String] {
        try await read(PostgresDamage.find)
    }
}
