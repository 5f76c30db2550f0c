// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Rules at work: with each poll, and as time passes.
extension Watcher {
    /// After a step that the journal did not take, so long is waited.
    private static let tickRest = Duration.seconds(5)
    /// Deadlines on the wall clock are looked at this often, for that clock may be set.
    private static let longestTickSleep = Duration.seconds(60)

    func ruleTime(_ now: Moment) -> RuleTime {
        RuleTime(steady: Timestamp(milliseconds: now.boot.milliseconds.addingClamped(steadyOffset)), wall: now.wall)
    }

    private func boot(_ steady: Timestamp) -> BootTime {
        BootTime(milliseconds: steady.milliseconds.addingClamped(-steadyOffset))
    }

    // MARK: With a poll

    /// What rules make of a poll goes into its record.
    func judge(_ record: inout PollRecord, _ source: Source, isGood: Bool, at now: Moment) -> RuleEngine.Step {
        let random = dependencies.random
        let identifier = { random.identifier(at: now.wall) }
        let seen = Watcher.sighting(of: record, source, isGood: isGood)
        var step = rules.polled(source.name, record.events, seen, at: ruleTime(now), identifier: identifier)
        if record.isNewBaseline || entries[source.name]?.record.snapshot == nil {
            step.add(rules.found(record.writes, of: source, at: ruleTime(now), identifier: identifier))
        }
        say(step)
        (record.memories, record.endedSilences) = (step.changes, step.endedSilences)
        record.deliveries = step.deliveries.map {
            failureGrouping.joined($0, server: source.failureGroup, at: now.boot)
        }
        return step
    }

    /// What the poll saw besides its events.
    private static func sighting(of record: PollRecord, _ source: Source, isGood: Bool) -> PollObservation {
        var seen = PollObservation(isGood: isGood)
        if record.isNewBaseline {
            seen.baseline = record.writes
            return seen
        }
        let isList = source.kind.mode == .list || record.record?.snapshot?.isWhole == true
        if isList { seen.missing = Set(record.writes.lazy.filter { $0.absentSince != nil }.map(\.key)) }
        let gone = record.events.lazy.filter { $0.kind == .disappeared }.compactMap(\.item?.key)
        seen.forgotten = Set(record.deletions).subtracting(gone)
        return seen
    }

    /// Something of that source waits for this good poll, though nothing changed.
    func confirms(_ source: String, at now: Moment) -> Bool { rules.awaits(source, at: ruleTime(now)) }

    /// When a source is polled next: earlier than usual where a rule waits to have something confirmed.
    func due(_ entry: WatchedSource, now: Moment) -> BootTime {
        let usual = entry.due(now: now)
        guard let pull = rules.nextPull(of: entry.source.name).map(boot), pull < usual else { return usual }
        // A poll at or after that time did not confirm it: the next one comes at the usual pace.
        if let last = entry.record.health.lastPollAt, last >= now.wall(at: pull) { return usual }
        let due = max(pull, now.boot)
        // The server's word beats every wish.
        if let asked = entry.record.notBefore, asked > now.wall(at: due) { return usual }
        return due
    }

    private func say(_ step: RuleEngine.Step) {
        for (rule, detail) in step.broken {
            dependencies.log.log(.error, "rule '\(rule)' was not judged: \(detail)")
        }
        for sentence in step.abandoned { dependencies.log.log(.notice, sentence) }
    }

    // MARK: As time passes

    /// When rules are to be asked next.
    var tickDue: BootTime? {
        guard !isTicking else { return nil }
        let now = dependencies.clock.now()
        return rules.nextTick(at: ruleTime(now)).map {
            min(max(boot($0), restUntil ?? now.boot), now.boot.advanced(by: Watcher.longestTickSleep))
        }
    }

    /// Lets rules say what became due, without waiting for the commit.
    func tick() {
        let now = dependencies.clock.now()
        guard !isTicking, restUntil.map({ $0 <= now.boot }) ?? true, let next = rules.nextTick(at: ruleTime(now)),
            boot(next) <= now.boot
        else { return }
        Task { await self.tickNow() }
    }

