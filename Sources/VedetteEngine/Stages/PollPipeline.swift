// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Carries one poll from its request to its deliveries: the picture on the page Architecture, as code.
///
/// It belongs to the watcher's actor. `replay` runs it over files and a journal in memory.
final class PollPipeline {
    let dependencies: Dependencies
    private let network: NetworkMonitor
    private let rules: RuleCoordinator
    let deferredWrites: DeferredWrites
    let meter: PollMeter
    var pollLog = PollLog()
    var limits = PollLimits()
    /// A source that is polled as often keeps its request between two polls. With the others, memory counts for more.
    private static let shortInterval = Duration.seconds(60)

    init(
        _ dependencies: Dependencies, network: NetworkMonitor, rules: RuleCoordinator, deferredWrites: DeferredWrites
    ) {
        (self.dependencies, self.network, self.rules) = (dependencies, network, rules)
        self.deferredWrites = deferredWrites
        meter = PollMeter(dependencies.meter)
    }

    /// Polls a source once. An unchanged response ends at the transition: nothing is asked of rules, nothing is committed.
    ///
    /// In the lane `.streams` it lasts as long as the connection, and commits each batch of records.
    /// - Parameter polled: why a source with a stream is polled; nil for any other poll.
    func run(_ source: WatchedSource, lane: Lane, polled: String? = nil) async {
        let start = dependencies.clock.now().boot
        meter.started(source, in: lane, at: start)
        // Held until the commit, when nothing of what was read is left.
        let memory = PollMemoryShare(dependencies.memory)
        defer {
            memory.release()
            meter.ended(source, in: lane, from: start, at: dependencies.clock.now().boot)
        }
        await run(begin(source, lane, memory), of: source, polled)
    }

    /// - Parameter polled: why a source with a stream is polled; nil for any other poll.
    private func run(_ poll: PollStages, of source: WatchedSource, _ polled: String?) async {
        let isKept = poll.lane == .streams
        let connection = polled.map { SourceRecord.Connection.polled($0) }
        do throws(JournalError) {
            let fetched = await poll.fetch()
            if let stream = fetched.stream {
                var reading = StreamPoll(self, poll, source, stream, isKept ? .open : connection)
                return try await reading.run()
            }
            // A body has one holder at a time, so that its reader need not copy it and its memory is free when it is read.
            let result = try await poll.readAndDiff(consume fetched)
            try await store(
                result, of: source, poll, connection: isKept ? result.completeBody : connection,
                reconnect: isKept ? result.reconnect(source.source.interval) : nil)
        } catch {
            noteFailure(error, of: source)
        }
    }

    /// Takes note of a poll that the journal refused. The snapshot stands as it was: the same poll is made again at the usual
    /// interval.
    private func noteFailure(_ error: JournalError, of source: WatchedSource) {
        dependencies.log.log(
            error.logLevel, "failed to read or store the poll of \(source.source.name): \(error.detail)")
        source.lastResult = .unwritten(error.detail)
        postpone(source)
    }

    /// Makes the transition of a result, evaluates the rules and commits both.
    /// - Parameters:
    ///   - connection: how a source with a stream is read from now on.
    ///   - reconnect: the time before a closed stream is opened again; nil for polls.
    func store(
        _ result: PollResult, of source: WatchedSource, _ poll: PollStages,
        connection: SourceRecord.Connection? = nil, reconnect: Duration? = nil
    ) async throws(JournalError) {
        guard !source.isRemoved, !source.mustRestart else { return }
        noteAnswer(result, of: source)
        let stored = try await itemsToConfirm(by: result, of: source, poll)
        let plan = ConnectionPlan(connection: connection, reconnect: reconnect)
        switch makeTransition(source, result, poll.id, plan, stored) {
        case .discarded: return
        case .deferred(let isGood):
            if !isGood, rules.interests.hasMemories(of: source.source.name) {
                await rules.pollFailed(source.source.name)
            }
        case .commit(let transition, let facts): try await commit(transition, facts, of: source)
        }
    }

    // MARK: A poll without a task: most responses are unchanged, and need a request and a transition alone

    /// What remains of a poll whose request was answered.
    enum Remainder {
        /// Read the answer.
        case read(FirstAnswer)
        case commit(PollTransition, PollFacts)
    }

