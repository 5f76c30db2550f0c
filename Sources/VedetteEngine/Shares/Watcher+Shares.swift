// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The sources and rules of one of several watchers.
extension Watcher {
    /// Polls these of the configured sources alone, and evaluates the deadlines of these rules alone. Returns when no poll
    /// of another source is under way, and what such polls committed is in the journal.
    func hold(sources: Set<String>, rules names: Set<String>) async throws(JournalError) {
        let (gained, released) = try await take(sources)
        var problem: JournalError?
        do throws(JournalError) {
            try await rules.hold(gained: gained, lost: Set(released.map(\.source.name)), rules: names)
        } catch {
            problem = error
        }
        rulesChanged()
        for source in released { await source.waitForPoll(on: self) }
        if let problem { throw problem }
    }
}

extension Journal {
    /// Reads the records of new sources.
    /// - Parameter names: those that are not watched yet; a call that runs beside this one may change which these are.
    func records(of names: () -> Set<String>) async throws(JournalError) -> [String: SourceRecord] {
        var (stored, read): ([String: SourceRecord], Set<String>) = ([:], [])
        while true {
            let new = names()
            if new.isSubset(of: read) { return stored }
            let records = try await sourceRecords()
            (stored, read) = (Dictionary(records.map { ($0.name, $0) }) { _, last in last }, new)
        }
    }
}
