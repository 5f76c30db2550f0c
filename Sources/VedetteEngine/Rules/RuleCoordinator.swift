// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Owns what rules remember: the rule engine, the timer of deadlines, and the undo of steps that
/// were not committed.
///
/// It runs beside the network thread. Steps are evaluated one at a time, and submitted to the journal in that order, so that
/// a later state of a rule's memory never precedes an earlier one.
actor RuleCoordinator {
    /// How often a step is evaluated again since another watcher changed what it is based on.
    static let maximumConflicts = 10

    private let dependencies: Dependencies
    private let commits: CommitBatcher
    private let time: SteadyClock
    /// What the watcher asks without waiting for this actor.
    nonisolated let interests: RuleInterests
    private var engine: RuleEngine
    private var timer: RuleTimer
    /// The last change of each sink that is not stored yet.
    private var sinkChanges: [String: UnstoredChange] = [:]
    private var lastSinkChange = 0
    /// Sources whose items `if`, `unless` and `how_many` must see again, since a poll of them was not committed and the
    /// journal could not be read.
    private var unreadFacts = Set<String>()
    /// Nil when this is the only watcher.
    private let shares: (any JournalShares)?
    /// Nil when this is the only watcher.
    private let barrier: StepBarrier?
    /// Steps that are submitted and not committed; those that failed stay while polls are evaluated that may be based on them.
    private var unstored: [UnstoredStep] = []
    /// Polls whose evaluation began and is not submitted.
    private var evaluations = 0
    /// Held while a poll is evaluated, and while new rules look for matches among the stored items: a poll in between would
    /// make those items old.
    private let locks = SourceLocks()
    /// The changes of other watchers up to this number are in the engine.
    private var version: Int64 = 0
    /// The configured sources by name, whoever polls them.
    private var configured: [String: Source] = [:]
    /// The rules that rows are under which are not put under those in force, since the journal refused it.
    private var unadopted: RuleSet?
    /// The rules before the last reload: what is new since may match sources that fail already, also of those to come.
    private var former: RuleSet?
    /// The sources whose failures new rules have looked at since.
    private var askedForFailures = Set<String>()

    init(_ rules: RuleSet, _ dependencies: Dependencies, commits: CommitBatcher) {
        (self.dependencies, self.commits) = (dependencies, commits)
        shares = dependencies.journal.shares
        barrier = shares.map { _ in StepBarrier() }
        time = SteadyClock(dependencies.clock.now())
        (engine, timer) = (RuleEngine(rules, civil: dependencies.civil), RuleTimer(dependencies.clock))
        interests = RuleInterests(rules, time)
    }

    // MARK: Polls

    /// A poll's record as it was submitted to the journal, with what undoes its step.
    private struct UnstoredStep {
        let step: RuleEngine.Step
        let ticket: CommitTicket
    }

    /// Submits a record. It fails with any earlier one on which its step is based.
    private func submit(_ record: PollRecord, _ step: RuleEngine.Step) -> UnstoredStep {
        let basis = unstored.filter { step.depends(on: $0.step) }.map(\.ticket)
        let submitted = UnstoredStep(step: step, ticket: commits.submit(record, after: basis))
        if !step.changes.isEmpty { unstored.append(submitted) }
        return submitted
    }

    /// Waits until the journal has a record, or undoes its step.
    private func committed(_ submitted: UnstoredStep) async throws(JournalError) -> Committed {
        do throws(JournalError) {
            let committed = try await submitted.ticket.committed()
            unstored.removeAll { $0.ticket === submitted.ticket }
            return committed
        } catch {
            engine.undo(submitted.step)
            forgetFailed()
            throw error
        }
    }

    private func forgetFailed() { if evaluations == 0 { unstored.removeAll { $0.ticket.failure != nil } } }

    /// Evaluates the rules for a transition, and waits until both are committed.
    /// - Returns: nil when the poll was cancelled during the evaluation.
    /// - Throws: why the journal refused. Then, as for nil, nothing is committed or remembered. After a conflict the
    ///   evaluation may be made again, once `refresh` has taken over what others changed.
    func commit(_ transition: PollTransition, _ poll: PollFacts) async throws(JournalError) -> Committed? {
        guard let evaluation = await evaluate(transition, poll) else { return nil }
        do throws(JournalError) {
            let committed = try await committed(evaluation)
            await barrier?.leave()
            return committed
        } catch {
            await undoFacts(of: transition.source.name, isFirst: poll.isFirst)
            publishAll()
            await barrier?.leave()
            throw error
        }
    }

    /// Evaluates the rules for a transition, and submits both to the journal as one record.
    /// - Returns: nil when the poll was cancelled meanwhile; then nothing is submitted or remembered.
    private func evaluate(_ transition: PollTransition, _ poll: PollFacts) async -> UnstoredStep? {
        let (now, source) = (poll.now, transition.source)
        await locks.lock(source.name)
        defer { locks.unlock(source.name) }
        if let barrier { await barrier.enter() }
        if unreadFacts.contains(source.name) { await undoFacts(of: source.name, isFirst: poll.isFirst) }
        let identifier = { [random = dependencies.random] in random.identifier(at: now.wall) }
        var record = PollRecord(
            record: transition.record, isNewBaseline: transition.isNewBaseline,
            writes: transition.writes + transition.refreshes, deletions: transition.deletions)
        record.isFirst = poll.isFirst
        record.events = transition.events.map {
            $0.event(id: identifier(), source: source, poll: poll.id, at: now.wall)
        }
        var observation = PollObservation(record, source, isGood: poll.isGood)
        observation.reread = transition.reread
        let existing =
            record.isNewBaseline || poll.isFirst ? record.writes : transition.entered + transition.reread
        evaluations += 1
        defer {
            evaluations -= 1
            forgetFailed()
        }
        var evaluation =
            record.isNewBaseline || poll.isFirst || !existing.isEmpty
            ? PollEvaluation(
                existing: existing, of: source, foundBy: (record.events, observation), at: time.ruleTime(now))
            : PollEvaluation(of: source.name, events: record.events, observation, at: time.ruleTime(now))
        guard await finish(&evaluation, identifier) else {
            engine.undo(evaluation.step)
            await undoFacts(of: source.name, isFirst: poll.isFirst)
            publishAll()
            await barrier?.leave()
            return nil
        }
        // From the last piece to the submission nothing else runs here: see `RuleEngine.resume`.
        record.events = EventBurst.fold(record.events, matched: evaluation.matched, identifier: identifier)
        let step = evaluation.step
        report(step)
        (record.memories, record.endedSilences) = (step.changes, step.endedSilences)
        record.deliveries = step.deliveries
        record.basis = basis(of: step)
        publish(step, source.name)
        return submit(record, step)
    }

    /// Takes the items of a source from the journal for the rules that ask for them.
    /// - Parameter isFirst: whether no poll of it is stored.
    private func undoFacts(of source: String, isFirst: Bool) async {
        guard engine.factSources.contains(source) else { return }
        unreadFacts.remove(source)
        guard !isFirst else { return engine.forgetFacts(of: source) }
        do throws(JournalError) {
            engine.replaceFacts(of: source, try await dependencies.journal.items(of: source).values.compactMap(\.item))
        } catch {
            unreadFacts.insert(source)
            dependencies.log.log(.warning, "failed to read the items of \(source) again: \(error.detail)")
        }
    }

    /// Evaluates piece by piece. Between two pieces other polls, deadlines and reloads have their turn.
    /// - Returns: whether every piece was evaluated; false when the task was cancelled.
    private func finish(_ evaluation: inout PollEvaluation, _ identifier: () -> Identifier) async -> Bool {
        // A piece stays on one thread.
        let elapsed = { [clock = dependencies.clock] in clock.processorTime }
        while true {
            engine.resume(&evaluation, elapsed: elapsed, identifier: identifier)
            if evaluation.isFinished { return true }
            await Task.yield()
            if Task.isCancelled { return false }
        }
    }

    /// Whether other watchers write the journal, too.
    private nonisolated var isShared: Bool { shares != nil }

    /// Records a failed poll that is not committed: what rules remember of its items stays unconfirmed.
    func pollFailed(_ source: String) {
        engine.pollFailed(source)
        interests.set(engine.interest(in: source), of: source)
    }

    // MARK: Sinks

    /// A change of a sink that is being stored, or that the journal refused.
    private struct UnstoredChange {
        let change: SinkChange
        let number: Int
        var isRefused = false
    }

    /// Commits that a sink stopped or resumed. What the journal refuses is stored later, since a change is reported once.
    func sinkChanged(_ change: SinkChange) async {
        lastSinkChange += 1
        await store(UnstoredChange(change: change, number: lastSinkChange))
    }

    private func store(_ change: UnstoredChange) async {
        let sink = change.change.sink
        sinkChanges[sink] = change
        let error =
            switch change.change {
            case .stopped(let stop) where stop.kind != .failing: await sinkStopped(stop)
            // No event tells it.
            case .stopped, .resumed: await storeAlone(change.change)
            }
        // A later change of the sink counts, whatever became of this one.
        guard sinkChanges[sink]?.number == change.number else { return }
        guard let error else { return sinkChanges[sink] = nil }
        dependencies.log.log(.error, "failed to store that the sink '\(sink)' \(change.change.verb): \(error.detail)")
        sinkChanges[sink]?.isRefused = true
        retryLater()
    }

    private func storeAlone(_ change: SinkChange) async -> JournalError? {
        do throws(JournalError) {
            _ = try await commits.submit(PollRecord(record: nil, sinkChange: change)).committed()
            return nil
        } catch {
            return error
        }
    }

    /// Commits the event that a sink waits for a person, and what rules send about it.
    private func sinkStopped(_ stop: StoppedSink) async -> JournalError? {
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        let event = stop.event(id: random.identifier(at: now.wall), at: now.wall)
        await barrier?.enter()
        let step = engine.evaluate(event, at: time.ruleTime(now)) { random.identifier(at: now.wall) }
        let deliveries = step.deliveries.map(stop.suppressing)
        let error = await commit(step, .stopped(stop), events: [event], deliveries: deliveries)
        await barrier?.leave()
        if error?.reason == .conflict { await refresh() }
        return error
    }

    // MARK: Watchers

    /// Reads the last event that the watchers' configurations differ, or that they agree again.
    func lastOfWatchers() async throws(JournalError) -> Event? {
        try await dependencies.journal.lastOfWatcher(.unequal, or: .equal)
    }

    /// Commits an event about the watchers that share the journal, and what rules send about it.
    /// - Returns: whether it is committed.
    func watchersChanged(_ change: DriftMonitor.Change) async -> Bool {
        let now = dependencies.clock.now()
        let random = dependencies.random
        let event = change.event(id: random.identifier(at: now.wall), at: now.wall)
        await barrier?.enter()
        let step = engine.evaluate(event, at: time.ruleTime(now)) { random.identifier(at: now.wall) }
        let error = await commit(step, events: [event])
        await barrier?.leave()
        if error?.reason == .conflict {
            await refresh()
        } else if let error {
            dependencies.log.log(
                .error, "failed to store the event '\(event.kind.word)' of the watchers: \(error.detail)")
        }
        return error == nil
    }

    // MARK: Deadlines

    /// Evaluates deadlines from now on, each when it is due.
    func startTimer() {
        timer.start()
        setTimer()
    }

    func stopTimer() { timer.stop() }

    /// The next deadline that waits for no poll, in steady time.
    func nextDeadline() -> Timestamp? { engine.nextTimer(at: time.ruleTime(dependencies.clock.now())) }

    /// Evaluates every deadline that is due and waits for no poll.
    func evaluateDeadlines() async {
        if unadopted != nil {
            await adopt()
            if unadopted == nil { await endUnwatched() }
        }
        let now = dependencies.clock.now()
        let random = dependencies.random
        let error = await commitCurrent {
            engine.fireTimers(at: time.ruleTime(now)) { random.identifier(at: now.wall) }
        }
        if let error {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
            retryLater()
        }
        setTimer()
    }

    private func retryLater() {
        timer.pause(from: dependencies.clock.now().boot)
        setTimer()
    }

    private func setTimer() {
        guard timer.isRunning else { return }
        let now = dependencies.clock.now()
        let next =
            unadopted == nil && sinkChanges.values.allSatisfy({ !$0.isRefused })
            ? engine.nextTimer(at: time.ruleTime(now)).map(time.boot) : now.boot
        guard let next else { return }
        timer.set(at: next, now: now.boot, for: self) { await $0.timerFired() }
    }

    private func timerFired() async {
        guard timer.fired() else { return }
        let now = dependencies.clock.now()
        if !timer.isPaused(at: now.boot) {
            for (sink, change) in sinkChanges where change.isRefused {
                // A later one may be stored meanwhile.
                guard sinkChanges[sink]?.number == change.number else { continue }
                await store(UnstoredChange(change: change.change, number: change.number))
            }
        }
        let next = engine.nextTimer(at: time.ruleTime(now))
        let isDue = unadopted != nil || next.map { time.boot($0) <= now.boot } ?? false
        if isDue, !timer.isPaused(at: now.boot) { await evaluateDeadlines() } else { setTimer() }
    }

    // MARK: Start, reload, silences

    /// Takes up what the journal kept, and looks for matches that exist already.
    /// - Parameter watched: the sources by name.
    func restore(_ records: [SourceRecord], watched: [String: Source]) async throws(JournalError) {
        configured = watched
        let (kept, silences) = try await remembered()
        try await readFacts(of: engine.factSources)
        let stored = try await storedItems(of: engine.sourcesOfEdited(in: engine.rules, kept))
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        let unconfirmed = records.filter { record in
            // Other watchers may go on to poll meanwhile.
            let isUncertain = isShared ? record.health.failures > 0 : record.isUncertain(at: now.wall)
            return watched[record.name] == nil || isUncertain
        }.map(\.name)
        var step = engine.restore(
            kept, silences: silences, health: SourceHealth(records, watched: watched), unconfirmed: Set(unconfirmed),
            stored: stored, at: time.ruleTime(now)
        ) { random.identifier(at: now.wall) }
        let known = Set(records.map(\.name)).union(watched.keys)
        step.add(
            engine.forgetSources(except: known, watched: Set(watched.keys), at: time.ruleTime(now)) {
                random.identifier(at: now.wall)
            })
        if isShared { engine.fire([]) }
        await barrier?.enter()
        let error = await commit(step)
        await barrier?.leave()
        if error?.reason == .conflict {
            // Another watcher did the same at the same time.
            await refresh()
        } else if let error {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
            unadopted = engine.rules
            retryLater()
        }
        guard !isShared else { return }
        try await findExisting(in: records.filter { $0.snapshot != nil }.compactMap { watched[$0.name] })
    }

    /// Reads what rules remember, and the silences.
    private func remembered() async throws(JournalError) -> ([RuleMemory], [Silence]) {
        guard let shares else {
            return (try await dependencies.journal.ruleMemories(), try await dependencies.journal.silences())
        }
        let all = try await shares.ruleChanges(after: nil)
        version = all.version
        return (all.memories.values.compactMap { $0 }, all.silences)
    }

    /// Reads what the rules of a coming `reload` ask of other sources. Until then the rules in force stay.
    func prepare(_ rules: RuleSet) async throws(JournalError) {
        try await readFacts(of: engine.gatherFacts(for: rules))
    }

    /// Takes another set of rules, after `prepare`. The polls of sources with rows of edited rules wait meanwhile, so that
    /// the items which decide about these rows are the present ones.
    /// - Parameters:
    ///   - watched: the sources.
    ///   - polled: those of them that this watcher polls, in which new rules may match already.
    func reload(_ rules: RuleSet, watched: [Source], polled: [Source]) async {
        configured = Dictionary(watched.map { ($0.name, $0) }) { first, _ in first }
        interests.set(rules)
        (former, askedForFailures) = (engine.rules, [])
        await adopt(rules)
        // Of rules that were unknown here, it left out what others wrote.
        await refresh(isComplete: true)
        await refresh()
        askedForFailures = Set(polled.map(\.name))
        await endUnwatched()
        do throws(JournalError) {
            try await findExisting(in: polled)
        } catch {
            dependencies.log.log(.warning, "failed to look for existing matches of new rules: \(error.detail)")
        }
    }

    /// Puts the rows under the rules. What the journal refuses is done again later.
    /// - Parameter new: the rules that replace those in force; nil to do again what was refused.
    private func adopt(_ new: RuleSet? = nil) async {
        let edited = engine.sourcesOfEdited(in: new ?? engine.rules)
        for source in edited.sorted() { await locks.lock(source) }
        defer { for source in edited { locks.unlock(source) } }
        let (old, rules) = (unadopted ?? engine.rules, new ?? engine.rules)
        var (stored, failures): (RuleEngine.StoredItems, [Event]) = ([:], [])
        do throws(JournalError) {
            stored = try await storedItems(of: edited)
            if engine.asksForHealth(rules, after: old) {
                await commits.flush()
                failures = self.failures(in: try await dependencies.journal.sourceRecords())
            }
        } catch {
            // The rows have the items of their last events.
            dependencies.log.log(.warning, "failed to read what edited rules are about: \(error.detail)")
        }
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        // Another reload may have come while one that is done again read the journal.
        if let new { engine.replaceRules(new) }
        let error = await commitCurrent {
            engine.adopt(stored, failures: failures, after: old, at: time.ruleTime(now)) {
                random.identifier(at: now.wall)
            }
        }
        unadopted = error == nil ? nil : old
        guard let error else { return }
        dependencies.log.log(.error, "failed to store what edited rules send: \(error.detail)")
        retryLater()
    }

    /// Returns an event for each failure of the sources.
    private func failures(in records: [SourceRecord]) -> [Event] {
        let (now, random) = (dependencies.clock.now().wall, dependencies.random)
        return records.flatMap { record in
            record.failures(of: configured[record.name], at: now) { random.identifier(at: now) }
        }
    }

    /// Tells the ends of what was told about removed sources. What waits is kept as long as the snapshot, since the source may
    /// come back.
    private func endUnwatched() async {
        let watched = Set(configured.keys)
        let unwatched = engine.sources(exceptIn: watched)
        guard !unwatched.isEmpty else { return }
        for source in unwatched { engine.pollFailed(source) }
        var failure: JournalError?
        do throws(JournalError) {
            let known = try await dependencies.journal.sourceRecords().map(\.name)
            let (now, random) = (dependencies.clock.now(), dependencies.random)
            failure = await commitCurrent {
                engine.forgetSources(except: watched.union(known), watched: watched, at: time.ruleTime(now)) {
                    random.identifier(at: now.wall)
                }
            }
        } catch {
            failure = error
        }
        guard let failure else { return }
        dependencies.log.log(.error, "failed to store what is told of removed sources: \(failure.detail)")
        unadopted = unadopted ?? engine.rules
        retryLater()
    }

    /// Reads the stored items of the sources that `if`, `unless` and `how_many` ask for.
    private func readFacts(of sources: Set<String>) async throws(JournalError) {
        guard !sources.isEmpty else { return }
        // The engine gathers what is evaluated from now on; what was evaluated before must be in the journal.
        await commits.flush()
        let polled = try await dependencies.journal.sourceRecords().filter { $0.snapshot != nil }.map(\.name)
        for source in sources.intersection(polled) {
            let items = try await dependencies.journal.items(of: source).values.compactMap(\.item)
            engine.addStoredFacts(of: source, items)
        }
    }

    /// Reads the items of these sources, as all that was evaluated before left them.
    private func storedItems(of sources: Set<String>) async throws(JournalError) -> RuleEngine.StoredItems {
        if !sources.isEmpty { await commits.flush() }
        var stored: RuleEngine.StoredItems = [:]
        for source in sources {
            stored[source] = try await dependencies.journal.items(of: source).compactMapValues(\.item)
        }
        return stored
    }

    private func findExisting(in sources: [Source]) async throws(JournalError) {
        for source in sources where !engine.rulesMatchingExisting(in: source.name).isEmpty {
            await locks.lock(source.name)
            defer { locks.unlock(source.name) }
            // What the rules before evaluated last may not be in the journal yet.
            await commits.flush()
            let items = try await dependencies.journal.items(of: source.name).values.sorted { $0.key < $1.key }
            for _ in 0..<RuleCoordinator.maximumConflicts {
                guard let error = await holdExisting(items, of: source) else { break }
                guard error.reason == .conflict else {
                    dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
                    break
                }
                await refresh()
            }
        }
    }

    private func holdExisting(_ items: [StoredItem], of source: Source) async -> JournalError? {
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await barrier?.enter()
        var evaluation = PollEvaluation(existing: items, of: source, at: time.ruleTime(now))
        var error: JournalError?
        if await finish(&evaluation, { random.identifier(at: now.wall) }) {
            error = await commit(evaluation.step)
        } else {
            engine.undo(evaluation.step)
        }
        await barrier?.leave()
        return error
    }

    /// Reads the silences again, after a command or a button changed them.
    func silencesChanged() async {
        do throws(JournalError) {
            engine.setSilences(try await dependencies.journal.silences())
            await releaseSilenced()
        } catch {
            dependencies.log.log(.warning, "failed to read silences: \(error.detail)")
        }
    }

    private func releaseSilenced() async {
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commitOrLog { engine.releaseSilenced(at: time.ruleTime(now)) { random.identifier(at: now.wall) } }
    }

    /// Notes that somebody works on a match, or with nil that nobody does any more.
    func acknowledge(
        _ rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?
    ) async throws(JournalError) {
        // Another watcher may have told the match just now.
        await refresh()
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        let error = await commitCurrent {
            engine.acknowledge(rule, subject, acknowledgement, at: time.ruleTime(now)) {
                random.identifier(at: now.wall)
            }
        }
        if let error { throw error }
    }

    // MARK: Other watchers

    /// Takes over what other watchers committed: what their rules remember, the health and items of their sources, and the
    /// silences.
    func followOthers() async {
        if await refresh() { await releaseSilenced() }
        await openSourceGates()
    }

    private func openSourceGates() async {
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commitOrLog { engine.openSourceGates(at: time.ruleTime(now)) { random.identifier(at: now.wall) } }
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
        if let former, engine.asksForHealth(engine.rules, after: former) {
            let records = gained.filter { askedForFailures.insert($0.name).inserted }
            let (failures, random) = (failures(in: records), dependencies.random)
            await commitOrLog {
                engine.find(failures, after: former, at: time.ruleTime(now)) { random.identifier(at: now.wall) }
            }
        }
        publishAll()
        try await findExisting(in: gained.filter { $0.snapshot != nil }.compactMap { configured[$0.name] })
    }

    /// Takes over what other watchers committed, while no step is under way.
    /// - Parameter isComplete: takes over all rows, and not only those that changed since.
    /// - Returns: whether the silences are others now.
    @discardableResult
    func refresh(isComplete: Bool = false) async -> Bool {
        guard let shares, let barrier, await barrier.close() else { return false }
        var hasOtherSilences = false
        do throws(JournalError) {
            let changes = try await shares.ruleChanges(after: isComplete ? nil : version)
            let records = changes.records.filter { configured[$0.name] != nil }
            let changed = Set(records.map(\.name))
            let polled = records.filter { $0.snapshot != nil }.map(\.name)
            for source in engine.factSources.intersection(polled) {
                let items = try await dependencies.journal.items(of: source).values.compactMap(\.item)
                engine.replaceFacts(of: source, items)
            }
            engine.take(changes.memories, isComplete: isComplete, at: time.ruleTime(dependencies.clock.now()))
            engine.take(
                SourceHealth(records, watched: configured), of: changed,
                uncertain: Set(records.filter { $0.health.failures > 0 }.map(\.name)))
            let before = Set(engine.silences.map(\.id))
            engine.setSilences(changes.silences)
            hasOtherSilences = before != Set(engine.silences.map(\.id))
            // All rows come without the records of sources that changed since.
            if !isComplete { version = changes.version }
            publishAll()
        } catch {
            dependencies.log.log(.debug, "failed to read what other watchers changed: \(error.detail)")
        }
        await barrier.open()
        return hasOtherSilences
    }

    /// What a step is based on; nil when this is the only watcher.
    private func basis(of step: RuleEngine.Step) -> RuleBasis? {
        shares.map { shares in
            RuleBasis(
                writer: shares.writer, version: version, rules: step.rules, sources: engine.sourcesRead(by: step))
        }
    }

    // MARK: Commits outside of polls

    private func commitOrLog(_ evaluate: () -> RuleEngine.Step) async {
        if let error = await commitCurrent(evaluate) {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
        }
    }

    /// Commits a step. When another watcher has changed what it is based on, takes that over and evaluates it again.
    private func commitCurrent(_ evaluate: () -> RuleEngine.Step) async -> JournalError? {
        var error: JournalError?
        for _ in 0..<RuleCoordinator.maximumConflicts {
            await barrier?.enter()
            error = await commit(evaluate())
            await barrier?.leave()
            guard error?.reason == .conflict else { break }
            await refresh()
        }
        return error
    }

    /// - Returns: why the step was taken back; nil when it was committed.
    private func commit(
        _ step: RuleEngine.Step, _ sinkChange: SinkChange? = nil, events: [Event] = [], deliveries: [Delivery]? = nil
    ) async -> JournalError? {
        report(step)
        publishAll()
        guard !step.isEmpty || !events.isEmpty else { return nil }
        var record = PollRecord(record: nil, events: events, sinkChange: sinkChange)
        (record.deliveries, record.memories) = (deliveries ?? step.deliveries, step.changes)
        record.endedSilences = step.endedSilences
        record.basis = basis(of: step)
        do throws(JournalError) {
            _ = try await committed(submit(record, step))
            return nil
        } catch {
            publishAll()
            return error
        }
    }

    private func report(_ step: RuleEngine.Step) {
        for (rule, detail) in step.failures {
            dependencies.log.log(.error, "failed to evaluate rule '\(rule)': \(detail)")
        }
        for warning in step.warnings { dependencies.log.log(.warning, warning) }
        for sentence in step.discarded { dependencies.log.log(.notice, sentence) }
    }

    private func publish(_ step: RuleEngine.Step, _ source: String) {
        for name in step.sources.union([source]) { interests.set(engine.interest(in: name), of: name) }
        setTimer()
    }

    private func publishAll() {
        interests.replace(engine.interests)
        setTimer()
    }
}
