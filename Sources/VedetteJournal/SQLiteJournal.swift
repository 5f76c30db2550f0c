// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// The journal of the one process that watches: a SQLite file in WAL mode with synchronous=FULL, so that what a commit
/// returned survives a power cut. Others read beside it through `JournalReader`.
public final class SQLiteJournal: Journal {
    let store: JournalStore
    private let lock: StateLock

    private init(store: JournalStore, lock: StateLock) { (self.store, self.lock) = (store, lock) }

    /// Makes the directory when it is missing, takes its lock and brings the tables to this version. Blocks while it
    /// does so.
    /// - Throws: `.locked` when another process watches; `.newer` and `.corrupt` for a file that is left as it is.
    public static func open(directory: String) throws(JournalError) -> SQLiteJournal {
        let files = JournalFiles(directory: directory)
        try files.create()
        let lock = try StateLock(files)
        let store = try JournalStore.result(files) {
            try inspect(files)
            let pool = try DatabasePool(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            try pool.writeWithoutTransaction { db in
                // Here and not in the configuration: opening a pool sets NORMAL behind the configuration's back.
                try db.execute(sql: "pragma synchronous = full; pragma journal_size_limit = \(16 << 20)")
                try Migrations.migrate(db)
            }
            return JournalStore(files: files, database: pool)
        }.get()
        files.ring()
        return SQLiteJournal(store: store, lock: lock)
    }

    /// The process that watches with this state now; nil when none does.
    public static func holder(directory: String) -> Int32? { StateLock.holder(JournalFiles(directory: directory)) }

    /// Files up to this size are checked whole at start; a larger one would hold up the first poll for seconds.
    private static let checkedWhole: Int64 = 64 << 20

    /// Looks at a file before anything is written to it.
    private static func inspect(_ files: JournalFiles) throws {
        guard let size = files.identity?.size, size > 0 else { return }
        let queue = try DatabaseQueue(
            path: files.database, configuration: JournalStore.configuration(readonly: true))
        try queue.read { db in
            guard try Migrations.check(db, files) > 0, size <= checkedWhole else { return }
            let verdict = try String.fetchOne(db, sql: "pragma quick_check(1)") ?? "no answer"
            guard verdict == "ok" else { throw JournalError.corrupt(files, verdict) }
        }
        try queue.close()
    }

    /// Writes the log back into the file and lets go of file and lock. Nothing may be asked of the journal after it.
    public func close() throws(JournalError) {
        let store = store
        try JournalStore.result(store.files) {
            // A reader at work makes this partial, which costs the next start a little and loses nothing.
            _ = try? store.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try store.database.close()
        }.get()
        lock.release()
    }

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] {
        let files = store.files
        return try await store.read { try SourceRows.records($0, files) }
    }

    public func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await store.read { try SourceRows.items($0, of: source) }
    }

    public func lastOfWatcher() async throws(JournalError) -> Event? {
        try await store.read { try EventRows.lastOfWatcher($0) }
    }

    public func commit(_ polls: [PollRecord]) async throws(JournalError) -> [Committed] {
        guard !polls.isEmpty else { return [] }
        let committed = try await store.write { db in
            var writer = try PollWriter(db)
            return try polls.map { try writer.write($0) }
        }
        if committed.contains(where: { !$0.events.isEmpty }) { store.files.ring() }
        return committed
    }

    public func touch(_ touches: [DeferredWrite]) async throws(JournalError) {
        guard !touches.isEmpty else { return }
        try await store.write { db in
            var writer = try PollWriter(db)
            for touch in touches { _ = try writer.write(PollRecord(record: touch.record, writes: touch.items)) }
        }
    }

    public func pendingLanes() async throws(JournalError) -> [DeliveryLane] {
        try await store.read { try DeliveryRows.lanes($0) }
    }

    public func pending(
        in lane: DeliveryLane, after: Int64, limit: Int
    ) async throws(JournalError) -> [Delivery] {
        try await store.read { try DeliveryRows.pending($0, in: lane, after: after, limit: limit) }
    }

    @discardableResult
    public func record(_ attempts: [Attempt]) async throws(JournalError) -> [Delivery] {
        guard !attempts.isEmpty else { return [] }
        return try await store.write { try AttemptRows.write(attempts, $0) }
    }

    public func overflow(_ limits: [OutboxLimit], most limit: Int) async throws(JournalError) -> Overflow {
        try await store.read { try OverflowRows.of(limits, most: limit, $0) }
    }

    public func prune(
        eventsBefore: Timestamp, keeping sources: Set<String>, abandoned: Timestamp
    ) async throws(JournalError) {
        while try await store.write({ try Pruning.endedDeliveries($0, before: eventsBefore) }) == Pruning.batch {}
        var place: Pruning.PruningPosition? = Pruning.PruningPosition()
        while let from = place {
            place = try await store.write { try Pruning.events($0, before: eventsBefore, from: from) }
        }
        let gone = try await store.read { try Pruning.abandonedSources($0, keeping: sources, before: abandoned) }
        for source in gone {
            while try await store.write({ try Pruning.source($0, source) }) == false {}
        }
    }

    /// Bytes in use, deleted ones apart.
    public func size() async throws(JournalError) -> Int64 {
        try await store.read { db in
            let pages = try Int64.fetchOne(db, sql: "pragma page_count") ?? 0
            let free = try Int64.fetchOne(db, sql: "pragma freelist_count") ?? 0
            return (pages - free) * (try Int64.fetchOne(db, sql: "pragma page_size") ?? 0)
        }
    }

    /// What other commands asked since the last call, in their order; each is handed out once.
    public func takeRequests() async throws(JournalError) -> [JournalRequest] {
        // Mostly there is none, and looking takes no lock.
        guard try await store.read({ try ControlQueue.areWaiting($0) }) else { return [] }
        return try await store.write { try ControlQueue.take($0) }
    }
}
