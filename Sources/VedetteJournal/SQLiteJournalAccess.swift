// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
public import VedetteCore
import VedetteSystem

/// A SQLite journal in a state directory, for commands and buttons of notifications. A change is made on a thread of its
/// own: it may wait for another program's lock.
public struct SQLiteJournalAccess: JournalAccess {
    private let files: JournalFiles

    public init(directory: String) { files = JournalFiles(directory: directory) }

    public var location: String { files.directory }

    public func watcher() -> WatcherProcess? { StateLock.holder(files).map { WatcherProcess(pid: $0) } }

    public func reader() throws(JournalError) -> any JournalReader { try SQLiteJournalReader(files) }

    public func changes() throws(JournalError) -> AsyncStream<Void> { try files.wakes(for: .all) }

    public func add(_ silence: Silence) async throws(JournalError) -> Int64 {
        try await edit(at: silence.created) { db in
            try SilenceRows.endOver(before: silence.created, db)
            return (try SilenceRows.add(silence, db), [.reloadSilences])
        }
    }

    public func endSilences(_ ids: [Int64], at now: Timestamp) async throws(JournalError) -> Int {
        try await edit(at: now) { (try SilenceRows.end(ids, $0), [.reloadSilences]) }
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

    private func change(
        _ change: DeliveryChange, _ resumed: [String] = [], at now: Timestamp,
        _ request: @escaping @Sendable (String) -> ControlRequest
    ) async throws(JournalError) -> Int {
        var (change, count) = (change, 0)
        while !change.isDone {
            let (next, changed) = try await edit(at: now) { [change] db in
                var step = change
                let sinks = try step.run(db)
                return ((step, sinks.count), Set(sinks + resumed).sorted().map(request))
            }
            (change, count) = (next, count + changed)
            // SQLite gives a lock to whoever asks first, and a watcher asks every 100 ms at least.
            if !change.isDone { try? await Task.sleep(for: .milliseconds(20)) }
        }
        return count
    }

    public func accept(source: String, at now: Timestamp) async throws(JournalError) {
        try await edit(at: now) { _ in ((), [.accept(source: source)]) }
    }

    public func backup(to path: String) async throws(JournalError) {
        try await beside { () throws(JournalError) in try backupNow(to: path) }
    }

    private func backupNow(to path: String) throws(JournalError) {
        let reader = try SQLiteJournalReader(files)
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let code = errno
            throw JournalError(
                .readOnly, "failed to create \(path) (\(String(cString: strerror(code)))): choose a new file")
        }
        Glibc.close(file)
        do throws(JournalError) {
            try JournalStore.result(files) {
                let copy = try DatabaseQueue(path: path)
                try reader.store.database.backup(to: copy)
                let verdict = try copy.read { try String.fetchOne($0, sql: "pragma quick_check(1)") }
                guard verdict == "ok" else { throw JournalError.corrupt(files, verdict ?? "no answer") }
                try copy.close()
            }.get()
        } catch {
            unlink(path)
            throw error
        }
    }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        try JournalRepair(files, at: now).run()
    }

    /// Makes a change and writes its control requests in one transaction, then wakes the watcher and the readers.
    private func edit<Answer: Sendable>(
        at now: Timestamp, _ change: @escaping @Sendable (Database) throws -> (Answer, [ControlRequest])
    ) async throws(JournalError) -> Answer {
        try await beside { () throws(JournalError) in try editNow(at: now, change) }
    }

    private func editNow<Answer>(
        at now: Timestamp, _ change: (Database) throws -> (Answer, [ControlRequest])
    ) throws(JournalError) -> Answer {
        guard files.identity != nil else { throw JournalError.missing(files) }
        try files.requireReplaced()
        let answer = try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            let answer = try queue.writeWithoutTransaction { db in
                try Migrations.requireCurrent(db, files)
                try db.execute(sql: "pragma synchronous = full")
                return try JournalStore.transaction(db) { db in
                    let (answer, requests) = try change(db)
                    for request in requests { try ControlQueue.write(request, at: now, db) }
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
