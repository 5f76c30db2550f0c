// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A journal on PostgreSQL, for commands and buttons of notifications. All calls share one connection.
public struct PostgresJournalAccess: EditableJournal {
    private let worker: ConnectionWorker

    public init(_ server: PostgresServer) { worker = ConnectionWorker(server) }

    var server: PostgresServer { worker.server }

    public var location: String { server.connection.location }

    public func watcher() async -> WatcherProcess? {
        do throws(JournalError) {
            let processes = try await watchers().map(\.process.local)
            return processes.first { $0.host == nil } ?? processes.first
        } catch {
            return nil
        }
    }

    public func watchers() async throws(JournalError) -> [RegisteredWatcher] {
        try await worker.run { try WatcherRegistration.all($0, isExpiredToo: false) }
    }

    public func reader() async throws(JournalError) -> any JournalReader {
        let location = location
        try await worker.run { try Migrations.requireCurrent($0, location) }
        return PostgresJournalReader(worker)
    }

    public func changes() throws(JournalError) -> AsyncStream<Void> {
        try NotificationWatch.start(server, for: .all)
    }

    /// Reads what `doctor` checks of the server.
    public func serverFacts() async throws(JournalError) -> PostgresFacts {
        try await worker.run { try PostgresFacts($0) }
    }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        throw JournalError(
            .refused, "the journal \(location) is repaired by PostgreSQL: restore a backup, or fail over to a standby")
    }

    public func edit<Answer: Sendable>(
        at now: Timestamp, _ change: @escaping @Sendable (any JournalEdit) throws -> (Answer, [ControlRequest])
    ) async throws(JournalError) -> Answer {
        let location = location
        return try await worker.run { connection in
            try Migrations.requireCurrent(connection, location)
            let transaction = try Transaction(connection, writer: nil)
            do {
                let (answer, requests) = try change(PostgresEdit(transaction: transaction))
                for request in requests { ControlRequestRows.write(request, at: now, transaction) }
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