    /// Sends the request of a poll whose response is likely the last one's.
    ///
    /// - Parameter answered: called on the watcher's executor after this has returned; `end` must follow.
    /// - Returns: false for a poll that needs a task from its start.
    func send(_ start: PollSchedule.Start, answered: @escaping @Sendable (FirstAnswer) -> Void) -> Bool {
        let source = start.source
        guard let fetcher = dependencies.callbacks, !start.isHealthCheck, source.source.stream == nil,
            let snapshot = source.record.snapshot, snapshot.digest != nil
        else { return false }
        let prepared = prepare(source, in: start.lane)
        guard !prepared.isObserved, snapshot.isComparable(with: source.source, prepared.identity) else { return false }
        let request = prepared.conditional(prepared.request, on: snapshot)
        guard request.knownDigest != nil, let id = fetcher.send(request, ended: answered) else { return false }
        let now = dependencies.clock.now().boot
        meter.started(source, in: start.lane, at: now)
        source.pollBegan(
            SentPoll(
                id: pollIdentifier(random: dependencies.random.next()), start: start, prepared: prepared, sentAt: now,
                hasValidators: !request.validators.isEmpty, fetcher: fetcher, request: id))
        return true
    }

    /// Applies an answer to the source's record when it is unchanged.
    /// - Returns: what remains to be done; nil when the poll is over.
    func end(_ poll: SentPoll, of source: WatchedSource, _ answer: FirstAnswer) -> Remainder? {
        // An answer to an earlier request says nothing of the host that the source has now.
        guard !source.isRemoved, !source.mustRestart else {
            ended(poll, of: source)
            return nil
        }
        guard case .unchanged(let response) = answer, response.status != 304 || poll.hasValidators,
            !source.source.hasUnknownNextPage(response), source.record.snapshot?.pendingAbsences == 0
        else { return .read(answer) }
        let validators = source.source.validators(of: response, at: dependencies.clock.now().wall)
        let result = PollResult(.unchanged(validators), freshFor: response.headers.freshFor)
        noteAnswer(result, of: source)
        if case .commit(let transition, let facts) = makeTransition(source, result, poll.id, ConnectionPlan(), [:]) {
            return .commit(transition, facts)
        }
        ended(poll, of: source)
        return nil
    }

    /// Finishes a poll.
    func run(_ remainder: Remainder, of poll: SentPoll, _ source: WatchedSource) async {
        let memory = PollMemoryShare(dependencies.memory)
        defer {
            memory.release()
            ended(poll, of: source)
        }
        switch remainder {
        case .read(let answer):
            var stages = begin(source, poll.start.lane, memory, after: poll)
            stages.first = (answer, poll.sentAt)
            await run(stages, of: source, nil)
        case .commit(let transition, let facts):
            guard !source.isRemoved, !source.mustRestart else { return takeBack(facts, of: source) }
            do throws(JournalError) {
                try await commit(transition, facts, of: source)
            } catch {
                noteFailure(error, of: source)
            }
        }
    }

    private func ended(_ poll: SentPoll, of source: WatchedSource) {
        meter.ended(source, in: poll.start.lane, from: poll.sentAt, at: dependencies.clock.now().boot)
    }

    // MARK: Begin

    /// Starts a poll.
    /// - Parameters:
    ///   - memory: the poll's share of the memory for what polls read.
    ///   - sent: the poll, when its first request was sent already.
    func begin(
        _ source: WatchedSource, _ lane: Lane, _ memory: PollMemoryShare?, after sent: SentPoll? = nil
    ) -> PollStages {
        let (journal, name, unwritten) = (dependencies.journal, source.source.name, source.refreshes)
        var poll = PollStages(
            id: sent?.id ?? pollIdentifier(random: dependencies.random.next()), source: source.source,
            snapshot: source.record.snapshot, failures: source.record.health.failures, lane: lane,
            fetcher: dependencies.fetcher, clock: dependencies.clock, userAgent: dependencies.userAgent,
            transformer: dependencies.transformer, thresholds: rules.interests.thresholds(for: name),
            links: source.links,
            storedItems: { () async throws(JournalError) in
                var stored = try await journal.items(of: name)
                stored.replaceRows(with: unwritten)
                return stored
            },
            limits: limits, memory: memory)
        poll.prepared = sent?.prepared ?? prepare(source, in: lane)
        return poll
    }

    /// Prepares the first request of a poll, and keeps it for the next poll of a source that is polled often.
    func prepare(_ source: WatchedSource, in lane: Lane) -> PreparedRequest {
        let requests = RequestBuilder(source: source.source, lane: lane, userAgent: dependencies.userAgent)
        let prepared = requests.prepared(
            after: source.record.snapshot, now: dependencies.clock.now().wall, reusing: source.prepared)
        source.prepared = source.source.interval.every <= PollPipeline.shortInterval ? prepared : nil
        return prepared
    }

