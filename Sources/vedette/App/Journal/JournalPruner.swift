// SPDX-License-Identifier: Apache-2.0

import VedetteConfig
import VedetteCore
import VedetteEngine
import VedetteSystem

/// Deletes what the journal keeps no longer: old events, sources that are not configured any more, and sessions.
struct JournalPruner: Sendable {
    /// How often it deletes.
    static let interval = Duration.seconds(3600)

    let journal: any Journal & JournalMaintenance & CookieStore
    let clock: SystemClock
    let trust: ClockTrust
    let log: StderrLog

    /// Deletes events older than `retain.events`, and sources that were removed from the configuration a week ago. Where
    /// the journal is still larger than `retain.size`, deletes younger events too, but none of the last hour. Returns
    /// early when its task is cancelled. A clock that is probably wrong deletes nothing.
    func prune(_ configuration: Configuration) async {
        guard trust.isPlausible(clock.now(), isSynchronized: KernelClock.isSynchronized) else {
            let text =
                "the clock is over a day past the newest stored time, and the kernel reports it as unsynchronized"
            return log.log(.warning, "nothing is pruned: \(text)")
        }
        var age = configuration.settings.keepEvents
        let most = configuration.settings.keepBytes
        do throws(JournalError) {
            try await prune(olderThan: age, configuration)
            while !Task.isCancelled, let next = Retention.nextAge(after: age), try await journal.size() > most {
                age = next
                try await prune(olderThan: age, configuration)
            }
        } catch {
            log.log(.warning, "failed to prune the journal: \(error.detail)")
        }
    }

    /// Returns whether the journal is larger than `retain.size`.
    func isBeyondSize(_ configuration: Configuration) async -> Bool {
        do throws(JournalError) {
            return try await journal.size() > configuration.settings.keepBytes
        } catch {
            return false
        }
    }

    private func prune(olderThan age: Duration, _ configuration: Configuration) async throws(JournalError) {
        let now = clock.now().wall
        let sessions = configuration.sources.filter { $0.server.cookies == .journal }.map(\.session)
        try await journal.forgetCookies(keeping: Set(sessions))
        try await journal.prune(
            Retention(
                eventsBefore: now.advanced(by: .zero - age), sources: Set(configuration.sources.map(\.name)),
                sinks: Set(configuration.sinks.map(\.name)),
                sourcesBefore: now.advanced(by: .zero - Retention.removedSources)))
    }
}
