// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
public import VedetteCore

/// The journal of the one process that watches: a SQLite file in WAL mode with synchronous=FULL, so that a returned
/// commit survives a power cut. Commands use `SQLiteJournalAccess` beside it.
public final class SQLiteJournal: Journal, JournalMaintenance {
    let store: JournalStore
    /// The items that this process has read and written lately. Nobody else writes items while it has the lock.
    let cache = Mutex(ItemCache())
    /// A connection of its own for the items of a poll: the pool passes three threads on its way to a connection, which is as
    /// much work as the statement.
    private let itemReader: JournalStore
    /// Sources whose items took long to read: they are read through the pool, so that no other poll waits for them.
    private let long = Mutex<Set<String>>([])
    private let lock: StateLock
    /// More items than these take over a millisecond.
    private static let longList = 1000
    /// True when the file was too large to be checked while it was opened.
    private let isUnchecked: Bool

    init(store: JournalStore, itemReader: JournalStore, lock: StateLock, isUnchecked: Bool) {
        (self.store, self.itemReader, self.lock, self.isUnchecked) = (store, itemReader, lock, isUnchecked)
    }

    /// Creates the directory when it is missing, takes its lock and upgrades the tables. Blocks while it does so.
    /// - Throws: `.locked` when another process watches; `.newer` and `.corrupt` for a file that is left as it is.
    public static func open(directory: String) throws(JournalError) -> SQLiteJournal {
        try open(directory: directory, checkingUpTo: 64 << 20)
    }