    // MARK: Transition

    /// Notes whether the host of a source answered, and what its items' links answered.
    private func noteAnswer(_ result: PollResult, of source: WatchedSource) {
        if case .cancelled = result.outcome { return }
        if let links = result.links { source.links = links }
        network.pollEnded(result, of: source)
    }

    /// Reads the items whose absence an unchanged response confirms.
    private func itemsToConfirm(
        by result: PollResult, of source: WatchedSource, _ poll: PollStages
    ) async throws(JournalError) -> [String: StoredItem] {
        guard case .unchanged = result.outcome, let snapshot = source.record.snapshot, snapshot.pendingAbsences > 0
        else { return [:] }
        await poll.reserve(body: 0, items: 0)
        return try await dependencies.journal.items(of: source.source.name)
    }

    /// Applies a result to the source's record. `noteAnswer` came before.
    /// - Parameters:
    ///   - poll: the poll's id.
    ///   - stored: the items whose absence it confirms.
    private func makeTransition(
        _ source: WatchedSource, _ result: PollResult, _ poll: String, _ plan: ConnectionPlan,
        _ stored: [String: StoredItem]
    ) -> TransitionResult {
        guard !source.isRemoved, !source.mustRestart else { return .discarded }
        if case .cancelled = result.outcome {
            postpone(source)
            return .discarded
        }
        let now = dependencies.clock.now()
        source.followWallClock(now)
        var transition = PollTransition(
            source: source.source, record: source.record, refreshes: source.refreshes, now: now.wall,
            random: dependencies.random, connection: plan.connection, reconnect: plan.reconnect)
        let isIgnored = network.isOffline && result.isAnswered == false
        // A kind that observes its host reads a silent one too: while this machine is offline that confirms nothing.
        let isGood = result.isGood && !isIgnored
        if let outcome = PollMeter.Outcome(result.outcome, isIgnored: isIgnored) { meter.count(outcome, of: source) }
        if isIgnored {
            transition.pollIgnored(result.unanswered?.detail ?? "")
        } else {
            apply(result, to: &transition, of: source, poll, stored)
        }
        let announcement = network.pendingEvent(result.unanswered.map { "\(source.source.name): \($0.detail)" })
        if let announcement {
            let text = announcement.kind == .offline ? "the network is gone" : "the network is back"
            dependencies.log.log(.notice, text)
            transition.add(announcement)
        }
        // Rules may wait for this poll although nothing changed.
        if transition.isDeferrable, !isGood || !rules.interests.needsPoll(of: source.source.name, at: now) {
            deferWrite(of: transition, poll, source, at: now)
            return .deferred(isGood: isGood)
        }
        let facts = PollFacts(
            id: poll, now: now, isGood: isGood, isFirst: source.record.snapshot == nil,
            announcement: announcement?.kind, hadDeferredWrite: source.hasDeferredWrite)
        // A deferred write is older: handed in from now on, it would overwrite this record.
        source.hasDeferredWrite = false
        return .commit(transition, facts)
    }

    private func apply(
        _ result: PollResult, to transition: inout PollTransition, of source: WatchedSource, _ poll: String,
        _ stored: [String: StoredItem]
    ) {
        let name = source.source.name
        let fields = LogFields(source: name, poll: poll)
        // A resource that is read with warnings has the same ones at each poll.
        let level: LogLevel = source.lastWarnings == result.warnings ? .debug : .info
        for warning in result.warnings { dependencies.log.log(level, fields, "\(name): \(warning) (\(poll))") }
        if result.isGood { source.lastWarnings = result.warnings }
        if let line = PollLog.longWait(result.retryAfter, of: name) { dependencies.log.log(line.level, line.text) }
        switch result.outcome {
        case .cancelled: return
        case .failed(let failure, let detail):
            if failure == .unauthorized { refreshSecrets(of: source) }
            transition.failed(failure, detail: detail, retryAfter: result.retryAfter)
        case .opened: transition.opened()
        case .expired:
            transition.resumeExpired(isListed: source.source.stream?.initial != nil)
            dependencies.log.log(
                .warning, fields, "\(name): the server no longer has what followed the last record (\(poll))")
        case .unconfirmed(let detail):
            transition.unconfirmed(retryAfter: result.retryAfter)
            dependencies.log.log(.info, fields, "\(name): \(detail) (\(poll))")
        case .unchanged(let validators):
            transition.unchanged(validators, stored: stored, freshFor: result.freshFor)
        case .read(let difference):
            transition.read(difference, freshFor: result.freshFor, retryAfter: result.retryAfter)
            if let line = PollLog.unannounced(difference.unannounced, of: name, poll) {
                dependencies.log.log(line.level, line.text)
            }
        }
    }