    func tickNow() async {
        guard !isTicking else { return }
        isTicking = true
        let now = dependencies.clock.now()
        let random = dependencies.random
        let step = rules.ticked(at: ruleTime(now)) { random.identifier(at: now.wall) }
        await commit(step)
        isTicking = false
        wakeUp()
    }

    private func commit(_ step: RuleEngine.Step) async {
        say(step)
        guard !step.isEmpty else { return }
        var record = PollRecord(record: nil)
        (record.deliveries, record.memories) = (step.deliveries, step.changes)
        record.endedSilences = step.endedSilences
        do throws(JournalError) {
            let committed = try await commitBatcher.commit(record)
            let pending = committed.deliveries.filter(\.state.isPending)
            if !pending.isEmpty { await dispatcher.enqueue(pending) }
        } catch {
            rules.undo(step)
            restUntil = dependencies.clock.now().boot.advanced(by: Watcher.tickRest)
            dependencies.log.log(.error, "what rules say was not written: \(error.detail)")
        }
    }

    // MARK: Start, reload, silences

    func restoreRules(_ records: [SourceRecord]) async throws(JournalError) {
        let kept = try await dependencies.journal.ruleMemories()
        let silences = try await dependencies.journal.silences()
        let failing = Set(records.filter(\.health.isFailing).map(\.name))
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        let unsure = records.filter { entries[$0.name] == nil || $0.isUnsure(at: now.wall) }.map(\.name)
        var step = rules.restore(
            kept, silences: silences, failing: failing, unsure: Set(unsure), at: ruleTime(now)
        ) { random.identifier(at: now.wall) }
        let known = Set(records.map(\.name)).union(entries.keys)
        step.add(rules.keep(sources: known, at: ruleTime(now)) { random.identifier(at: now.wall) })
        await commit(step)
        try await seek(among: records.filter { $0.snapshot != nil }.map(\.name))
    }

    func reloadRules(_ set: RuleSet) async {
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commit(rules.reload(set, at: ruleTime(now)) { random.identifier(at: now.wall) })
        do throws(JournalError) {
            try await leaveUnwatched()
            try await seek(among: watched.filter { $0.record.snapshot != nil }.map(\.source.name))
        } catch {
            dependencies.log.log(.warning, "what new rules wait for was not looked for: \(error.detail)")
        }
    }

    /// What rules remember of a source that went away rests for as long as its snapshot is kept: it may come back.
    private func leaveUnwatched() async throws(JournalError) {
        let unwatched = rules.sources.filter { entries[$0] == nil }
        guard !unwatched.isEmpty else { return }
        for source in unwatched { rules.missed(source) }
        let known = try await dependencies.journal.sourceRecords().map(\.name)
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commit(
            rules.keep(sources: Set(known).union(entries.keys), at: ruleTime(now)) { random.identifier(at: now.wall) })
    }

    /// What is so already when a rule is new.
    private func seek(among names: [String]) async throws(JournalError) {
        for name in names where !rules.seekers(of: name).isEmpty {
            guard let source = entries[name]?.source else { continue }
            let items = try await dependencies.journal.items(of: name).values.sorted { $0.key < $1.key }
            let now = dependencies.clock.now()
            let random = dependencies.random
            await commit(
                rules.found(items, of: source, at: ruleTime(now)) { random.identifier(at: now.wall) })
        }
    }

    /// Another command, or a button, changed what is silent.
    public func silencesChanged() async {
        do throws(JournalError) {
            rules.silence(try await dependencies.journal.silences())
        } catch {
            dependencies.log.log(.warning, "what is silent was not read: \(error.detail)")
        }
    }
}

extension SourceRecord {
    /// It should have been polled meanwhile, or its last polls failed: nobody knows how its items are.
    fileprivate func isUnsure(at now: Timestamp) -> Bool { health.failures > 0 || due.map { $0 <= now } ?? true }
}
