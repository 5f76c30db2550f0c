// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One connection for work that must not go on with another one, since a transaction or a lock belongs to it.
struct PostgresSession: Sendable {
    private let worker: ConnectionWorker
    private let connection: Connection

    var location: String { worker.server.connection.location }

    /// Connects, without the limit for a transaction that waits: the other side of a copy may be slow.
    static func open(_ server: PostgresServer) async throws(JournalError) -> PostgresSession {
        let worker = ConnectionWorker(server)
        let connection = try await worker.run { connection in
            _ = try connection.run([SQLCommand("set idle_in_transaction_session_timeout = 0", isPrepared: false)])
            return connection
        }
        return PostgresSession(worker: worker, connection: connection)
    }

    /// - Throws: `.unavailable` once the connection has ended.
    func run<T: Sendable>(_ call: @escaping @Sendable (Connection) throws -> T) async throws(JournalError) -> T {
        try await worker.run { [connection] current in
            guard current === connection else {
                throw PostgresError(.lost, "the connection ended; repeat the command")
            }
            return try call(current)
        }
    }

    func close() async { await worker.disconnect() }
}
