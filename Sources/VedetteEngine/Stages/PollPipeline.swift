// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Carries one poll from its request to its deliveries: the picture on the page Architecture, as code.
///
/// It belongs to the watcher's actor. `replay` runs it over files and a journal in memory.
final class PollPipeline {
    let dependencies: Dependencies
    private let network: NetworkMonitor
    private let rules: RuleCoordinator
    private let commits: CommitBatcher
    let deferredWrites: DeferredWrites
    let meter: PollMeter
    var pollLog = PollLog()
    var limits = PollLimits()
    /// A source that is polled as often keeps its request between two polls. With the others, memory counts for more.
    private static let shortInterval = Duration.seconds(60)

    init(
        _ dependencies: Dependencies, network: NetworkMonitor, rules: RuleCoordinator, commits: CommitBatcher,
        deferredWrites: DeferredWrites
    ) {
        (self.dependencies, self.network, self.rules) = (dependencies, network, rules)
        (self.commits, self.deferredWrites) = (commits, deferredWrites)
        meter = PollMeter(dependencies.meter)
    }

    // MARK: A poll

    /// Starts a poll, or the health check of a source that is not polled in time.
    /// - Parameters:
    ///   - actor: the one that the pipeline belongs to; the fetcher calls back on its executor.
    ///   - ended: called on that actor when nothing of it remains.
    func start(_ start: PollSchedule.Start, on actor: isolated any Actor, ended: @escaping () -> Void) {
        guard !start.isHealthCheck else {
            start.source.healthCheck = Task {
                await checkHealth(start.source, on: actor)
                ended()
            }
            return
        }
        let now = dependencies.clock.now().boot
        meter.started(start.source, in: start.lane, at: now)
        // Held until the commit, when nothing of what was read is left.
        let memory = PollMemoryShare(dependencies.memory)
        let poll = Poll(start, reader(of: start.source, start.lane, memory), at: now, ended: ended)
        start.source.poll = poll
        fetch(poll, on: actor)
    }

    private func fetch(_ poll: Poll, on actor: isolated any Actor) {
        // Both belong to the actor, on whose executor the fetcher calls back: `assumeIsolated` checks it.
        nonisolated(unsafe) let (pipeline, poll) = (self, poll)
        poll.noteRequest(
            dependencies.fetcher.start(poll.first.request) { answer in
                actor.assumeIsolated { pipeline.answered(poll, answer, on: $0) }
            })
    }

    /// Goes on with a poll: at once, or in a task where something must be read or committed.
    private func answered(
        _ poll: Poll, _ answer: consuming Result<Response, FetchError>, on actor: isolated any Actor
    ) {
        switch handle(consume answer, of: poll) {
        case .fetch: fetch(poll, on: actor)
        case .end: end(poll)
        case .finish:
            poll.noteTask(
                Task {
                    await finish(poll, on: actor)
                    end(poll)
                })
        }
    }

    /// How a poll goes on after an answer.
    private enum Next {
        /// Nothing remains: nothing is asked of the rules, nothing is committed. So ends most of what is unchanged.
        case end
        /// The request must be sent again.
        case fetch
        /// Something must be read or committed.
        case finish
    }

    /// Handles the answer to the request of a poll. What needs no reading becomes a transition at once.
    private func handle(_ answer: consuming Result<Response, FetchError>, of poll: Poll) -> Next {
        // An answer to an earlier request says nothing of the host that the source has now.
        guard !poll.source.dropsResult else { return .end }
        switch poll.reader.interpret(consume answer, to: &poll.first, poll.startedAt) {
        case nil: return .fetch
        case .ended(let result)?:
            if confirmsAbsences(result, of: poll.source) {
                poll.rest = .store(result)
                return .finish
            }
            let transition = makeTransition(poll.source, result, poll.id, poll.connectionPlan(after: result), [:])
            guard needsRules(transition, of: poll.source) else { return .end }
            poll.rest = .evaluate(transition)
            return .finish
        case let fetched?:
            poll.rest = .read(fetched)
            return .finish
        }
    }

    /// Its memory is free, and it has a duration.
    private func end(_ poll: Poll) {
        poll.reader.memory?.release()
        meter.ended(poll.source, in: poll.start.lane, from: poll.startedAt, at: dependencies.clock.now().boot)
        poll.ended()
    }

    // MARK: Beside the network thread

