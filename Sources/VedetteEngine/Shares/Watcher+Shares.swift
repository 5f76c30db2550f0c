// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The sources and rules of one of several watchers.
extension Watcher {
    /// Polls these of the configured sources alone, and evaluates the deadlines of these rules alone. Returns when no poll
    /// of another source is under way, and what such polls committed is in the journal.
    func hold(sources: Set<String>, rules names: Set<String>) async throws(JournalError) {
        share.held = sources
        let stored = try await recordsOfNew { share.polled }
        let before = Set(schedule.byName.keys)
        let released = schedule.all.filter { !sources.contains($0.source.name) }
        schedule.reload(share.polled, stored: stored, now: dependencies.clock.now())
        let after = Set(schedule.byName.keys)
        let gained = after.subtracting(before).map { stored[$0] ?? SourceRecord(name: $0) }
        let lost = before.subtracting(after)
        var problem: JournalError?
        do throws(JournalError) {
            try await rules.hold(gained: gained, lost: lost, rules: names)
        } catch {
            problem = error
        }
        schedule.advanceForRules(now: dependencies.clock.now())
        sleep.wakeUp()
        for source in released { await source.waitForPoll() }
        if let problem { throw problem }
    }
}
