// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The journal of the one process that watches, on PostgreSQL. Commands use `PostgresJournalAccess` beside it.
public final class PostgresJournal: Journal, JournalMaintenance {
    private let worker: ConnectionWorker
    private let readers: ConnectionWorker
    private let writer: JournalWriter

    private init(_ worker: ConnectionWorker, _ lease: Lease) {
        (self.worker, writer) = (worker, JournalWriter(worker, lease))
        readers = ConnectionWorker(worker.server)
    }

    /// Connects, creates or upgrades the tables, and takes the lease.
    /// - Throws: `.locked` when another process watches; `.newer` for tables that are left as they are.
    public static func open(_ server: PostgresServer) async throws(JournalError) -> PostgresJournal {
        let worker = ConnectionWorker(server)
        let location = server.connection.location
        let lease = try await worker.run { connection in
            try Migrations.migrate(connection, location)
            if let lease = try Lease.take(connection) { return lease }
            let holder = try Lease.holder(connection)
            throw JournalError(
                .locked(pid: holder?.process.pid),
                "\(holder.map { $0.process.text } ?? "another process") is watching with the journal \(location): "
                    + "stop it, or use another --state; \(Lease.delay)")
        }
        let journal = PostgresJournal(worker, lease)
        try? await worker.run { try Lease.notify($0) }
        return journal
    }

    /// The end of the lease: another watcher has taken over, and this one must end.
    public var losses: AsyncStream<JournalError> { writer.losses }

    /// Sets what is called where a write waits for the server to come back.
    public func reportAway(to report: @escaping @Sendable (JournalError) -> Void) {
        writer.reportAway(to: report)
    }

    public func close() async throws(JournalError) {
        await writer.close()
        await readers.disconnect()
        await worker.disconnect()
    }

    private func read<T: Sendable>(_ block: @escaping @Sendable (Connection) throws -> T) async throws(JournalError)
        -> T
    {
        try await readers.run(block)
    }

    // MARK: The engine

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] { try await read(SourceRows.records) }

    public func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await read { try SourceRows.items($0, of: source) }
    }

    public func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await read { try SourceRows.items($0, of: source, withKeys: keys) }
    }

    public func ruleMemories() async throws(JournalError) -> [RuleMemory] { try await read(RuleMemoryRows.all) }

    public func silences() async throws(JournalError) -> [Silence] { try await read(SilenceRows.all) }

    public func lastOfWatcher() async throws(JournalError) -> Event? { try await read(EventRows.lastOfWatcher) }

    public func commit(_ polls: [PollRecord], within limits: QueueLimits) async throws(JournalError) -> CommitResult {
        guard !polls.isEmpty else { return CommitResult(polls: []) }
        return try await writer.write(.commit) { transaction in
            var writer = try PollWriter(transaction, polls)
            let committed = polls.map { writer.write($0) }
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evict(after: committed)
        }
    }

    public func write(deferred writes: [DeferredWrite]) async throws(JournalError) {
        guard !writes.isEmpty else { return }
        try await writer.write(.commit) { transaction in
            let records = writes.map { PollRecord(record: $0.record, writes: $0.items) }
            var writer = try PollWriter(transaction, records)
            for record in records { _ = writer.write(record) }
        }
    }

    public func pendingLanes() async throws(JournalError) -> [DeliveryLane] { try await read(DeliveryRows.lanes) }

    public func pending(
        in lane: DeliveryLane, after: Int64, limit: Int
    ) async throws(JournalError) -> [Delivery] {
        try await read { try DeliveryRows.pending($0, in: lane, after: after, limit: limit) }
    }

    @discardableResult
    public func record(
        _ attempts: [Attempt], within limits: QueueLimits
    ) async throws(JournalError) -> RecordResult {
        guard !attempts.isEmpty else { return RecordResult() }
        return try await writer.write(.commit) { transaction in
            let successors = try AttemptRows.write(attempts, transaction)
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evict(afterSuccessors: successors)
        }
    }

    public func excludeFromAge(_ pause: Duration) async throws(JournalError) {
        try await writer.write(nil) { try DeliveryRows.excludeFromAge(pause, $0) }
    }

    public func evict(_ limits: QueueLimits) async throws(JournalError) -> QueueCheck {
        try await writer.write(.commit) { transaction in
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evictAll()
        }
    }

    // MARK: Maintenance

    public func controlRequests() async throws(JournalError) -> [QueuedRequest] { try await read(RequestRows.all) }

    public func finish(_ request: QueuedRequest) async throws(JournalError) {
        try await writer.write(nil) { $0.enqueue("delete from request where id = $1", [request.id]) }
    }

    public func controlWakes() throws(JournalError) -> AsyncStream<Void> {
        try NotificationWatch.start(worker.server, for: .requests)
    }

    public func prune(_ retention: Retention) async throws(JournalError) {
        try await pruning.prune(retention)
    }

    var pruning: PostgresPruning { PostgresPruning(readers: readers, writer: writer) }

    /// PostgreSQL checks its pages itself.
    public func checkInBackground() {}

    /// The bytes of the texts of events and deliveries. What the server uses for them, for indexes and for rows that are
    /// deleted but not yet vacuumed is about twice as much; that part does not shrink with a deletion.
    public func size() async throws(JournalError) -> Int64 {
        try await read { try $0.run("select bytes from journal").first?.int64(0) ?? 0 }
    }
}

extension PostgresJournal: CookieStore {
    /// Nil also when it cannot be read: the server then makes a new session.
    public func cookies(of session: String) async -> [UInt8]? {
        do throws(JournalError) {
            return try await read { try CookieRows.jar($0, of: session) }
        } catch {
            return nil
        }
    }

    /// A jar that cannot be written is lost at the end of this run; nothing else is.
    public func keep(_ jar: [UInt8], of session: String) async {
        _ = try? await writer.write(nil) { CookieRows.keep(jar, of: session, $0) }
    }

    public func forgetCookies(keeping sessions: Set<String>) async throws(JournalError) {
        try await writer.write(nil) { try CookieRows.forget($0, keeping: sessions) }
    }
}
