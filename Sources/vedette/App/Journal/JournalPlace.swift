// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteJournal
import VedettePostgres

/// Where the journal is kept.
enum JournalPlace: Sendable {
    /// SQLite in a state directory.
    case directory(String)
    case postgres(PostgresServer)

    /// - Parameters:
    ///   - text: a directory, or a URL of a database.
    ///   - option: where it was given.
    init(_ text: String, option: String) throws {
        guard ConnectionString.isURL(text) else {
            self = .directory(text)
            return
        }
        do throws(ConnectionString.Problem) {
            self = .postgres(PostgresServer(try ConnectionString(text)))
        } catch {
            throw Exit(.usage, "\(option) \(error.detail)")
        }
    }

    /// The journal as commands use it.
    var access: any JournalAccess {
        switch self {
        case .directory(let path): SQLiteJournalAccess(directory: path)
        case .postgres(let server): PostgresJournalAccess(server)
        }
    }

    /// Names the place for a person.
    var location: String { access.location }

    /// Opens the journal as the one process that watches.
    /// - Throws: `.locked` where another one does.
    func open() async throws(JournalError) -> any Journal & JournalMaintenance & CookieStore {
        switch self {
        case .directory(let path): try SQLiteJournal.open(directory: path)
        case .postgres(let server): try await PostgresJournal.open(server)
        }
    }

    /// Opens the journal; one on PostgreSQL beside other watchers. Where a process with the same name watches, this one
    /// stands by: it takes over when that one ends, or has not renewed its registration for 15 s.
    /// - Returns: the journal, and whether it stood by, so that the configuration may have changed meanwhile.
    func openOrStandBy(
        _ configuration: Configuration, _ log: StderrLog
    ) async throws -> (journal: any Journal & JournalMaintenance & CookieStore, stoodBy: Bool) {
        let (notifier, clock) = (ServiceNotifier(), SystemClock())
        var isStandingBy = false
        while true {
            do throws(JournalError) {
                guard case .postgres(let server) = self else { return (try await open(), false) }
                let name = SharedNames.watcher(of: configuration)
                let digest = SharedNames(configuration).configuration
                let journal = try await PostgresJournal.join(server, name: name, configuration: digest)
                return (journal, isStandingBy)
            } catch {
                guard case .postgres = self, case .locked = error.reason else { throw error }
                if !isStandingBy {
                    log.log(.notice, "standing by: \(error.detail)")
                    notifier.ready("standing by for another watcher")
                }
                isStandingBy = true
                notifier.alive()
                try await clock.sleep(until: clock.now().boot.advanced(by: .seconds(1)))
            }
        }
    }

    /// Opens the journal to read all its rows.
    /// - Parameter isExclusive: it does not change before that is closed.
    func snapshot(isExclusive: Bool) async throws(JournalError) -> any JournalRows {
        switch self {
        case .directory(let path): try await SQLiteSnapshot.open(directory: path, isExclusive: isExclusive)
        case .postgres(let server): try await PostgresJournalAccess(server).snapshot(isExclusive: isExclusive)
        }
    }

    /// Begins a copy into this place, or goes on with one.
    func beginCopy() async throws(JournalError) -> any JournalTarget {
        switch self {
        case .directory(let path): try SQLiteCopy.open(directory: path)
        case .postgres(let server): try await PostgresJournalAccess(server).beginCopy()
        }
    }

    /// Writes a copy of the journal to a new file, and checks it. The watcher may go on.
    /// - Throws: `.readOnly` when the file exists or cannot be created.
    func backup(to path: String) async throws(JournalError) {
        switch self {
        case .directory(let directory): try await SQLiteJournalAccess(directory: directory).backup(to: path)
        case .postgres(let server):
            let source = try await PostgresJournalAccess(server).snapshot(isExclusive: false)
            try await JournalPlace.copy(from: source, to: try SQLiteCopy.open(file: path))
        }
    }

    /// Copies a journal, and closes both ends.
    static func copy(
        from source: any JournalRows, to target: any JournalTarget, _ report: (JournalCopy.Table) -> Void = { _ in }
    ) async throws(JournalError) {
        do throws(JournalError) {
            try await JournalCopy(from: source, to: target).run(report)
        } catch {
            await close(source, target)
            throw error
        }
        await close(source, target)
    }

    private static func close(_ source: any JournalRows, _ target: any JournalTarget) async {
        await target.close()
        await source.close()
    }
}