    /// Finishes a poll: read → diff → transition → rules → commit. The writer of commits announces the deliveries.
    private func finish(_ poll: Poll, on actor: isolated any Actor) async {
        do throws(JournalError) {
            switch poll.rest.take() {
            case nil: return
            case .read(.stream(let stream))?:
                // Its answer is its open connection: each batch of records is read, compared and committed.
                var reading = StreamPoll(self, poll, stream)
                try await reading.run()
            case .read(let fetched)?:
                // A body has one holder at a time, so that its reader need not copy it and its memory is free when it is read.
                let result = try await poll.reader.readAndDiff(consume fetched)
                try await store(result, of: poll.source, poll.reader, poll.connectionPlan(after: result))
            case .store(let result)?:
                try await store(result, of: poll.source, poll.reader, poll.connectionPlan(after: result))
            case .evaluate(let transition)?: try await evaluate(transition, of: poll.source)
            }
        } catch {
            await noteUnstored(error, of: poll)
        }
    }

    /// Makes the transition of a result, evaluates the rules and commits both.
    /// - Parameter plan: how a source with a stream is read from now on.
    func store(
        _ result: PollResult, of source: WatchedSource, _ poll: PollReader, _ plan: ConnectionPlan
    ) async throws(JournalError) {
        guard !source.dropsResult else { return }
        let stored = try await itemsToConfirm(by: result, of: source, poll)
        try await evaluate(makeTransition(source, result, poll.id, plan, stored), of: source)
    }

    /// Whether a transition is evaluated by the rules.
    private func needsRules(_ transition: TransitionResult, of source: WatchedSource) -> Bool {
        switch transition {
        case .discarded: false
        case .deferred(let isGood): !isGood && rules.interests.hasMemories(of: source.source.name)
        case .commit: true
        }
    }

    private func evaluate(_ transition: TransitionResult, of source: WatchedSource) async throws(JournalError) {
        switch transition {
        case .deferred where needsRules(transition, of: source): await rules.pollFailed(source.source.name)
        case .discarded, .deferred: return
        case .commit(_, let facts) where source.dropsResult: undo(facts, of: source)
        case .commit(let transition, let facts): try await commit(transition, facts, of: source)
        }
    }

    // MARK: Inputs

    /// Returns what reads a source as it is now.
    /// - Parameter memory: the poll's share of the memory for what polls read.
    func reader(of source: WatchedSource, _ lane: Lane, _ memory: PollMemoryShare?) -> PollReader {
        let (journal, name, unwritten) = (dependencies.journal, source.source.name, source.refreshes)
        return PollReader(
            id: pollIdentifier(random: dependencies.random.next()), source: source.source,
            snapshot: source.record.snapshot, failures: source.record.health.failures,
            doubtedSince: source.record.health.doubtedSince, lane: lane,
            prepared: prepare(source, in: lane), fetcher: dependencies.fetcher, clock: dependencies.clock,
            userAgent: dependencies.userAgent, transformer: dependencies.transformer,
            thresholds: rules.interests.thresholds(for: name), links: source.links,
            storedItems: { () async throws(JournalError) in
                var stored = try await journal.items(of: name)
                stored.replaceRows(with: unwritten)
                return stored
            },
            limits: limits, memory: memory)
    }

    /// Prepares the first request of a poll, and keeps it for the next poll of a source that is polled often.
    private func prepare(_ source: WatchedSource, in lane: Lane) -> PreparedRequest {
        let requests = RequestBuilder(source: source.source, lane: lane, userAgent: dependencies.userAgent)
        let prepared = requests.prepared(
            after: source.record.snapshot, now: dependencies.clock.now().wall, reusing: source.prepared)
        source.prepared = source.source.interval.every <= PollPipeline.shortInterval ? prepared : nil
        return prepared
    }

    // MARK: Transition

    /// Whether an unchanged response confirms that items are absent.
    private func confirmsAbsences(_ result: PollResult, of source: WatchedSource) -> Bool {
        guard case .unchanged = result.outcome, let snapshot = source.record.snapshot else { return false }
        return snapshot.pendingAbsences > 0
    }

    /// Reads the items whose absence a result confirms.
    private func itemsToConfirm(
        by result: PollResult, of source: WatchedSource, _ poll: PollReader
    ) async throws(JournalError) -> [String: StoredItem] {
        guard confirmsAbsences(result, of: source) else { return [:] }
        await poll.reserve(body: 0, items: 0)
        let stored = try await dependencies.journal.items(of: source.source.name)
        await poll.reserve(body: 0, items: 0, stored: stored.count)
        return stored
    }

