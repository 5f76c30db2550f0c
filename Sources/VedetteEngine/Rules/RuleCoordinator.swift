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

    let dependencies: Dependencies
    let commits: CommitBatcher
    let time: SteadyClock
    /// What the watcher asks without waiting for this actor.
    nonisolated let interests: RuleInterests
    var engine: RuleEngine
    private var timer: RuleTimer
    private var sinkChanges = SinkChanges()
    private var unstored = UnstoredSteps()
    /// Whether silences changed, and the journal could not be read or refused what they withheld.
    private var hasUnreleased = false
    /// Sources whose items `if`, `unless` and `how_many` must see again, since a poll of them was not committed and the
    /// journal could not be read.
    private var unreadFacts = Set<String>()
    /// Nil when this is the only watcher.
    let share: RuleShare?
    /// Held while a poll is evaluated, and while new rules look for matches among the stored items: a poll in between would
    /// make those items old.
    let locks = SourceLocks()
    var adoption = RuleAdoption()

    init(_ rules: RuleSet, _ dependencies: Dependencies, commits: CommitBatcher) {
        (self.dependencies, self.commits) = (dependencies, commits)
        share = dependencies.journal.shares.map(RuleShare.init)
        time = SteadyClock(dependencies.clock.now())
        (engine, timer) = (RuleEngine(rules, civil: dependencies.civil), RuleTimer(dependencies.clock))
        interests = RuleInterests(rules, time)
    }

    /// The time of a step that begins now.
    func now() -> RuleTime { time.ruleTime(dependencies.clock.now()) }

    /// Returns what makes the ids of a step.
    func identifiers(at now: RuleTime) -> () -> Identifier {
        { [random = dependencies.random] in random.identifier(at: now.wall) }
    }

    // MARK: Polls

    /// A step that is submitted, with its place in the journal.
    private typealias Submitted = (step: RuleEngine.Step, ticket: CommitTicket)

    /// Submits a record with what a step adds. It fails with any earlier one on which the step is based.
    private func submit(_ record: PollRecord, _ step: RuleEngine.Step) -> Submitted {
        var record = record
        (record.memories, record.endedSilences) = (step.changes, step.endedSilences)
        record.basis = share?.basis(of: step, engine)
        let ticket = commits.submit(record, after: unstored.basis(of: step))
        unstored.submitted(step, ticket)
        return (step, ticket)
    }

    /// Waits until the journal has a record, or undoes its step.
    private func committed(_ submitted: Submitted) async throws(JournalError) -> Committed {
        do throws(JournalError) {
            let committed = try await submitted.ticket.committed()
            unstored.committed(submitted.ticket)
            return committed
        } catch {
            engine.undo(submitted.step)
            unstored.forgetFailed()
            throw error
        }
    }

    /// Evaluates the rules for a transition, and waits until both are committed.
    /// - Returns: nil when the poll was cancelled during the evaluation.
    /// - Throws: why the journal refused. Then, as for nil, nothing is committed or remembered. After a conflict the
    ///   evaluation may be made again, once `refresh` has taken over what others changed.
    func commit(_ transition: PollTransition, _ poll: PollFacts) async throws(JournalError) -> Committed? {
        guard let evaluation = await evaluate(transition, poll) else { return nil }
        do throws(JournalError) {
            let committed = try await committed(evaluation)
            await share?.barrier.leave()
            return committed
        } catch {
            await undoFacts(of: transition.source.name, isFirst: poll.isFirst)
            publishAll()
            await share?.barrier.leave()
            throw error
        }
    }

    /// Evaluates the rules for a transition, and submits both to the journal as one record.
    /// - Returns: nil when the poll was cancelled meanwhile; then nothing is submitted or remembered.
    private func evaluate(_ transition: PollTransition, _ poll: PollFacts) async -> Submitted? {
        let (now, source) = (time.ruleTime(poll.now), transition.source)
        await locks.lock(source.name)
        defer { locks.unlock(source.name) }
        await share?.barrier.enter()
        if unreadFacts.contains(source.name) { await undoFacts(of: source.name, isFirst: poll.isFirst) }
        let identifier = identifiers(at: now)
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
        unstored.evaluationBegan()
        defer { unstored.evaluationEnded() }
        var evaluation =
            record.isNewBaseline || poll.isFirst || !existing.isEmpty
            ? PollEvaluation(
                existing: existing, of: source, foundBy: (record.events, observation), at: now)
            : PollEvaluation(of: source.name, events: record.events, observation, at: now)
        guard await finish(&evaluation, identifier) else {
            engine.undo(evaluation.step)
            await undoFacts(of: source.name, isFirst: poll.isFirst)
            publishAll()
            await share?.barrier.leave()
            return nil
        }
        // From the last piece to the submission nothing else runs here: see `RuleEngine.resume`.
        record.events = EventBurst.fold(record.events, matched: evaluation.matched, identifier: identifier)
        let step = evaluation.step
        report(step)
        record.deliveries = step.deliveries
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
    func finish(_ evaluation: inout PollEvaluation, _ identifier: () -> Identifier) async -> Bool {
        // A piece stays on one thread.
        let elapsed = { [clock = dependencies.clock] in clock.processorTime }
        while true {
            engine.resume(&evaluation, elapsed: elapsed, identifier: identifier)
            if evaluation.isFinished { return true }
            await Task.yield()
            if Task.isCancelled { return false }
        }
    }

    /// Records a failed poll that is not committed: what rules remember of its items stays unconfirmed.
    func pollFailed(_ source: String) {
        engine.pollFailed(source)
        setInterests(in: [source])
    }

    // MARK: Deadlines

    /// Evaluates deadlines from now on, each when it is due.
    func startTimer() {
        timer.start()
        setTimer()
    }

    func stopTimer() { timer.stop() }

    /// The next deadline that waits for no poll, in steady time.
    func nextDeadline() -> Timestamp? { engine.nextTimer(at: now()) }

    /// Evaluates every deadline that is due and waits for no poll.
    func evaluateDeadlines() async {
        if adoption.unadopted != nil {
            await adopt()
            if adoption.unadopted == nil { await endUnwatched() }
        }
        if let error = await commitCurrent({ $0.fireTimers(at: $1, identifier: $2) }) {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
            retryLater()
        }
        setTimer()
    }

    func retryLater() {
        timer.pause(from: dependencies.clock.now().boot)
        setTimer()
    }

    private func setTimer() {
        guard timer.isRunning else { return }
        let now = dependencies.clock.now()
        let next =
            adoption.unadopted == nil && !sinkChanges.hasRefused && !hasUnreleased
            ? engine.nextTimer(at: time.ruleTime(now)).map(time.boot) : now.boot
        guard let next else { return }
        timer.set(at: next, now: now.boot, for: self) { await $0.timerFired() }
    }

    private func timerFired() async {
        guard timer.fired() else { return }
        let now = dependencies.clock.now()
        if !timer.isPaused(at: now.boot) {
            for change in sinkChanges.refused where sinkChanges.retry(change) { await store(change) }
            if hasUnreleased { await silencesChanged() }
        }
        let next = engine.nextTimer(at: time.ruleTime(now))
        let isDue = adoption.unadopted != nil || next.map { time.boot($0) <= now.boot } ?? false
        if isDue, !timer.isPaused(at: now.boot) { await evaluateDeadlines() } else { setTimer() }
    }

    /// Reads the silences again, after a command or a button changed them.
    func silencesChanged() async {
        hasUnreleased = false
        do throws(JournalError) {
            engine.setSilences(try await dependencies.journal.silences())
            await releaseSilenced()
        } catch {
            dependencies.log.log(.warning, "failed to read silences: \(error.detail)")
            releaseLater()
        }
    }

    /// Sends what silences withheld and no silence covers any more. What the journal refuses is sent later.
    func releaseSilenced() async {
        hasUnreleased = false
        guard let error = await commitCurrent({ $0.releaseSilenced(at: $1, identifier: $2) }) else { return }
        dependencies.log.log(.error, "failed to store what silences withheld: \(error.detail)")
        releaseLater()
    }

    private func releaseLater() {
        hasUnreleased = true
        retryLater()
    }

    /// Notes that somebody works on a match, or with nil that nobody does any more.
    func acknowledge(
        _ rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?
    ) async throws(JournalError) {
        // Another watcher may have told the match just now.
        await refresh()
        let error = await commitCurrent { engine, now, identifier in
            engine.acknowledge(rule, subject, acknowledgement, at: now, identifier: identifier)
        }
        if let error { throw error }
    }

    // MARK: Sinks

    /// Commits that a sink stopped or resumed. What the journal refuses is stored later, since a change is reported once.
    func sinkChanged(_ change: SinkChange) async { await store(sinkChanges.add(change)) }

    private func store(_ unstored: SinkChanges.Unstored) async {
        let change = unstored.change
        let error =
            switch change {
            case .stopped(let stop) where stop.kind != .failing: await sinkStopped(stop)
            // No event tells it.
            case .stopped, .resumed: await storeAlone(change)
            }
        guard sinkChanges.ended(unstored, isRefused: error != nil), let error else { return }
        dependencies.log.log(
            .error, "failed to store that the sink '\(change.sink)' \(change.verb): \(error.detail)")
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
        let now = dependencies.clock.now().wall
        let event = stop.event(id: dependencies.random.identifier(at: now), at: now)
        return await commitOnce(event, .stopped(stop), stop.suppressing)
    }

    // MARK: Commits outside of polls

    /// Evaluates a step with the time and new ids.
    typealias Evaluation = (inout RuleEngine, RuleTime, () -> Identifier) -> RuleEngine.Step

    func commitOrLog(_ evaluate: Evaluation) async {
        if let error = await commitCurrent(evaluate) {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
        }
    }

    /// Commits a step. When another watcher has changed what it is based on, takes that over and evaluates it again.
    func commitCurrent(_ evaluate: Evaluation) async -> JournalError? {
        let now = now()
        var error: JournalError?
        for _ in 0..<RuleCoordinator.maximumConflicts {
            await share?.barrier.enter()
            error = await commit(evaluate(&engine, now, identifiers(at: now)))
            await share?.barrier.leave()
            guard error?.reason == .conflict else { break }
            await refresh()
        }
        return error
    }

    /// Commits a step once. A conflict is an error, but what another watcher changed is taken over.
    func commitOnce(
        _ event: Event, _ sinkChange: SinkChange? = nil, _ changed: (Delivery) -> Delivery = { $0 }
    ) async -> JournalError? {
        let now = now()
        await share?.barrier.enter()
        let step = engine.evaluate(event, at: now, identifier: identifiers(at: now))
        let error = await commit(step, sinkChange, events: [event], deliveries: step.deliveries.map(changed))
        await share?.barrier.leave()
        if error?.reason == .conflict { await refresh() }
        return error
    }

    /// - Returns: why the step was taken back; nil when it was committed.
    func commit(
        _ step: RuleEngine.Step, _ sinkChange: SinkChange? = nil, events: [Event] = [], deliveries: [Delivery]? = nil
    ) async -> JournalError? {
        report(step)
        publishAll()
        guard !step.isEmpty || !events.isEmpty else { return nil }
        var record = PollRecord(record: nil, events: events, sinkChange: sinkChange)
        record.deliveries = deliveries ?? step.deliveries
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
        setInterests(in: step.sources.union([source]))
        setTimer()
    }

    private func setInterests(in sources: Set<String>) {
        for name in engine.sourcesConcerned(by: sources) { interests.set(engine.interest(in: name), of: name) }
    }

    func publishAll() {
        interests.replace(engine.interests)
        setTimer()
    }
}
