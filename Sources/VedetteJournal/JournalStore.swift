// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import VedetteCore

/// Runs blocks on the database's own queues. A block once begun goes to its end: the cancellation of the waiting task
/// does not reach it, for half of a shutdown's writes would be no shutdown.
struct JournalStore: Sendable {
    /// Longest wait for a lock that a foreign program holds.
    static let patience = 5.0

    let files: JournalFiles
    let database: any DatabaseWriter

    /// One immediate transaction: all of the block, or nothing.
    func write<T: Sendable>(
        _ block: @escaping @Sendable (Database) throws -> T
    ) async throws(JournalError) -> T {
        let (database, files) = (database, files)
        let result: Result<T, JournalError> = await withCheckedContinuation { waiter in
            database.asyncWriteWithoutTransaction { db in
                waiter.resume(returning: JournalStore.result(files) { try JournalStore.transaction(db, block) })
            }
        }
        return try result.get()
    }

    /// One deferred transaction, over when the block is.
    func read<T: Sendable>(_ block: @escaping @Sendable (Database) throws -> T) async throws(JournalError) -> T {
        let (database, files) = (database, files)
        let result: Result<T, JournalError> = await withCheckedContinuation { waiter in
            database.asyncRead { db in
                waiter.resume(returning: JournalStore.result(files) { try block(try db.get()) })
            }
        }
        return try result.get()
    }

    static func transaction<T>(_ db: Database, _ block: (Database) throws -> T) throws -> T {
        try db.beginTransaction(.immediate)
        do {
            let value = try block(db)
            try db.commit()
            return value
        } catch {
            // SQLite may have rolled back already; then this does nothing.
            try? db.rollback()
            throw error
        }
    }

    static func result<T>(_ files: JournalFiles, _ block: () throws -> T) -> Result<T, JournalError> {
        Result(catching: block).mapError { JournalError.from($0, files) }
    }

    /// - Parameter readonly: no write can happen through the connection.
    static func configuration(readonly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.label = "vedette.journal"
        configuration.busyMode = .timeout(patience)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { db in
            // The -wal and -shm files outlive the last connection: a reader who may not write in the directory could
            // not make them. It cannot fail for a file; what it would set stays as it is then.
            var one: CInt = 1
            _ = sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &one)
        }
        return configuration
    }
}
