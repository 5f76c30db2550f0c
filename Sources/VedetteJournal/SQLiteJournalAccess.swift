// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
public import VedetteCore
import VedetteSystem

/// A SQLite journal in a state directory, for commands and buttons of notifications. A change is made on a thread of its
/// own: it may wait for another program's lock.
public struct SQLiteJournalAccess: EditableJournal {
    private let files: JournalFiles
    private let records = SourceRecordCache()

    public init(directory: String) { files = JournalFiles(directory: directory) }

    public var location: String { files.directory }

    public func watcher() -> WatcherProcess? { StateLock.holder(files).map { WatcherProcess(pid: $0) } }

    public func reader() throws(JournalError) -> any JournalReader { try SQLiteJournalReader(files, records) }

    public func changes() throws(JournalError) -> AsyncStream<Void> { try files.wakes(for: .all) }

    /// Writes a consistent copy to a new file, and checks it. The watcher may go on.
    /// - Throws: `.readOnly` when the file exists or cannot be created.
    public func backup(to path: String) async throws(JournalError) {
        try await beside { () throws(JournalError) in try backupNow(to: path) }
    }

    private func backupNow(to path: String) throws(JournalError) {
        let reader = try SQLiteJournalReader(files)
        let target = try JournalFiles.newFile(path)
        do throws(JournalError) {
            try JournalStore.result(target) {
                let copy = try DatabaseQueue(path: path)
                try reader.store.database.backup(to: copy)
                // Damaged pages are copied as they are.
                let verdict = try copy.read { try String.fetchOne($0, sql: "pragma quick_check(1)") }
                guard verdict == "ok" else { throw JournalError.corrupt(files, verdict ?? "no answer") }
                try copy.close()
            }.get()
        } catch {
            target.deleteCopy()
            throw error
        }
    }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        try JournalRepair(files, at: now).run()
    }

    public func edit<Answer: Sendable>(
        at now: Timestamp, _ change: @escaping @Sendable (any JournalEdit) throws -> (Answer, [ControlRequest])
    ) async throws(JournalError) -> Answer {
        try await beside { () throws(JournalError) in try editNow(at: now, change) }
    }

    private func editNow<Answer>(
        at now: Timestamp, _ change: (any JournalEdit) throws -> (Answer, [ControlRequest])
    ) throws(JournalError) -> Answer {
        guard files.identity != nil else { throw JournalError.absent(files) }
        try files.requireReplaced()
        let answer = try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            let answer = try queue.writeWithoutTransaction { db in
                try Migrations.requireCurrent(db, files)
                try db.execute(sql: "pragma synchronous = full")
                return try JournalStore.transaction(db) { db in
                    let (answer, requests) = try change(SQLiteEdit(db: db))
                    for request in requests { try ControlRequestRows.write(request, at: now, db) }
                    return answer
                }
            }
            try queue.close()
            return answer
        }.get()
        files.notify(.requests)
        return answer
    }

    /// Makes a call that blocks, on a thread of its own.
    private func beside<Answer: Sendable>(
        _ call: @escaping @Sendable () throws(JournalError) -> Answer
    ) async throws(JournalError) -> Answer {
        let result: Result<Answer, JournalError>
        do throws(SystemThread.Unavailable) {
            result = try await SystemThread.run { Result { () throws(JournalError) in try call() } }
        } catch {
            throw JournalError.system(
                error.code, "failed to start a thread for the journal in \(files.directory)",
                "raise the limit of threads")
        }
        return try result.get()
    }
}
