// SPDX-License-Identifier: Apache-2.0

import VedetteCore
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
        guard !text.isEmpty else { throw Exit(.usage, "\(option) is empty; name a directory or a URL") }
        guard ConnectionString.isURL(text) else {
            // A misspelt scheme; it may hold a password, so it is not repeated (I9).
            guard !text.contains("://") else {
                throw Exit(.usage, "\(option) has an unknown scheme; write postgres://HOST/DATABASE, or a directory")
            }
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