    /// Leaves the record to `DeferredWrites`.
    private func deferWrite(
        of transition: PollTransition, _ poll: String, _ source: WatchedSource, at now: Moment
    ) {
        log(transition, poll, isBaseline: false, of: source)
        source.take(transition.record, at: now)
        source.refreshes = transition.refreshes
        source.lastResult = OnceResult(transition, isBaseline: false)
        deferredWrites.add(source, at: now.boot)
    }

    // MARK: Commit

    /// Commits a transition with what the rules make of it. When another watcher has changed what their evaluation is based
    /// on, they evaluate again. A poll that was cancelled meanwhile is made again.
    private func commit(
        _ transition: PollTransition, _ facts: PollFacts, of source: WatchedSource
    ) async throws(JournalError) {
        var conflicts = 0
        while true {
            do throws(JournalError) {
                guard try await rules.commit(transition, facts) != nil else {
                    takeBack(facts, of: source)
                    if !facts.isHealthCheck { postpone(source) }
                    return
                }
                return take(transition, facts, of: source)
            } catch {
                conflicts += 1
                guard error.reason == .conflict, conflicts < RuleCoordinator.maximumConflicts, !source.isRemoved else {
                    takeBack(facts, of: source)
                    throw error
                }
            }
            await rules.refresh()
        }
    }

    /// Makes a committed transition the source's state.
    private func take(_ transition: PollTransition, _ facts: PollFacts, of source: WatchedSource) {
        if let announcement = facts.announcement { network.announced(announcement) }
        let isBaseline = facts.isFirst || transition.isNewBaseline
        if !facts.isHealthCheck { log(transition, facts.id, isBaseline: isBaseline, of: source) }
        source.take(transition.record, at: facts.now)
        source.refreshes = []
        source.lastResult = OnceResult(transition, isBaseline: isBaseline)
    }

    /// Logs a poll before its record replaces the earlier one.
    private func log(_ transition: PollTransition, _ poll: String, isBaseline: Bool, of source: WatchedSource) {
        let (name, record) = (source.source.name, transition.record)
        let end = PollLog.End(
            source: name, id: poll, before: source.record.health, after: record.health, items: record.snapshot?.count,
            events: transition.events.count, isBaseline: isBaseline)
        for line in pollLog.lines(of: end) {
            dependencies.log.log(line.level, LogFields(source: name, poll: poll), line.text)
        }
    }

    /// Takes back what a transition that is not committed changed beside its record.
    private func takeBack(_ facts: PollFacts, of source: WatchedSource) {
        if facts.announcement != nil { network.announced(nil) }
        if facts.hadDeferredWrite { deferredWrites.add(source, at: dependencies.clock.now().boot) }
    }

    // MARK: Without a poll

    /// Commits that a source became failing or stale, where the server's Retry-After or a long backoff delays the poll
    /// that would show it.
    func checkHealth(_ source: WatchedSource) async {
        let now = dependencies.clock.now()
        source.followWallClock(now)
        var transition = PollTransition(
            source: source.source, record: source.record, refreshes: source.refreshes, now: now.wall,
            random: dependencies.random)
        transition.timePassed()
        guard !transition.events.isEmpty else { return }
        let facts = PollFacts(
            id: "", now: now, isGood: false, isFirst: false, hadDeferredWrite: source.hasDeferredWrite)
        source.hasDeferredWrite = false
        do throws(JournalError) {
            try await commit(transition, facts, of: source)
        } catch {
            dependencies.log.log(error.logLevel, "failed to store the health of \(source.source.name): \(error.detail)")
            source.nextHealthCheck = dependencies.clock.now().boot.advanced(by: .seconds(60))
        }
    }

    // MARK: Failures

    private func postpone(_ source: WatchedSource) {
        let interval = source.source.stream == nil ? source.source.interval : source.source.interval.ofStream
        source.wait(interval.delay(states: [:], freshFor: nil, random: dependencies.random.fraction()), dependencies)
        closed(source)
    }

    /// Reads them for the next poll; this one does not wait, since a `command:` secret may take seconds.
    private func refreshSecrets(of source: WatchedSource) {
        let secrets = source.source.server.secrets
        guard !secrets.isEmpty, source.record.health.failures == 0 else { return }
        Task { @concurrent in for secret in secrets { _ = await secret.refresh() } }
    }
}
