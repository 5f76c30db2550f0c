// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Starts the polls that are due, schedules the next ones, and takes another configuration and requests about one source.
/// What a poll does is `PollPipeline`'s.
public actor Watcher {
    /// Due times closer than this share one wake-up.
    static let tick = Duration.milliseconds(10)

    private let dependencies: Dependencies
    private let executor: any SerialExecutor
    private let dispatcher: Dispatcher
    let commits: CommitBatcher
    let network = NetworkMonitor()
    private let rules: RuleCoordinator
    private let pipeline: PollPipeline
    private let deferredWrites = DeferredWrites()
    private(set) var schedule: PollSchedule
    private var share: SourceShare
    private(set) var slots = PollSlots()
    private var isStopping = false
    private let sleep: WatcherSleep
    private var suspends: SuspendMonitor
    /// The newest time that the journal had when this run began; nil for an empty journal.
    public private(set) var newestStored: Timestamp?
    /// Callers that wait until no poll is under way.
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// - Parameter executor: the thread that the fetcher sleeps on, so that an unchanged poll crosses no thread.
    public init(
        _ watch: WatchConfiguration, _ dependencies: Dependencies, on executor: any SerialExecutor,
        dispatcher: Dispatcher
    ) {
        (self.dependencies, self.executor, self.dispatcher) = (dependencies, executor, dispatcher)
        (sleep, suspends) = (WatcherSleep(dependencies.clock), SuspendMonitor(dependencies.clock))
        commits = CommitBatcher(
            journal: dependencies.journal, log: dependencies.log, meter: dependencies.meter,
            limits: { dispatcher.queueBounds.limits() },
            announce: { await dispatcher.committed($0, $1) })
        rules = RuleCoordinator(watch.rules, dependencies, commits: commits)
        pipeline = PollPipeline(dependencies, network: network, rules: rules, deferredWrites: deferredWrites)
        share = SourceShare(configured: watch.sources, held: dependencies.journal.shares.map { _ in [] })
        schedule = PollSchedule(share.polled, rules.interests, dependencies.random)
    }

    // MARK: Lifecycle

    /// Reads what the journal kept, and schedules every source.
    public func restore() async throws(JournalError) {
        await dispatcher.onSinkChange { [rules] in await rules.sinkChanged($0) }
        let records = try await dependencies.journal.sourceRecords()
        // The sinks of several watchers are restored as they are taken.
        if !share.isShared { await dispatcher.restore(records.compactMap(StoppedSink.init)) }
        let now = dependencies.clock.now()
        newestStored = records.compactMap(\.health.lastPollAt).max()
        for record in records {
            guard let source = schedule[record.name] else { continue }
            source.restore(record, at: now)
            network.restore(record, origin: source.origin)
        }
        // Another watcher's machine may have written it.
        let last = share.isShared ? nil : try await dependencies.journal.lastOfWatcher()
        network.restore(isOffline: last?.kind == .offline)
        network.watch(schedule.all)
        let watched = Dictionary(share.configured.map { ($0.name, $0) }) { first, _ in first }
        try await rules.restore(records, watched: watched)
        for source in schedule.all { schedule.scheduleFirst(source, now: now) }
        let soon = now.boot.advanced(by: .seconds(10))
        pipeline.pollLog.start(schedule.all.filter { $0.due(now: now) <= soon }.map(\.source.name))
    }

    /// Watches until `stop`.
    public func run() async {
        await rules.startTimer()
        while !isStopping {
            catchUpAfterSleep()
            startDue()
            if let due = deferredWrites.due, due <= dependencies.clock.now().boot { writeDeferred() }
            await sleepUntilNext()
        }
        await rules.stopTimer()
        for source in schedule.all { source.poll?.cancel() }
        while !slots.isIdle {
            // Checked again inside: the last poll may end on the way into the continuation.
            await withCheckedContinuation { if slots.isIdle { $0.resume() } else { idleWaiters.append($0) } }
        }
        writeDeferred()
        await commits.finish()
    }

    /// Ends `run`: polls under way are cancelled, and what they committed is kept.
    public func stop() {
        isStopping = true
        sleep.wakeUp()
    }

    /// Polls every source once, those under Retry-After or backoff only when `force`d, and returns the result of each.
    public func runOnce(force: Bool) async -> [OnceResult] {
        let now = dependencies.clock.now().wall
        let all = schedule.byName.values.sorted { $0.source.name < $1.source.name }
        for source in all {
            let held = OnceResult.held(source: source.source.name, failure: source.record.health.problem?.detail)
            source.lastResult = !force && source.isHeld(at: now) ? held : nil
        }
        let names = all.filter { $0.lastResult == nil }.map(\.source.name)
        pipeline.pollLog.start(names)
        await withTaskGroup(of: Void.self) { group in
            for (i, name) in names.enumerated() {
                if i >= PollSlots.maximum { await group.next() }
                group.addTask { await self.pollNow(name) }
            }
        }
        writeDeferred()
        await rules.evaluateDeadlines()
        await commits.finish()
        return all.compactMap(\.lastResult)
    }

    /// How late polls started in the last minutes; nil when none started.
    public func lateness() -> PollLateness.Report? { pipeline.meter.report(at: dependencies.clock.now()) }

    // MARK: Sources and requests

    /// Takes another set of sources and rules: all of it, or nothing when the journal cannot be read. Unchanged sources go
    /// on undisturbed; a poll of a source that was removed or has another request now is cancelled.
    public func reload(_ watch: WatchConfiguration) async throws(JournalError) {
        try await rules.prepare(watch.rules)
        let stored = try await recordsOfNew { share.polled(of: watch.sources) }
        share.configured = watch.sources
        setSchedule(stored)
        // Also those without a snapshot: the commit of their first poll may be under way.
        await rules.reload(watch.rules, watched: watch.sources, polled: schedule.all.map(\.source))
        schedule.advanceForRules(now: dependencies.clock.now())
        sleep.wakeUp()
    }

    /// Polls these of the configured sources alone, and evaluates the deadlines of these rules alone. Returns when no poll
    /// of another source is under way, and what such polls committed is in the journal.
    func hold(sources: Set<String>, rules names: Set<String>) async throws(JournalError) {
        share.held = sources
        let stored = try await recordsOfNew { share.polled }
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
        schedule.reload(share.polled, stored: stored, now: now)
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

    // MARK: Sleep

    /// After a suspend, what became due meanwhile is polled once, spread, and the time does not count towards `give_up`.
    private func catchUpAfterSleep() {
        guard let length = suspends.takeSuspend() else { return }
        schedule.catchUp(at: dependencies.clock.now().boot)
        // Servers have given up connections that were silent for so long.
        for source in schedule.all where source.isStreaming { source.poll?.cancel() }
        if !share.isShared { Task { [dispatcher] in await dispatcher.exclude(pause: length) } }
    }

    private func sleepUntilNext() async {
        guard !isStopping else { return }
        catchUpAfterSleep()
        let now = dependencies.clock.now().boot
        let deadline = max(now.advanced(by: Watcher.tick), nextDeadline ?? now.advanced(by: .seconds(3600)))
        await sleep.sleep(until: deadline)
    }

    /// With every slot taken, a finished poll wakes the watcher.
    private var nextDeadline: BootTime? {
        let healthCheck = network.isOffline ? nil : schedule.nextHealthCheck
        let start = slots.hasFree ? [schedule.next, healthCheck].compactMap { $0 }.min() : nil
        return [start, deferredWrites.due].compactMap { $0 }.min()
    }

    // MARK: Polls

    private func lane(of source: WatchedSource) -> Lane { network.isSlow(source.origin) ? .slowHosts : .polls }

    private func startDue() {
        let now = dependencies.clock.now()
        while slots.hasFree, let source = schedule.startNext(at: now.boot) {
            let obstacle = source.source.stream.flatMap { _ in slots.obstacleToStream(of: source.origin) }
            if source.source.stream != nil, obstacle == nil {
                start(source, in: .streams)
            } else if network.isSlow(source.origin), !slots.hasFreeSlow {
                slots.wait(source)
            } else {
                start(source, in: lane(of: source), polled: obstacle)
            }
        }
        // Without a network nothing is known of a source.
        while !network.isOffline, slots.hasFree, let source = schedule.startNextHealthCheck(at: now) {
            start(source, in: .polls, isHealthCheck: true)
        }
    }

    /// A health check takes the place of a poll, so that the two never change the record at once.
    /// - Parameter polled: why a source with a stream is polled.
    private func start(_ source: WatchedSource, in lane: Lane, polled: String? = nil, isHealthCheck: Bool = false) {
        precondition(source.poll == nil, "a source is polled once at a time")
        let origin = source.origin
        slots.take(lane, of: origin)
        source.isStreaming = lane == .streams
        source.poll = Task {
            if isHealthCheck { await self.pipeline.checkHealth(source) }
            if !isHealthCheck { await self.pipeline.run(source, lane: lane, polled: polled) }
            self.ended(source, lane, of: origin)
        }
    }

    private func ended(_ source: WatchedSource, _ lane: Lane, of origin: String) {
        let now = dependencies.clock.now()
        slots.release(lane, of: origin)
        source.isStreaming = false
        dependencies.memory.trimWhenIdle()
        schedule.pollEnded(source, now: now)
        for action in network.takeActions() { schedule.advance(for: action, network, at: now) }
        // Polls of slow hosts start as slots come free; a source whose origin answers again goes back to the schedule.
        while !isStopping, let waiting = slots.nextWaiting(isSlow: { network.isSlow($0.origin) }) {
            if network.isSlow(waiting.origin) {
                start(waiting, in: .slowHosts)
            } else {
                schedule.schedule(waiting, at: now.boot)
            }
        }
        sleep.wakeUp(ifAfter: nextDeadline)
        guard slots.isIdle else { return }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    private func pollNow(_ name: String) async {
        guard let source = schedule[name] else { return }
        await pipeline.run(source, lane: lane(of: source))
    }

    private func writeDeferred() { commits.write(deferred: deferredWrites.take()) }
}
