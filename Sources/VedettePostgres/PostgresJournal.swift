// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A journal on PostgreSQL, as a process that watches writes it. Commands use `PostgresJournalAccess` beside it.
public final class PostgresJournal: Journal, JournalMaintenance {
    private let worker: ConnectionWorker
    private let readers: ConnectionWorker
    let writer: JournalWriter

    private init(_ worker: ConnectionWorker, _ registration: WatcherRegistration, from start: BootTime) {
        (self.worker, writer) = (worker, JournalWriter(worker, registration, from: start))
        readers = ConnectionWorker(worker.server)
    }

    /// Connects, creates or upgrades the tables, and registers this process as the only one that watches.
    /// - Throws: `.locked` when another process watches; `.newer` for tables that are left as they are.
    public static func open(_ server: PostgresServer) async throws(JournalError) -> PostgresJournal {
        try await open(server, WatcherRegistration.Identity(name: "", configuration: "", isShared: false))
    }

    /// Connects, creates or upgrades the tables, and registers this process as one of several that watch.
    /// - Parameters:
    ///   - name: `settings.watcher`.
    ///   - configuration: a digest of its configuration.
    /// - Throws: `.locked` when another process has the name, or watches alone; `.newer`.
    public static func join(
        _ server: PostgresServer, name: String, configuration: String
    ) async throws(JournalError) -> PostgresJournal {
        try await open(server, WatcherRegistration.Identity(name: name, configuration: configuration, isShared: true))
    }

    private static func open(
        _ server: PostgresServer, _ identity: WatcherRegistration.Identity
    ) async throws(JournalError) -> PostgresJournal {
        let worker = ConnectionWorker(server)
        let location = server.connection.location
        let (start, registration) = try await worker.run { connection in
            try Migrations.migrate(connection, location)
            let start = BootTime.now
            return (start, try WatcherRegistration.register(identity, connection, location))
        }
        let journal = PostgresJournal(worker, registration, from: start)
        try? await worker.run { try WatcherRegistration.notify($0) }
        return journal
    }

    /// The server of the journal.
    var server: PostgresServer { worker.server }

    /// Why this watcher must end: other watchers have taken over, or a later version has upgraded the tables.
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

    func read<T: Sendable>(_ block: @escaping @Sendable (Connection) throws -> T) async throws(JournalError)
        -> T
    {
        try await readers.run(block)
    }

    // MARK: The engine

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] { try await read(SourceRows.records) }

    public func stoppedSinks() async throws(JournalError) -> [StoppedSink] { try await read(StoppedSinkRows.all) }

    public func lateness() async throws(JournalError) -> [String: PollLateness.Report] {
        try await read(PollLatenessRows.all)
    }

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

    public func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) async throws(JournalError) -> Event? {
        try await read { try EventRows.lastOfWatcher($0, kind, other) }
    }

    public func pendingLanes() async throws(JournalError) -> [DeliveryLane] { try await read(DeliveryRows.lanes) }

    public func pending(
        in lane: DeliveryLane, after: Int64, limit: Int
    ) async throws(JournalError) -> [Delivery] {
        try await read { try DeliveryRows.pending($0, in: lane, after: after, limit: limit) }
    }

    public func sent(before delivery: Delivery, limit: Int) async throws(JournalError) -> [Delivery] {
        try await read { try DeliveryRows.sent($0, before: delivery, limit: limit) }
    }

    public func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await read { connection in
            try DeliveryRows.messages(connection, of: rule, to: sink, about: subject, before: before, limit: limit)
        }
    }

    @discardableResult
    public func record(
        _ attempts: [Attempt], within limits: EvictionLimits
    ) async throws(JournalError) -> RecordResult {
        guard !attempts.isEmpty else { return RecordResult() }
        return try await writer.write(.commit) { transaction in
            let successors = try AttemptRows.write(attempts, isFenced: true, transaction)
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evict(afterSuccessors: successors)
        }
    }

    public func excludeFromAge(_ pause: Duration) async throws(JournalError) {
        try await writer.write(nil) { try DeliveryRows.excludeFromAge(pause, $0) }
    }

    public func evict(_ limits: EvictionLimits) async throws(JournalError) -> QueueCheck {
        try await writer.write(.commit) { transaction in
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evictAll()
        }
    }

    // MARK: Maintenance

    public func controlRequests() async throws(JournalError) -> [QueuedRequest] {
        try await read(ControlRequestRows.all)
    }

    public func finish(_ request: QueuedRequest) async throws(JournalError) {
        try await writer.write(nil) { $0.enqueue("delete from request where id = $1", [request.id]) }
    }

    public func controlWakes() throws(JournalError) -> AsyncStream<Void> {
        try NotificationWatch.start(worker.server, for: .requests)
    }

    public func store(_ lateness: PollLateness.Report, of watcher: String) async throws(JournalError) {
        try await writer.write(.commit) { PollLatenessRows.write(lateness, of: watcher, $0) }
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
