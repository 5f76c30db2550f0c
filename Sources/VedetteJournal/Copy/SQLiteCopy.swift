// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import Synchronization
public import VedetteCore

/// A journal in SQLite that is being written by a copy, under another name until it is finished.
public final class SQLiteCopy: JournalTarget, StoreRows {
    static let name = "journal.copying.db"

    let store: JournalStore
    /// Where it goes when it is finished.
    private let place: JournalFiles
    private let lock: StateLock?
    /// Whether another command can go on with it.
    private let isResumable: Bool
    private let isFinished = Mutex(false)

    private init(_ files: JournalFiles, _ place: JournalFiles, _ lock: StateLock?) throws(JournalError) {
        (self.place, self.lock, isResumable) = (place, lock, lock != nil)
        store = try JournalStore.result(files) {
            // No write-ahead log: what is renamed must be one file.
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            try queue.writeWithoutTransaction { db in
                _ = try Migrations.check(db, files)
                try db.execute(sql: "pragma synchronous = full")
                try Migrations.migrate(db)
            }
            return JournalStore(files: files, database: queue)
        }.get()
    }

    /// Begins a copy into a state directory, or goes on with one. No watcher can start there before it is closed.
    /// - Throws: `.readOnly` where there is a journal; `.locked` where a watcher or another copy runs.
    public static func open(directory: String) throws(JournalError) -> SQLiteCopy {
        let place = JournalFiles(directory: directory)
        try place.createDirectory()
        try place.requireLocal()
        let lock = try StateLock(place)
        try place.requireReplaced()
        for path in [place.database, place.database + "-wal"] where JournalFiles.size(path) > 0 {
            throw JournalError(
                .readOnly,
                "\(directory) holds a journal already (\(path)): choose another directory, or compare the two with "
                    + "'vedette journal verify'")
        }
        let files = JournalFiles(directory: directory, name: name)
        let file = Glibc.open(files.database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw JournalError.system(errno, "failed to create \(files.database)", "check its owner and mode")
        }
        Glibc.close(file)
        return try SQLiteCopy(files, place, lock)
    }

    /// Begins a copy into a new file. It is deleted when it is closed before it is finished.
    /// - Throws: `.readOnly` where the file exists or cannot be created.
    public static func open(file: String) throws(JournalError) -> SQLiteCopy {
        let files = try JournalFiles.newFile(file)
        do throws(JournalError) {
            return try SQLiteCopy(files, files, nil)
        } catch {
            files.deleteCopy()
            throw error
        }
    }

    public var location: String { isResumable ? place.directory : place.database }

    public func insert(_ rows: [JournalRow], into table: JournalTable) async throws(JournalError) {
        try await store.write { try CopyRows.insert(rows, into: table, $0) }
    }

    public func finish(_ numbers: JournalNumbers) async throws(JournalError) {
        let files = store.files
        try await store.write { db in
            try CopyRows.write(numbers, db)
            let verdict = try String.fetchOne(db, sql: "pragma quick_check(1)")
            guard verdict == "ok" else { throw JournalError.corrupt(files, verdict ?? "no answer") }
        }
        try JournalStore.result(files) { try store.database.close() }.get()
        try files.flush(files.database)
        if files != place {
            try files.attempt(to: "move \(files.database)") { rename(files.database, place.database) }
        }
        try files.flush(files.directory)
        isFinished.withLock { $0 = true }
        if isResumable { place.notify(.commit) }
    }

    public func close() async {
        try? store.database.close()
        if !isResumable, !isFinished.withLock({ $0 }) { store.files.deleteCopy() }
        lock?.release()
    }
}

extension JournalFiles {
    /// Refuses a directory into which a copy was begun and not finished.
    func requireCopied() throws(JournalError) {
        let copy = JournalFiles(directory: directory, name: SQLiteCopy.name).database
        guard access(copy, F_OK) == 0 else { return }
        throw JournalError(
            .missing,
            "the copy of a journal into \(directory) did not end: repeat 'vedette journal copy', or delete \(copy)")
    }
}
