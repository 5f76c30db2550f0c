// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// What one sink is owed and what died on the way to it.
public struct SinkCount: Sendable, Hashable {
    public var sink: String
    public var pending: Int
    public var dead: Int
}

/// Reads a journal beside the process that watches, or where none does. It holds no transaction between two calls, so it
/// is in nobody's way.
public final class JournalReader: Sendable {
    let store: JournalStore
    private let identity: FileIdentity

    private init(store: JournalStore, identity: FileIdentity) { (self.store, self.identity) = (store, identity) }

    /// - Throws: `.missing` when nothing has watched here yet; `.newer` and `.corrupt` as they are.
    public static func open(directory: String) throws(JournalError) -> JournalReader {
        let files = JournalFiles(directory: directory)
        guard let identity = files.identity, identity.size > 0 else { throw JournalError.missing(files) }
        let store = try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: true))
            guard try queue.read({ try Migrations.check($0, files) }) == Migrations.steps.count else {
                throw JournalError.missing(files)
            }
            return JournalStore(files: files, database: queue)
        }.get()
        return JournalReader(store: store, identity: identity)
    }

    /// False when the file was replaced or removed: this reader goes on seeing the old one.
    var isCurrent: Bool { store.files.identity?.isSameFile(as: identity) == true }

    /// The oldest events with a seq above `seq`, in order.
    public func events(
        after seq: Int64, _ filter: EventFilter = .init(), limit: Int
    ) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.select($0, after: seq, filter, .oldestFirst, limit: limit) }
    }

    /// The newest events, oldest first.
    public func lastEvents(_ count: Int, _ filter: EventFilter = .init()) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.select($0, after: 0, filter, .newestFirst, limit: count).reversed() }
    }

    /// The events whose id starts with `text`, or whose seq it is: none, the one that was meant, or candidates.
    public func events(matching text: String) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.matching($0, text, limit: 10) }
    }

    /// The newest events of an item, oldest first.
    public func history(source: String, key: String, limit: Int) async throws(JournalError) -> [Event] {
        try await store.read { try EventRows.history($0, source: source, key: key, limit: limit).reversed() }
    }

    /// Deliveries in the order of their release, those with an id above `after`.
    public func deliveries(
        _ filter: DeliveryFilter = .init(), after: Int64 = 0, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await store.read { try DeliveryRows.select($0, filter, after: after, limit: limit) }
    }

    /// The failed attempts of a delivery that are still remembered, in order.
    public func attempts(of delivery: Int64) async throws(JournalError) -> [Attempt] {
        try await store.read { try AttemptRows.of(delivery, $0) }
    }

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] {
        let files = store.files
        return try await store.read { try SourceRows.records($0, files) }
    }

    public func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await store.read { try SourceRows.items($0, of: source) }
    }

    /// Per sink that is owed something or has dead deliveries, in order of name.
    public func sinkCounts() async throws(JournalError) -> [SinkCount] {
        try await store.read { db in
            let rows = try Row.fetchCursor(db.cachedStatement(sql: JournalReader.counts))
            var counts: [SinkCount] = []
            while let row = try rows.next() { counts.append(SinkCount(sink: row[0], pending: row[1], dead: row[2])) }
            return counts
        }
    }

    static let counts = """
        select sink, sum(owed), sum(dead) from (
          select sink, count(*) as owed, 0 as dead from delivery where ended_at is null group by sink
          union all
          select sink, 0, count(*) from delivery where state = 'dead' group by sink
        ) group by sink order by sink
        """

    /// The last seq ever given in this journal; 0 before the first event.
    public func lastSeq() async throws(JournalError) -> Int64 {
        try await store.read { try EventRows.lastSeq($0) }
    }

    /// Another number than before when something was committed in between.
    public func dataVersion() async throws(JournalError) -> Int64 {
        try await store.read { try Int64.fetchOne($0, sql: "pragma data_version") ?? 0 }
    }

    /// What a whole check of the file finds, for `doctor`: empty when it is sound. It reads every page.
    public func damages() async throws(JournalError) -> [String] {
        try await store.read { try String.fetchAll($0, sql: "pragma integrity_check(20)") }.filter { $0 != "ok" }
    }
}
