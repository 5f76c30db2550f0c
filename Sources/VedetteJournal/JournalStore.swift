// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import VedetteCore

/// Runs blocks on the database's own queues. The cancellation of the waiting task does not stop a block: a shutdown
/// completes its writes.
struct JournalStore: Sendable {
    /// Longest wait in seconds for a lock that another program holds.
    static let lockTimeout = 5.0

    let files: JournalFiles
    let database: any DatabaseWriter

    /// Runs a block in one immediate transaction: all of it, or nothing.
    func write<T: Sendable>(
        _ block: @escaping @Sendable (Database) throws -> T
    ) async throws(JournalError) -> T {
        try await run { try JournalStore.transaction($0, block) }
    }

    /// Runs a block in the transaction that is open, or in none.
    func run<T: Sendable>(_ block: @escaping @Sendable (Database) throws -> T) async throws(JournalError) -> T {
        let (database, files) = (database, files)
        let result: Result<T, JournalError> = await withCheckedContinuation { waiter in
            database.asyncWriteWithoutTransaction { db in
                waiter.resume(returning: JournalStore.result(files) { try block(db) })
            }
        }
        return try result.get()
    }

    /// Writes the log back into the database and empties it, unless a reader is active.
    func checkpoint() async {
        let database = database
        await withCheckedContinuation { waiter in
            database.asyncWriteWithoutTransaction { db in
                // To wait for a reader would hold up every commit meanwhile.
                try? db.execute(sql: "pragma busy_timeout = 0")
                _ = try? db.checkpoint(.truncate)
                try? db.execute(sql: "pragma busy_timeout = \(Int(JournalStore.lockTimeout * 1000))")
                waiter.resume()
            }
        }
    }

    /// Frees what connections keep: pages of the database, and statements. Connections that only read are closed.
    func releaseMemory() async {
        let database = database
        (database as? DatabasePool)?.releaseMemoryEventually()
        await withCheckedContinuation { waiter in
            database.asyncWriteWithoutTransaction { db in
                db.releaseMemory()
                waiter.resume()
            }
        }
    }

    /// Runs a block in one deferred transaction.
    func read<T: Sendable>(_ block: @escaping @Sendable (Database) throws -> T) async throws(JournalError) -> T {
        let (database, files) = (database, files)
        let result: Result<T, JournalError> = await withCheckedContinuation { waiter in
            database.asyncRead { db in
                waiter.resume(returning: JournalStore.result(files) { try block(try db.get()) })
            }
        }
        return try result.get()
    }

    /// Runs a block of one statement that reads, in no transaction.
    func readStatement<T: Sendable>(
        _ block: @escaping @Sendable (Database) throws -> T
    ) async throws(JournalError) -> T {
        let (database, files) = (database, files)
        let result: Result<T, JournalError> = await withCheckedContinuation { waiter in
            database.asyncUnsafeRead { db in
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
        configuration.busyMode = .timeout(lockTimeout)
        configuration.maximumReaderCount = 3
        configuration.prepareDatabase { db in
            // Keeps the -wal and -shm files after the last connection: a reader without write permission for the directory
            // could not create them. The call cannot fail for a file.
            var one: CInt = 1
            _ = sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &one)
        }
        return configuration
    }
}