    /// - Parameter limit: bytes up to which a file is checked whole; a larger one would delay the first poll by seconds.
    static func open(directory: String, checkingUpTo limit: Int64) throws(JournalError) -> SQLiteJournal {
        let files = JournalFiles(directory: directory)
        try files.create()
        try files.requireLocal()
        let lock = try StateLock(files)
        try files.requireCopied()
        try JournalReplacement(interruptedIn: files)?.finish()
        let isUnchecked = (files.identity?.size ?? 0) > limit
        let (store, itemReader) = try JournalStore.result(files) {
            try inspect(files, isWhole: !isUnchecked)
            let pool = try DatabasePool(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            try pool.writeWithoutTransaction { db in
                // Here and not in the configuration: opening a pool sets NORMAL behind the configuration's back.
                try db.execute(sql: "pragma synchronous = full; pragma journal_size_limit = \(16 << 20)")
                // A page that many commits change is copied into the database once. The log stays below the limit above.
                try db.execute(sql: "pragma wal_autocheckpoint = 3000")
                try Migrations.migrate(db)
            }
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: true))
            return (JournalStore(files: files, database: pool), JournalStore(files: files, database: queue))
        }.get()
        files.notify(.commit)
        return SQLiteJournal(store: store, itemReader: itemReader, lock: lock, isUnchecked: isUnchecked)
    }

    /// Checks a file before anything is written to it.
    private static func inspect(_ files: JournalFiles, isWhole: Bool) throws {
        guard let size = files.identity?.size, size > 0 else { return }
        let queue = try DatabaseQueue(
            path: files.database, configuration: JournalStore.configuration(readonly: true))
        try queue.read { db in
            if try Migrations.check(db, files) > 0, isWhole { try quickCheck(db, files) }
        }
        try queue.close()
    }

    private static func quickCheck(_ db: Database, _ files: JournalFiles) throws {
        let verdict = try String.fetchOne(db, sql: "pragma quick_check(1)") ?? "no answer"
        guard verdict == "ok" else { throw JournalError.corrupt(files, verdict) }
    }

    /// Writes the log back into the database, closes it and releases the lock.
    public func close() throws(JournalError) {
        let store = store
        try JournalStore.result(store.files) {
            // A failure to close it does no harm.
            try? itemReader.database.close()
            // A reader that is active makes this partial, which makes the next start slower and loses nothing.
            _ = try? store.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try store.database.close()
        }.get()
        lock.release()
        store.files.notify(.commit)
    }

    /// Frees what its connections keep in memory beside the items: pages of the database, and statements. The next commit reads
    /// what it needs of them again.
    public func releaseMemory() async {
        await store.releaseMemory()
        await itemReader.releaseMemory()
    }

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] {
        try await store.read { try SourceRows.records($0, SourceRecordCache()) }
    }

    public func stoppedSinks() async throws(JournalError) -> [StoppedSink] {
        try await store.read { try StoppedSinkRows.all($0) }
    }

    public func lateness() async throws(JournalError) -> [String: PollLateness.Report] {
        try await store.read { try PollLatenessRows.all($0) }
    }

    public func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        if let items = cache.withLock({ $0.items(of: source) }) { return items }
        let isLong = long.withLock { $0.contains(source) }
        let reading = cache.withLock { $0.beginReading(source) }
        let items: [String: StoredItem]
        do throws(JournalError) {
            items =
                isLong
                ? try await store.read { try SourceRows.items($0, of: source) }
                : try await itemReader.readStatement { try SourceRows.items($0, of: source) }
        } catch {
            cache.withLock { $0.end(reading, nil) }
            throw error
        }
        cache.withLock { $0.end(reading, items) }
        if isLong != (items.count > SQLiteJournal.longList) {
            long.withLock { names in
                if isLong { names.remove(source) } else { names.insert(source) }
            }
        }
        return items
    }

    public func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await store.read { try SourceRows.items($0, of: source, withKeys: keys) }
    }

    public func ruleMemories() async throws(JournalError) -> [RuleMemory] {
        try await store.read { try RuleMemoryRows.all($0) }
    }

    public func silences() async throws(JournalError) -> [Silence] { try await store.read { try SilenceRows.all($0) } }

    public func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) async throws(JournalError) -> Event? {
        try await store.read { try EventRows.lastOfWatcher($0, [kind, other]) }
    }

    public func pendingLanes() async throws(JournalError) -> [DeliveryLane] {
        try await store.read { try DeliveryRows.lanes($0) }
    }

    public func pending(
        in lane: DeliveryLane, after: Int64, limit: Int
    ) async throws(JournalError) -> [Delivery] {
        try await store.read { try DeliveryRows.pending($0, in: lane, after: after, limit: limit) }
    }

    public func sent(before delivery: Delivery, limit: Int) async throws(JournalError) -> [Delivery] {
        try await store.read { try DeliveryRows.sent($0, before: delivery, limit: limit) }
    }

    public func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await store.read { db in
            try DeliveryRows.messages(db, of: rule, to: sink, about: subject, before: before, limit: limit)
        }
    }

    @discardableResult
    public func record(
        _ attempts: [Attempt], within limits: EvictionLimits
    ) async throws(JournalError) -> RecordResult {
        guard !attempts.isEmpty else { return RecordResult() }
        let result = try await store.write { db in
            let successors = try AttemptRows.write(attempts, db)
            var eviction = QueueEviction(limits, SQLiteQueues(db: db))
            return try eviction.evict(afterSuccessors: successors)
        }
        store.files.notify(.commit)
        return result
    }

    public func excludeFromAge(_ pause: Duration) async throws(JournalError) {
        try await store.write { try DeliveryRows.excludeFromAge(pause, $0) }
    }

    public func evict(_ limits: EvictionLimits) async throws(JournalError) -> QueueCheck {
        let check = try await store.write { db in
            var eviction = QueueEviction(limits, SQLiteQueues(db: db))
            return try eviction.evictAll()
        }
        if !check.eviction.isEmpty { store.files.notify(.commit) }
        return check
    }

    // MARK: Maintenance

    public func controlRequests() async throws(JournalError) -> [QueuedRequest] {
        try await store.read { try ControlRequestRows.all($0) }
    }

    public func finish(_ request: QueuedRequest) async throws(JournalError) {
        try await store.write { try ControlRequestRows.delete(request.id, $0) }
    }

    public func controlWakes() throws(JournalError) -> AsyncStream<Void> {
        try store.files.wakes(for: .requests)
    }

    public func store(_ lateness: PollLateness.Report, of watcher: String) async throws(JournalError) {
        try await store.write { try PollLatenessRows.write(lateness, of: watcher, $0) }
        store.files.notify(.commit)
    }

    public func prune(_ retention: Retention) async throws(JournalError) {
        // The rows of a source that is configured no longer may be deleted, and its name may come back.
        cache.withLock { $0.keep(retention.sources) }
        try await SQLitePruning(store: store).prune(retention)
    }

    public func checkInBackground() async throws(JournalError) {
        guard isUnchecked else { return }
        let files = store.files
        // A connection of its own: the journal's must not wait for it when it closes.
        let queue = try JournalStore.result(files) {
            try DatabaseQueue(path: files.database, configuration: JournalStore.configuration(readonly: true))
        }.get()
        let store = JournalStore(files: files, database: queue)
        let result: Result<Void, JournalError> = await withTaskCancellationHandler {
            do throws(JournalError) {
                return .success(try await store.read { try SQLiteJournal.quickCheck($0, files) })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            queue.interrupt()
        }
        // Only damage is a result of the check; a busy database or an interruption is none.
        if case .failure(let error) = result, error.reason == .corrupt { throw error }
    }

    public func size() async throws(JournalError) -> Int64 {
        try await store.read { db in
            let pages = try Int64.fetchOne(db, sql: "pragma page_count") ?? 0
            let free = try Int64.fetchOne(db, sql: "pragma freelist_count") ?? 0
            return (pages - free) * (try Int64.fetchOne(db, sql: "pragma page_size") ?? 0)
        }
    }
}
