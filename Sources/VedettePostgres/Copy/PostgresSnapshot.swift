// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of a journal on PostgreSQL, as they are when it is opened.
struct PostgresSnapshot: SessionRows {
    let session: PostgresSession

    /// - Parameter isExclusive: nothing can be changed before it is closed.
    /// - Throws: `.locked` when it is exclusive and a watcher runs; `.missing`, `.older` or `.newer`.
    static func open(
        _ server: PostgresServer, isExclusive: Bool
    ) async throws(JournalError) -> PostgresSnapshot {
        let location = server.connection.location
        if isExclusive, let watcher = await PostgresJournalAccess(server).watcher() {
            throw JournalError(
                .locked(pid: watcher.pid), "\(watcher.text) is watching with the journal \(location): stop it first")
        }
        let session = try await PostgresSession.open(server)
        do throws(JournalError) {
            try await session.run { connection in
                let mode = isExclusive ? "" : ", read only"
                _ = try connection.run([SQLCommand("begin isolation level repeatable read\(mode)", isPrepared: false)])
                try Migrations.requireCurrent(connection, location)
                // Every change of a journal locks this row.
                if isExclusive { try connection.run("select 1 from journal for share") }
            }
        } catch {
            await session.close()
            throw error
        }
        return PostgresSnapshot(session: session)
    }

    func close() async {
        _ = try? await session.run { try $0.run("rollback").count }
        await session.close()
    }
}
