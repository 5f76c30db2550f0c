// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A journal on PostgreSQL that is being written by a copy. Its version is negative until it is finished, so that no watcher
/// and no command takes it for a journal.
struct PostgresCopy: JournalTarget, SessionRows {
    let session: PostgresSession

    /// Begins a copy into a schema without a journal, or goes on with one.
    /// - Throws: `.readOnly` where there is a journal; `.busy` where another copy into it runs.
    static func open(_ server: PostgresServer) async throws(JournalError) -> PostgresCopy {
        let location = server.connection.location
        let session = try await PostgresSession.open(server)
        do throws(JournalError) {
            try await session.run { try Migrations.beginCopy($0, location) }
        } catch {
            await session.close()
            throw error
        }
        return PostgresCopy(session: session)
    }

    func insert(_ rows: [JournalRow], into table: JournalTable) async throws(JournalError) {
        try await session.run { connection in
            let inserts = try CopyRows.inserts(rows, into: table)
            try connection.transaction { _ = try connection.run(inserts) }
        }
    }

    func finish(_ numbers: JournalNumbers) async throws(JournalError) {
        try await session.run { connection in
            // Else the first statements would be planned for empty tables.
            for table in JournalTable.all {
                _ = try connection.run([SQLCommand("analyze \(table.name)", isPrepared: false)])
            }
            try connection.transaction {
                _ = try connection.run(CopyRows.update(numbers))
                try Migrations.finishCopy(connection)
            }
            try WatcherRegistration.notify(connection)
        }
    }

    func close() async {
        // Else the lock would end a moment after the connection, and the next copy could find it.
        _ = try? await session.run { try $0.run("select pg_advisory_unlock_all()").count }
        await session.close()
    }
}
