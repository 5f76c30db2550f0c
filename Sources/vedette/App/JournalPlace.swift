// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteJournal
import VedettePostgres

/// Where the journal is kept.
enum JournalPlace: Sendable {
    /// SQLite in a state directory.
    case directory(String)
    case postgres(PostgresServer)

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

    /// Opens the journal. Where another watcher holds a journal on PostgreSQL, this one stands by: it takes over when
    /// that one ends, or has not renewed its lease for 15 s.
    func openOrStandBy(_ log: StderrLog) async throws -> any Journal & JournalMaintenance & CookieStore {
        let (notifier, clock) = (ServiceNotifier(), SystemClock())
        var isStandingBy = false
        while true {
            do throws(JournalError) {
                return try await open()
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
}
