// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Owns what rules remember: the rule engine, the timer of deadlines, and the undo of steps that
/// were not committed.
///
/// It runs beside the network thread. Steps are evaluated one at a time, and submitted to the journal in that order, so that
/// a later state of a rule's memory never precedes an earlier one.
actor RuleCoordinator {
    /// The pause after a step that the journal refused.
    private static let retryDelay = Duration.seconds(5)
    /// Deadlines on the wall clock are checked at least this often, since that clock may be set.
    private static let longestSleep = Duration.seconds(60)

    private let dependencies: Dependencies
    private let commits: CommitBatcher
    private let time: SteadyClock
    /// What the watcher asks without waiting for this actor.
    nonisolated let interests: RuleInterests
    private var engine: RuleEngine
    private var timer: (deadline: BootTime, task: Task<Void, Never>)?
    /// No deadline is evaluated before: the journal refused the last step.
    private var retryAt: BootTime?
    private var isTimed = false
    /// Stopped sinks whose events the journal refused, to be stored later.
    private var unstoredStops: [String: StoppedSink] = [:]

    init(_ rules: RuleSet, _ dependencies: Dependencies, commits: CommitBatcher) {
        (self.dependencies, self.commits) = (dependencies, commits)
        time = SteadyClock(dependencies.clock.now())
        engine = RuleEngine(rules, civil: dependencies.civil)
        interests = RuleInterests(rules, time)
    }

    // MARK: Polls

    /// A poll's record as it was submitted to the journal, with what undoes its step.
    struct Evaluation: Sendable {
        fileprivate let step: RuleEngine.Step
        let ticket: CommitTicket
    }

    /// Evaluates the rules for a transition, and submits both to the journal as one record.
    /// - Returns: nil when the poll was cancelled meanwhile; then nothing is submitted or remembered.
    func evaluate(_ transition: PollTransition, _ poll: PollNote) async -> Evaluation? {
        let (now, source) = (poll.now, transition.source)
        let identifier = { [random = dependencies.random] in random.identifier(at: now.wall) }
        var record = PollRecord(
            record: transition.record, isNewBaseline: transition.isNewBaseline,
            writes: transition.writes + transition.refreshes, deletions: transition.deletions)
        record.events = transition.events.map {
            $0.event(id: identifier(), source: source, poll: poll.id, at: now.wall)
        }
        let observation = PollObservation(record, source, isGood: poll.isGood)
        let existing = record.isNewBaseline || poll.isFirst ? record.writes : transition.entered
        var evaluation =
            record.isNewBaseline || poll.isFirst || !existing.isEmpty
            ? PollEvaluation(
                existing: existing, of: source, foundBy: (record.events, observation), at: time.ruleTime(now))
            : PollEvaluation(of: source.name, events: record.events, observation, at: time.ruleTime(now))
        guard await finish(&evaluation, identifier) else {
            engine.undo(evaluation.step)
            publishAll()
            return nil
        }
        // From the last piece to the submission nothing else runs here: see `RuleEngine.resume`.
        record.events = EventBurst.fold(record.events, matched: evaluation.matched, identifier: identifier)
        let step = evaluation.step
        report(step)
        (record.memories, record.endedSilences) = (step.changes, step.endedSilences)
        record.deliveries = step.deliveries
        publish(step, source.name)
        return Evaluation(step: step, ticket: commits.submit(record))
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

    /// Takes back a step that was not committed: its poll is made again.
    func undo(_ evaluation: Evaluation) {
        engine.undo(evaluation.step)
        publishAll()
    }

    /// Notes a poll that was not good and brings no record: what rules remember of its items stays unconfirmed.
    func pollFailed(_ source: String) {
        engine.pollFailed(source)
        interests.set(engine.interest(in: source), of: source)
    }

    // MARK: Sinks

    /// Commits that a sink stopped or resumed.
    func sinkChanged(_ change: SinkChange) async {
        switch change {
        case .stopped(let stop): await sinkStopped(stop)
        case .resumed(let sink):
            unstoredStops[sink] = nil
            let record = PollRecord(record: SourceRecord(name: StoppedSink.recordName(of: sink)))
            do throws(JournalError) {
                _ = try await commits.submit(record).committed()
            } catch {
                dependencies.log.log(.error, "failed to store that the sink '\(sink)' resumed: \(error.detail)")
            }
        }
    }

    /// Commits the event that a sink waits for a person, and what rules send about it. When the journal refuses it, the timer
    /// commits it later, since a sink is reported once.
    private func sinkStopped(_ stop: StoppedSink) async {
        let (sink, kind, reason) = (stop.sink, stop.kind, stop.reason)
        let now = dependencies.clock.now()
        let random = dependencies.random
        let event = Event(
            id: random.identifier(at: now.wall), kind: kind, time: now.wall, source: sink, sourceKind: Event.sink,
            poll: "", error: Event.Problem(failure: kind.word, detail: reason))
        let step = engine.evaluate(event, at: time.ruleTime(now)) { random.identifier(at: now.wall) }
        let deliveries = step.deliveries.map { RuleCoordinator.suppressed($0, about: sink) }
        if let error = await commit(step, of: stop.record, events: [event], deliveries: deliveries) {
            dependencies.log.log(.error, "failed to store that the sink '\(sink)' stopped: \(error.detail)")
            unstoredStops[sink] = stop
            retryLater()
        }
    }

    /// A message to the sink that it is about would only wait behind what it is about.
    private static func suppressed(_ delivery: Delivery, about sink: String) -> Delivery {
        guard delivery.message.sink == sink, delivery.state.isPending else { return delivery }
        var delivery = delivery
        (delivery.state, delivery.reason) = (.suppressed, "it is about this sink itself")
        return delivery
    }

    // MARK: Deadlines

    /// Evaluates deadlines from now on, each when it is due.
    func startTimer() {
        isTimed = true
        setTimer()
    }

    func stopTimer() {
        isTimed = false
        timer?.task.cancel()
        timer = nil
    }

    /// The next deadline that waits for no poll, in steady time.
    func nextDeadline() -> Timestamp? { engine.nextTimer(at: time.ruleTime(dependencies.clock.now())) }

    /// Evaluates every deadline that is due and waits for no poll.
    func evaluateDeadlines() async {
        let now = dependencies.clock.now()
        let random = dependencies.random
        let step = engine.fireTimers(at: time.ruleTime(now)) { random.identifier(at: now.wall) }
        if let error = await commit(step) {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
            retryLater()
        }
        setTimer()
    }

    private func retryLater() {
        retryAt = dependencies.clock.now().boot.advanced(by: RuleCoordinator.retryDelay)
        setTimer()
    }

    private func setTimer() {
        guard isTimed else { return }
        let now = dependencies.clock.now()
        let next = unstoredStops.isEmpty ? engine.nextTimer(at: time.ruleTime(now)).map(time.boot) : now.boot
        guard let next else { return }
        let deadline = min(max(next, retryAt ?? now.boot), now.boot.advanced(by: RuleCoordinator.longestSleep))
        // A timer that fires too early only sets the next one.
        if let timer, timer.deadline <= deadline { return }
        timer?.task.cancel()
        let clock = dependencies.clock
        let task = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            await self.timerFired()
        }
        timer = (deadline, task)
    }

    private func timerFired() async {
        // It may have slept to its end when the timer was stopped.
        guard isTimed else { return }
        timer = nil
        let now = dependencies.clock.now()
        if retryAt.map({ $0 <= now.boot }) ?? true {
            let stops = unstoredStops
            unstoredStops = [:]
            for stop in stops.values { await sinkStopped(stop) }
        }
        let isDue = engine.nextTimer(at: time.ruleTime(now)).map { time.boot($0) <= now.boot } ?? false
        if isDue, retryAt.map({ $0 <= now.boot }) ?? true { await evaluateDeadlines() } else { setTimer() }
    }

    // MARK: Start, reload, silences

    /// Takes up what the journal kept, and looks for matches that exist already.
    /// - Parameter watched: the sources by name.
    func restore(_ records: [SourceRecord], watched: [String: Source]) async throws(JournalError) {
        let kept = try await dependencies.journal.ruleMemories()
        let silences = try await dependencies.journal.silences()
        try await readFacts(of: engine.factSources)
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        let unconfirmed = records.filter { watched[$0.name] == nil || $0.isUncertain(at: now.wall) }.map(\.name)
        var step = engine.restore(
            kept, silences: silences, health: SourceHealth(records, watched: watched), unconfirmed: Set(unconfirmed),
            at: time.ruleTime(now)
        ) { random.identifier(at: now.wall) }
        let known = Set(records.map(\.name)).union(watched.keys)
        step.add(engine.forgetSources(except: known, at: time.ruleTime(now)) { random.identifier(at: now.wall) })
        await commitOrLog(step)
        try await findExisting(in: records.filter { $0.snapshot != nil }.compactMap { watched[$0.name] })
    }

    /// Reads what the rules of a coming `reload` ask of other sources. Until then the rules in force stay.
    func prepare(_ rules: RuleSet) async throws(JournalError) {
        try await readFacts(of: engine.gatherFacts(for: rules))
    }

    /// Takes another set of rules, after `prepare`; timers of rules that are unchanged go on.
    /// - Parameters:
    ///   - watched: the names of the sources.
    ///   - polled: sources with a snapshot, in which new rules may match already.
    func reload(_ rules: RuleSet, watched: Set<String>, polled: [Source]) async {
        interests.set(rules)
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commitOrLog(engine.reload(rules, at: time.ruleTime(now)) { random.identifier(at: now.wall) })
        do throws(JournalError) {
            try await pauseUnwatched(watched)
            try await findExisting(in: polled)
        } catch {
            dependencies.log.log(.warning, "failed to look for existing matches of new rules: \(error.detail)")
        }
    }

    /// What rules remember of a removed source is kept as long as its snapshot, since the source may come back.
    private func pauseUnwatched(_ watched: Set<String>) async throws(JournalError) {
        let unwatched = engine.rememberedSources.subtracting(watched)
        guard !unwatched.isEmpty else { return }
        for source in unwatched { engine.pollFailed(source) }
        let known = try await dependencies.journal.sourceRecords().map(\.name)
        let (now, random) = (dependencies.clock.now(), dependencies.random)
        await commitOrLog(
            engine.forgetSources(except: watched.union(known), at: time.ruleTime(now)) {
                random.identifier(at: now.wall)
            })
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

    private func findExisting(in sources: [Source]) async throws(JournalError) {
        for source in sources where !engine.rulesMatchingExisting(in: source.name).isEmpty {
            let items = try await dependencies.journal.items(of: source.name).values.sorted { $0.key < $1.key }
            let (now, random) = (dependencies.clock.now(), dependencies.random)
            var evaluation = PollEvaluation(existing: items, of: source, at: time.ruleTime(now))
            guard await finish(&evaluation, { random.identifier(at: now.wall) }) else {
                return engine.undo(evaluation.step)
            }
            await commitOrLog(evaluation.step)
        }
    }

    /// Reads the silences again, after a command or a button changed them.
    func silencesChanged() async {
        do throws(JournalError) {
            engine.setSilences(try await dependencies.journal.silences())
            let (now, random) = (dependencies.clock.now(), dependencies.random)
            await commitOrLog(engine.releaseSilenced(at: time.ruleTime(now)) { random.identifier(at: now.wall) })
        } catch {
            dependencies.log.log(.warning, "failed to read silences: \(error.detail)")
        }
    }

    // MARK: Commits outside of polls

    private func commitOrLog(_ step: RuleEngine.Step) async {
        if let error = await commit(step) {
            dependencies.log.log(.error, "failed to store what rules send: \(error.detail)")
        }
    }

    /// - Returns: why the step was taken back; nil when it was committed.
    private func commit(
        _ step: RuleEngine.Step, of sink: SourceRecord? = nil, events: [Event] = [], deliveries: [Delivery]? = nil
    ) async -> JournalError? {
        report(step)
        publishAll()
        guard !step.isEmpty || !events.isEmpty else { return nil }
        var record = PollRecord(record: sink, events: events)
        (record.deliveries, record.memories) = (deliveries ?? step.deliveries, step.changes)
        record.endedSilences = step.endedSilences
        let ticket = commits.submit(record)
        do throws(JournalError) {
            _ = try await ticket.committed()
            return nil
        } catch {
            engine.undo(step)
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
