// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import VedetteCore

/// Reads a SQLite journal beside the process that watches, or where none does.
final class SQLiteJournalReader: JournalReader {
    let store: JournalStore
    private let identity: FileIdentity?
    private let records: SourceRecordCache

    /// Reads through a connection that is open already.
    init(store: JournalStore) {
        (self.store, identity, records) = (store, store.files.identity, SourceRecordCache())
    }

    /// - Parameter records: shared by the readers of one process.
    /// - Throws: `.missing` when no watcher ever ran here; `.older`, `.newer` or `.corrupt`.
    init(_ files: JournalFiles, _ records: SourceRecordCache = SourceRecordCache()) throws(JournalError) {
        self.records = records
        guard let identity = files.identity else { throw JournalError.absent(files) }
        guard identity.size > 0 else { throw JournalError.missing(files) }
        try files.requireReplaced()
        store = try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: true))
            try queue.read { try Migrations.requireCurrent($0, files) }
            return JournalStore(files: files, database: queue)
        }.get()
        self.identity = identity
    }

    var isCurrent: Bool {
        guard let identity, let now = store.files.identity else { return false }
        return now.isSameFile(as: identity)
    }

    func events(after seq: Int64, _ filter: EventFilter, limit: Int) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.select($0, after: seq, filter, .oldestFirst, limit: limit) }
    }

    func seq(before count: Int, _ filter: EventFilter) async throws(JournalError) -> Int64 {
        try await store.read { try EventRows.seq(before: count, filter, $0) }
    }

    func deliveryStates(of events: [Int64]) async throws(JournalError) -> [Int64: Set<DeliveryState>] {
        try await store.read { try DeliveryRows.states(of: events, $0) }
    }

    func lastEvents(_ count: Int, _ filter: EventFilter) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.select($0, after: 0, filter, .newestFirst, limit: count).reversed() }
    }

    func events(matching text: String) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.matching($0, text, limit: EventRow.maximumMatching) }
    }

    func deliveries(ofMessage text: String) async throws(JournalError) -> [DeliveryStatus] {
        try await store.read {
            try DeliveryRows.select($0, sql: DeliveryRows.ofMessage, [text, text + "~", DeliveryRow.maximumOfMessage])
        }
    }

    func history(source: String, key: String, limit: Int) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.history($0, source: source, key: key, limit: limit).reversed() }
    }

    func deliveries(
        _ filter: DeliveryFilter, after: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await store.read { try DeliveryRows.select($0, filter, after: after, limit: limit) }
    }

    func attempts(of delivery: Int64) async throws(JournalError) -> [Attempt] {
        try await store.read { try AttemptRows.of(delivery, $0) }
    }

    func sourceRecords() async throws(JournalError) -> [SourceRecord] {
        let records = records
        return try await store.read { try SourceRows.records($0, records) }
    }

    func sourceRecord(of source: String) async throws(JournalError) -> SourceRecord? {
        try await store.read { try SourceRows.record($0, of: source) }
    }

    func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await store.read { try SourceRows.items($0, of: source) }
    }

    func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await store.read { try SourceRows.items($0, of: source, withKeys: keys) }
    }

    func items(of source: String, from offset: Int, limit: Int) async throws(JournalError) -> [StoredItem] {
        try await store.read { try SourceRows.items($0, of: source, from: offset, limit: limit) }
    }

    func stoppedSinks() async throws(JournalError) -> [StoppedSink] {
        try await store.read { try StoppedSinkRows.all($0) }
    }

    func lateness() async throws(JournalError) -> [String: PollLateness.Report] {
        try await store.read { try PollLatenessRows.all($0) }
    }

    func sinkCounts() async throws(JournalError) -> [SinkCount] {
        try await store.read { try QueueTotalRows.counts($0) }
    }

    func activity(of sinks: [String], since start: Timestamp) async throws(JournalError) -> [SinkActivity] {
        try await store.read { db in try sinks.map { try DeliveryRows.activity(db, of: $0, since: start) } }
    }

    func ruleCount(of rule: String) async throws(JournalError) -> RuleCount {
        try await store.read { try DeliveryRows.count(of: rule, $0) }
    }

    func ruleMemories() async throws(JournalError) -> [RuleMemory] {
        try await store.read { try RuleMemoryRows.all($0) }
    }

    func silences() async throws(JournalError) -> [Silence] { try await store.read { try SilenceRows.all($0) } }

    func lastSeq() async throws(JournalError) -> Int64 {
        try await store.read { try EventRows.lastSeq($0) }
    }

    func damages() async throws(JournalError) -> [String] {
        try await store.read { try String.fetchAll($0, sql: "pragma integrity_check(20)") }.filter { $0 != "ok" }
    }
}
