// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A journal on PostgreSQL, for commands and buttons of notifications. All calls share one connection.
public struct PostgresJournalAccess: JournalAccess {
    private let worker: ConnectionWorker

    public init(_ server: PostgresServer) { worker = ConnectionWorker(server) }

    public var location: String { worker.server.connection.location }

    public func watcher() async -> WatcherProcess? {
        do throws(JournalError) {
            return try await worker.run { try Lease.holder($0)?.process.local }
        } catch {
            return nil
        }
    }

    public func reader() async throws(JournalError) -> any JournalReader {
        let location = location
        try await worker.run { try Migrations.requireCurrent($0, location) }
        return PostgresJournalReader(worker)
    }

    public func changes() throws(JournalError) -> AsyncStream<Void> {
        try NotificationWatch.start(worker.server, for: .all)
    }

    /// Reads what `doctor` checks of the server.
    public func serverFacts() async throws(JournalError) -> PostgresFacts {
        try await worker.run { try PostgresFacts($0) }
    }

    public func add(_ silence: Silence) async throws(JournalError) -> Int64 {
        try await edit(at: silence.created) { transaction in
            SilenceRows.endOver(before: silence.created, transaction)
            return (try SilenceRows.add(silence, transaction), [.reloadSilences])
        }
    }

    public func endSilences(_ ids: [Int64], at now: Timestamp) async throws(JournalError) -> Int {
        try await edit(at: now) { (try SilenceRows.endNow(ids, $0), [.reloadSilences]) }
    }

    public func retry(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        let resumed = [selection.wholeSink].compactMap { $0 }
        return try await change(DeliveryChange(.retry, selection, at: now), resumed, at: now) { .retry(sink: $0) }
    }

    public func drop(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        try await change(DeliveryChange(.drop, selection, at: now), at: now) { .reloadQueue(sink: $0) }
    }

    public func clear(_ selection: DeliverySelection, at now: Timestamp) async throws(JournalError) -> Int {
        try await change(DeliveryChange(.clear, selection, at: now), at: now) { .reloadQueue(sink: $0) }
    }

    public func accept(source: String, at now: Timestamp) async throws(JournalError) {
        try await edit(at: now) { _ in ((), [.accept(source: source)]) }
    }

    public func backup(to path: String) throws(JournalError) {
        throw JournalError(
            .refused, "the journal \(location) is backed up with PostgreSQL's own tools: pg_dump, or a base backup")
    }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        throw JournalError(
            .refused, "the journal \(location) is repaired by PostgreSQL: restore a backup, or fail over to a standby")
    }

    private func change(
        _ change: DeliveryChange, _ resumed: [String] = [], at now: Timestamp,
        _ request: @escaping @Sendable (String) -> ControlRequest
    ) async throws(JournalError) -> Int {
        var (change, count) = (change, 0)
        while !change.isDone {
            let (next, changed) = try await edit(at: now) { [change] transaction in
                var step = change
                let sinks = try step.run(transaction)
                return ((step, sinks.count), Set(sinks + resumed).sorted().map(request))
            }
            (change, count) = (next, count + changed)
        }
        return count
    }

    /// Makes a change and writes its control requests in one transaction, then wakes the watcher and the readers.
    private func edit<Answer: Sendable>(
        at now: Timestamp, _ change: @escaping @Sendable (Transaction) throws -> (Answer, [ControlRequest])
    ) async throws(JournalError) -> Answer {
        let location = location
        return try await worker.run { connection in
            try Migrations.requireCurrent(connection, location)
            let transaction = try Transaction(connection, epoch: nil)
            do {
                let (answer, requests) = try change(transaction)
                for request in requests { RequestRows.write(request, at: now, transaction) }
                guard case .inDoubt(let error) = try transaction.commit(.requests) else { return answer }
                throw JournalError(
                    .unavailable,
                    "the connection to the journal \(location) ended (\(error.message)), and it is unknown whether the "
                        + "change was made: look at the journal before you repeat the command")
            } catch {
                transaction.rollback()
                throw error
            }
        }
    }
}
