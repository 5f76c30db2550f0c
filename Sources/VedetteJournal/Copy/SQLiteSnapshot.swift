// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
public import VedetteCore

/// The rows of a journal in a state directory, as they are when it is opened.
public final class SQLiteSnapshot: JournalRows, StoreRows {
    let store: JournalStore
    private let lock: StateLock?

    private init(_ store: JournalStore, _ lock: StateLock?) { (self.store, self.lock) = (store, lock) }

    /// - Parameter isExclusive: no watcher can start before it is closed.
    /// - Throws: `.locked` when it is exclusive and a watcher runs; `.missing`, `.older`, `.newer` or `.corrupt`.
    public static func open(directory: String, isExclusive: Bool) async throws(JournalError) -> SQLiteSnapshot {
        let files = JournalFiles(directory: directory)
        guard let identity = files.identity else {
            throw errno == EACCES ? JournalError.denied(files) : JournalError.missing(files)
        }
        guard identity.size > 0 else { throw JournalError.missing(files) }
        let lock = isExclusive ? try StateLock(files) : nil
        try files.requireReplaced()
        var configuration = JournalStore.configuration(readonly: true)
        // One transaction from here to the end.
        configuration.allowsUnsafeTransactions = true
        let queue = try JournalStore.result(files) { [configuration] in
            try DatabaseQueue(path: files.database, configuration: configuration)
        }.get()
        let store = JournalStore(files: files, database: queue)
        try await store.run { db in
            try db.beginTransaction(.deferred)
            try Migrations.requireCurrent(db, files)
        }
        return SQLiteSnapshot(store, lock)
    }

    public var location: String { store.files.directory }

    public func close() async {
        _ = try? await store.run { try $0.rollback() }
        try? store.database.close()
        lock?.release()
    }
}
