// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Changes of what is watched, and requests about one source.
extension Watcher {
    /// Takes another set of sources and rules: all of it, or nothing when the journal cannot be read. Unchanged sources go
    /// on undisturbed; a poll of a source that was removed or has another request now is cancelled.
    public func reload(_ watch: WatchConfiguration) async throws(JournalError) {
        try await rules.prepare(watch.rules)
        let stored = try await recordsOfNew { watch.sources.filter(isHeld) }
        configured = watch.sources
        setSchedule(stored)
        // Also those without a snapshot: the commit of their first poll may be under way.
        await rules.reload(watch.rules, watched: watch.sources, polled: schedule.all.map(\.source))
        schedule.advanceForRules(now: dependencies.clock.now())
        sleep.wakeUp()
    }

    /// Polls these of the configured sources alone, and evaluates the deadlines of these rules alone. Returns when no poll
    /// of another source is under way, and what such polls committed is in the journal.
    func hold(sources: Set<String>, rules names: Set<String>) async throws(JournalError) {
        held = sources
        let stored = try await recordsOfNew { configured.filter(isHeld) }
        let before = Set(schedule.byName.keys)
        let polls = schedule.all.filter { !sources.contains($0.source.name) }.compactMap(\.poll)
        setSchedule(stored)
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
        for poll in polls { await poll.value }
        if let problem { throw problem }
    }

    /// Takes over what other watchers committed that rules must know.
    func followOthers() async { await rules.followOthers() }

    /// Commits an event about the watchers that share the journal.
    /// - Returns: whether it is committed.
    func watchersChanged(_ kind: Event.Kind, _ detail: String?) async -> Bool {
        await rules.watchersChanged(kind, detail)
    }

    private func isHeld(_ source: Source) -> Bool { held?.contains(source.name) ?? true }

    /// Reads the records of the sources that are not watched yet. A call that runs beside it may change which these are.
    private func recordsOfNew(among sources: () -> [Source]) async throws(JournalError) -> [String: SourceRecord] {
        var (stored, read): ([String: SourceRecord], Set<String>) = ([:], [])
        while true {
            let new = Set(sources().map(\.name)).filter { schedule[$0] == nil }
            if new.isSubset(of: read) { return stored }
            let records = try await dependencies.journal.sourceRecords()
            (stored, read) = (Dictionary(records.map { ($0.name, $0) }) { _, last in last }, new)
        }
    }

    /// Watches the configured sources that this watcher holds.
    private func setSchedule(_ stored: [String: SourceRecord]) {
        let now = dependencies.clock.now()
        // Each may have another host now, which need not be slow.
        for source in schedule.all where slots.stopWaiting(source) { schedule.schedule(source, at: now.boot) }
        schedule.reload(configured.filter(isHeld), stored: stored, now: now)
        network.watch(schedule.all)
    }

    /// Accepts the empty list of a source as true. Returns when that is committed; a poll of the source is due then.
    public func accept(_ name: String) async throws(JournalError) {
        // The record of a poll under way would replace this one.
        while let source = schedule[name], let poll = source.poll {
            // A stream ends only when it is told to.
            if source.isStreaming { poll.cancel() }
            await poll.value
        }
        guard let source = schedule[name], source.record.snapshot?.emptiness != nil else { return }
        source.change { $0.snapshot?.emptiness = .accepted }
        _ = try await commits.submit(PollRecord(record: source.record)).committed()
        pollSoon(source)
    }

    /// Polls a source now, unless a poll is under way or its server wants no request yet (Retry-After).
    public func poll(_ name: String) {
        guard let source = schedule[name], source.record.notBefore.map({ $0 <= dependencies.clock.now().wall }) != false
        else { return }
        pollSoon(source)
    }

    private func pollSoon(_ source: WatchedSource) {
        guard !source.isRemoved, source.poll == nil else { return }
        slots.stopWaiting(source)
        schedule.schedule(source, at: dependencies.clock.now().boot)
        sleep.wakeUp(ifAfter: nextDeadline)
    }

    /// Reads the silences again, after a command or a button changed them.
    public func silencesChanged() async { await rules.silencesChanged() }
}