    /// Applies a result to the source's record, and notes whether its host answered and what its items' links answered.
    /// - Parameters:
    ///   - poll: the poll's id.
    ///   - stored: the items whose absence it confirms.
    private func makeTransition(
        _ source: WatchedSource, _ result: PollResult, _ poll: String, _ plan: ConnectionPlan,
        _ stored: [String: StoredItem]
    ) -> TransitionResult {
        guard !source.dropsResult else { return .discarded }
        if case .cancelled = result.outcome {
            postpone(source)
            return .discarded
        }
        if let links = result.links { source.links = links }
        network.pollEnded(result, of: source)
        let now = dependencies.clock.now()
        source.followWallClock(now)
        var transition = PollTransition(
            source: source.source, record: source.record, refreshes: source.refreshes, now: now.wall,
            random: dependencies.random, connection: plan.connection, reconnect: plan.reconnect)
        let isIgnored = network.isOffline && result.isAnswered == false
        // A kind that observes its host reads a silent one too: while this machine is offline that confirms nothing.
        let isGood = result.isGood && !isIgnored
        let outcome = PollMeter.Outcome(result.outcome, isIgnored: isIgnored)
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
            if let outcome { meter.count(outcome, of: source) }
            deferWrite(of: transition, poll, source, at: now)
            return .deferred(isGood: isGood)
        }
        let facts = PollFacts(
            id: poll, now: now, outcome: outcome, isGood: isGood, isFirst: source.record.snapshot == nil,
            // A deferred write is older: handed in from now on, it would overwrite this record.
            announcement: announcement?.kind, hadDeferredWrite: source.cancelDeferredWrite())
        return .commit(transition, facts)
    }

    private func apply(
        _ result: PollResult, to transition: inout PollTransition, of source: WatchedSource, _ poll: String,
        _ stored: [String: StoredItem]
    ) {
        let name = source.source.name
        let fields = LogFields(source: name, poll: poll)
        for line in PollLog.warnings(result.warnings, after: source.lastWarnings, of: name, poll) {
            dependencies.log.log(line.level, fields, line.text)
        }
        // An unchanged body was not read, and a part of a stream rarely has what an earlier one had.
        if case .read = result.outcome, !result.isPartial || !result.warnings.isEmpty {
            source.lastWarnings = result.warnings
        }
        if let line = PollLog.longWait(result.retryAfter, of: name) { dependencies.log.log(line.level, line.text) }
        switch result.outcome {
        case .cancelled: return
        case .failed(let failure, let detail):
            transition.failed(
                failure, detail: detail, isUnreadable: result.isUnreadable, retryAfter: result.retryAfter)
        case .opened:
            transition.opened(result.evidence)
            transition.moved(to: result.movedTo)
        case .expired:
            transition.resumeExpired(isListed: source.source.stream?.initial != nil)
            dependencies.log.log(
                .warning, fields, "\(name): the server no longer has what followed the last record (\(poll))")
        case .unconfirmed(let detail):
            transition.unconfirmed(retryAfter: result.retryAfter)
            dependencies.log.log(.info, fields, "\(name): \(detail) (\(poll))")
        case .unchanged(let validators):
            transition.unchanged(
                validators, stored: stored, freshFor: result.freshFor, evidence: result.evidence)
            transition.moved(to: result.movedTo)
        case .read(let difference):
            transition.read(
                difference, freshFor: result.freshFor, retryAfter: result.retryAfter, evidence: result.evidence)
            transition.moved(to: result.movedTo)
            for line in [PollLog.unannounced(difference, of: name, poll), PollLog.shared(difference, of: name, poll)] {
                if let line { dependencies.log.log(line.level, line.text) }
            }
        }
    }

    /// Leaves the record to `DeferredWrites`.
    private func deferWrite(
        of transition: PollTransition, _ poll: String, _ source: WatchedSource, at now: Moment
    ) {
        log(transition, poll, isBaseline: false, of: source)
        source.take(transition.record, at: now, refreshes: transition.refreshes)
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
                    undo(facts, of: source)
                    if !facts.isHealthCheck { postpone(source) }
                    return
                }
                return apply(transition, facts, to: source)
            } catch {
                conflicts += 1
                guard error.reason == .conflict, conflicts < RuleCoordinator.maximumConflicts, !source.isRemoved else {
                    undo(facts, of: source)
                    throw error
                }
            }
            await rules.refresh()
        }
    }

    /// Makes a committed transition the source's state.
    private func apply(_ transition: PollTransition, _ facts: PollFacts, to source: WatchedSource) {
        if let announcement = facts.announcement { network.announced(announcement) }
        if let outcome = facts.outcome { meter.count(outcome, of: source) }
        let isBaseline = facts.isFirst || transition.isNewBaseline
        if !facts.isHealthCheck { log(transition, facts.id, isBaseline: isBaseline, of: source) }
        source.take(transition.record, at: facts.now)
        if facts.isGood { source.successesWhenUnstored = nil }
        source.lastResult = OnceResult(transition, isBaseline: isBaseline)
    }

    /// Logs a poll before its record replaces the earlier one.
    private func log(_ transition: PollTransition, _ poll: String, isBaseline: Bool, of source: WatchedSource) {
        let (name, record) = (source.source.name, transition.record)
        let end = PollLog.End(
            source: name, id: poll, before: source.record.health, after: record.health, items: record.snapshot?.count,
            events: transition.events.count, isBaseline: isBaseline)
        let moved = PollLog.move(from: source.record.movedTo, to: record.movedTo, of: name)
        for line in pollLog.lines(of: end) + (moved.map { [$0] } ?? []) {
            dependencies.log.log(line.level, LogFields(source: name, poll: poll), line.text)
        }
    }

    /// Undoes what a transition that is not committed changed beside its record.
    private func undo(_ facts: PollFacts, of source: WatchedSource) {
        if facts.announcement != nil { network.announced(nil) }
        if facts.hadDeferredWrite { deferredWrites.add(source, at: dependencies.clock.now().boot) }
    }

    // MARK: Without a poll

    /// Commits that a source became failing or stale, where the server's Retry-After or a long backoff delays the poll
    /// that would show it.
    private func checkHealth(_ source: WatchedSource, on actor: isolated any Actor) async {
        let now = dependencies.clock.now()
        source.followWallClock(now)
        var transition = PollTransition(
            source: source.source, record: source.record, refreshes: source.refreshes, now: now.wall,
            random: dependencies.random)
        transition.timePassed()
        guard !transition.events.isEmpty else { return }
        let facts = PollFacts(
            id: "", now: now, isGood: false, isFirst: false, hadDeferredWrite: source.cancelDeferredWrite())
        do throws(JournalError) {
            try await commit(transition, facts, of: source)
        } catch {
            dependencies.log.log(error.logLevel, "failed to store the health of \(source.source.name): \(error.detail)")
            source.nextHealthCheck = dependencies.clock.now().boot.advanced(by: .seconds(60))
        }
    }

    // MARK: Failures

    /// Takes note of a poll whose result is not stored: it counts as failed (I12), and the snapshot stands as it was (I2).
    private func noteUnstored(_ error: JournalError, of poll: Poll) async {
        let source = poll.source
        if concernsSourceAlone(error, source) { return await storeRefusal(error, of: poll) }
        // Of an outage a person learns once for all sources (`JournalAlarm`): it is no failure of each.
        logUnstored(error, of: source)
        meter.count(.failed, of: source)
        source.lastResult = .unwritten(error.detail)
        postpone(source)
    }

    /// Whether the journal refuses what this source read, and not what others read: where the reason may be one of both kinds,
    /// the source fails twice in a row while records are written in between.
    private func concernsSourceAlone(_ error: JournalError, _ source: WatchedSource) -> Bool {
        guard error.reason.mayConcernOneRecord, error.reason.concernsWholeJournal else {
            return error.reason == .refused
        }
        let successes = commits.successes
        defer { source.successesWhenUnstored = successes }
        return source.successesWhenUnstored.map { $0 < successes } ?? false
    }

    /// Commits that the journal refused what a poll read. Where it refuses that, too, the failure counts in memory, and the
    /// record is written later without the event: the next refused poll makes it.
    private func storeRefusal(_ error: JournalError, of poll: Poll) async {
        let (source, result) = (poll.source, PollResult(.failed(.notStored, detail: error.detail)))
        let transition = makeTransition(source, result, poll.id, poll.connectionPlan(after: result), [:])
        guard case .commit(let transition, let facts) = transition else { return }
        do throws(JournalError) {
            try await commit(transition, facts, of: source)
        } catch {
            logUnstored(error, of: source)
            meter.count(.failed, of: source)
            source.lastResult = .unwritten(error.detail)
            source.takeUnstored(transition.record, at: facts.now)
            deferredWrites.add(source, at: facts.now.boot)
        }
    }

    private func logUnstored(_ error: JournalError, of source: WatchedSource) {
        dependencies.log.log(
            error.logLevel, "failed to read or store the poll of \(source.source.name): \(error.detail)")
    }

    private func postpone(_ source: WatchedSource) {
        let interval = source.source.stream == nil ? source.source.interval : source.source.interval.ofStream
        source.wait(interval.delay(states: [:], freshFor: nil, random: dependencies.random.fraction()), dependencies)
        closed(source)
    }
}
