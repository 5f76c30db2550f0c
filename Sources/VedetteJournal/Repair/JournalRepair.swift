// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import VedetteCore

/// Writes what can be read of a damaged journal to a new one, which takes its place. The damaged files are kept beside it;
/// nothing is overwritten.
struct JournalRepair {
    private let files: JournalFiles
    private let stamp: String
    private let steps: [String]

    /// - Parameter steps: the migrations that this version knows.
    init(_ files: JournalFiles, at now: Timestamp, steps: [String] = Migrations.steps) {
        (self.files, self.steps) = (files, steps)
        // 2026-11-22T05:13:02Z as 20261122T051302.
        stamp = String(now.rfc3339.filter { $0.isNumber || $0 == "T" }.prefix(15))
    }

    /// Where the damaged journal is kept.
    private var kept: String { "\(files.directory)/journal.damaged-\(stamp).db" }
    private var fresh: String { "\(files.directory)/journal.repaired-\(stamp).db" }

    /// - Returns: nil when the journal is sound; then nothing is changed.
    func run() throws(JournalError) -> RepairReport? {
        guard let identity = files.identity, identity.size > 0 else { throw JournalError.missing(files) }
        try files.requireLocal()
        let lock = try StateLock(files)
        defer { lock.release() }
        if let interrupted = JournalReplacement(interruptedIn: files) {
            try interrupted.finish()
            files.notify(.requests)
            return RepairReport(tables: [], forgottenSources: [], kept: interrupted.kept)
        }
        let file = Glibc.open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw JournalError.system(errno, "failed to create \(fresh)", "make room beside it") }
        Glibc.close(file)
        // Once the replacement has begun, there is no file of that name.
        defer { unlink(fresh) }
        let (report, isSound) = try JournalStore.result(files) { try save() }.get()
        guard !isSound else { return nil }
        try JournalReplacement(of: files, by: fresh, stamp: stamp).finish()
        files.notify(.requests)
        return report
    }

    private func save() throws -> (report: RepairReport, isSound: Bool) {
        let (damaged, version) = try open()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let copy = try DatabaseQueue(path: fresh, configuration: configuration)
        var isSound = false
        var report = RepairReport(tables: [], forgottenSources: [], kept: kept)
        try damaged.unsafeRead { source in
            // After an unreadable page SQLite refuses to commit even what only read.
            try source.inTransaction(.deferred) {
                let problems = try? String.fetchAll(source, sql: "pragma integrity_check(1)")
                isSound = problems == ["ok"]
                try copy.writeWithoutTransaction { db in
                    try Migrations.migrate(db, steps: Array(steps.prefix(version)))
                    try db.inTransaction {
                        var salvage = JournalSalvage(from: source, to: db)
                        try salvage.run()
                        (report.tables, report.forgottenSources) = (salvage.tables, salvage.forgottenSources)
                        return .commit
                    }
                    try Migrations.migrate(db, steps: steps)
                    let verdict = try String.fetchOne(db, sql: "pragma quick_check(1)")
                    guard verdict == "ok" else { throw JournalError.corrupt(files, verdict ?? "no answer") }
                }
                return .rollback
            }
        }
        isSound = isSound && report.forgottenSources.isEmpty && report.tables.allSatisfy { $0.lost == 0 }
        try damaged.close()
        try copy.close()
        return (report, isSound)
    }

    /// Opens the damaged database, if it is a journal that this version knows.
    private func open() throws -> (DatabaseQueue, version: Int) {
        do {
            let damaged = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: true))
            let version = try damaged.read { try Migrations.check($0, files, known: steps.count) }
            guard version > 0 else { throw JournalError.missing(files) }
            return (damaged, version)
        } catch let error as DatabaseError where error.isUnreadable {
            throw JournalError(
                .corrupt,
                "nothing of the journal \(files.database) can be read (\(error.message ?? "it is no database")): "
                    + "restore a backup, or move the file away to begin with an empty one")
        }
    }
}

extension DatabaseError {
    /// Whether the part of the file that was asked for is damaged.
    var isUnreadable: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR].contains(resultCode)
    }
}
