// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedettePostgres

extension JournalPlace {
    /// How often a process that stands by tries to take over.
    private static let standByInterval = Duration.seconds(1)

    /// Opens the journal; one on PostgreSQL beside other watchers. Where a process with the same name watches, this one
    /// stands by: it takes over when that one ends, or has not renewed its registration for 15 s.
    /// - Parameter reread: reads the configuration again before a take-over; nil keeps the one before.
    /// - Returns: the journal, the configuration with which it is registered, and whether this process stood by.
    func openOrStandBy(
        _ configuration: Configuration, _ log: StderrLog, reread: () async -> Configuration?
    ) async throws -> (
        journal: any Journal & JournalMaintenance & CookieStore, configuration: Configuration, stoodBy: Bool
    ) {
        guard case .postgres(let server) = self else { return (try await open(), configuration, false) }
        let (notifier, clock, access) = (ServiceNotifier(), SystemClock(), PostgresJournalAccess(server))
        var (configuration, isStandingBy) = (configuration, false)
        while true {
            do throws(JournalError) {
                let name = SharedNames.watcher(of: configuration)
                let isFree = try await isStandingBy ? access.mayJoin(name) : true
                if isFree {
                    // Before the registration, which makes its configuration the newest one.
                    if isStandingBy { configuration = await reread() ?? configuration }
                    let journal = try await PostgresJournal.join(
                        server, name: SharedNames.watcher(of: configuration),
                        configuration: SharedNames(configuration).configuration)
                    return (journal, configuration, isStandingBy)
                }
            } catch {
                guard case .locked = error.reason else { throw error }
                if !isStandingBy {
                    log.log(.notice, "standing by: \(error.detail)")
                    notifier.ready("standing by for another watcher")
                }
                isStandingBy = true
            }
            notifier.alive()
            try await clock.sleep(until: clock.now().boot.advanced(by: JournalPlace.standByInterval))
        }
    }
}

extension PostgresJournalAccess {
    /// Whether no watcher keeps one with this name from registering.
    /// - Throws: `.newer` where a later version has upgraded the tables meanwhile.
    fileprivate func mayJoin(_ name: String) async throws(JournalError) -> Bool {
        _ = try await reader()
        // One that has the journal for itself has no name.
        return try await !watchers().contains { $0.name == name || $0.name.isEmpty }
    }
}
