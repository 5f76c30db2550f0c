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
                try await clock.sleep(until: clock.now().boot.advanced(by: JournalPlace.standByInterval))
            }
        }
    }
}
