// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Several watchers of one journal: what others committed is taken over.
extension RuleCoordinator {
    /// Reads the last event that the watchers' configurations differ, or that they agree again.
    func lastOfWatchers() async throws(JournalError) -> Event? {
        try await dependencies.journal.lastOfWatcher(.unequal, or: .equal)
    }

    /// Commits an event about the watchers that share the journal, and what rules send about it.
    /// - Returns: whether it is committed.
    func watchersChanged(_ change: DriftMonitor.Change) async -> Bool {
        let now = dependencies.clock.now().wall
        let event = change.event(id: dependencies.random.identifier(at: now), at: now)
        let error = await commitOnce(event)
        if let error, error.reason != .conflict {
            dependencies.log.log(
                .error, "failed to store the event '\(event.kind.word)' of the watchers: \(error.detail)")
        }
        return error == nil
    }

    /// Takes over what other watchers committed: what their rules remember, the health and items of their sources, and the
    /// silences.
    func followOthers() async {
        if await refresh() { await releaseSilenced() }
        await openSourceGates()
    }

    func openSourceGates() async {
        await commitOrLog { $0.openSourceGates(at: $1, identifier: $2) }
    }

    /// Begins to follow the polls of some sources, and ends it for others, as this watcher polls them or does not.
    /// - Parameters:
    ///   - gained: the records of sources that this watcher polls from now on, of those that have one.
    ///   - lost: the sources that it no longer polls.
    ///   - rules: the rules whose deadlines it evaluates.
    func hold(gained: [SourceRecord], lost: Set<String>, rules: Set<String>) async throws(JournalError) {
        await followOthers()
        let now = dependencies.clock.now()
        for source in lost { engine.leave(source) }
        for record in gained { engine.join(record.name, isUncertain: record.isUncertain(at: now.wall)) }
        engine.fire(rules)
        await openSourceGates()
        if let former = adoption.former, engine.asksForHealth(engine.rules, after: former) {
            let failures = failures(in: adoption.takeUnasked(gained))
            await commitOrLog { engine, now, identifier in
                engine.find(failures, after: former, at: now, identifier: identifier)
            }
        }
        publishAll()
        try await findExisting(in: gained.filter { $0.snapshot != nil }.compactMap { adoption.sources[$0.name] })
    }

    /// Takes over what other watchers committed, while no step is under way: after a reload all rows, until that succeeded.
    /// - Returns: whether the silences are others now.
    @discardableResult
    func refresh() async -> Bool {
        guard let share, await share.barrier.close() else { return false }
        let before = Set(engine.silences.map(\.id))
        do throws(JournalError) {
            if share.mustReadAll {
                try await take(share.changes(isComplete: true), isComplete: true)
                share.mustReadAll = false
            }
            let changes = try await share.changes(isComplete: false)
            try await take(changes, isComplete: false)
            // All rows come without the records of sources that changed since.
            share.took(changes)
        } catch {
            dependencies.log.log(.debug, "failed to read what other watchers changed: \(error.detail)")
        }
        publishAll()
        let hasOtherSilences = before != Set(engine.silences.map(\.id))
        await share.barrier.open()
        return hasOtherSilences
    }

    private func take(_ changes: RuleChanges, isComplete: Bool) async throws(JournalError) {
        let records = changes.records.filter { adoption.sources[$0.name] != nil }
        let changed = Set(records.map(\.name))
        let polled = records.filter { $0.snapshot != nil }.map(\.name)
        for source in engine.factSources.intersection(polled) {
            let items = try await dependencies.journal.items(of: source).values.compactMap(\.item)
            engine.replaceFacts(of: source, items)
        }
        engine.take(changes.memories, isComplete: isComplete, at: now())
        engine.take(
            SourceHealth(records, watched: adoption.sources), of: changed,
            uncertain: Set(records.filter { $0.health.failures > 0 }.map(\.name)))
        engine.setSilences(changes.silences)
    }
}
