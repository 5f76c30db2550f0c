// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Starts the polls that are due, and schedules the next ones. What a poll does is `PollPipeline`'s.
public actor Watcher {
    /// Due times closer than this share one wake-up.
    static let tick = Duration.milliseconds(10)

    let dependencies: Dependencies
    private let executor: any SerialExecutor
    private let dispatcher: Dispatcher
    let commits: CommitBatcher
    let network = NetworkMonitor()
    let rules: RuleCoordinator
    private let pipeline: PollPipeline
    private let deferredWrites = DeferredWrites()
    var schedule: PollSchedule
    /// All configured sources, also those that other watchers poll.
    var configured: [Source]
    /// The sources that this watcher polls; nil for all that are configured.
    var held: Set<String>?
    var slots = PollSlots()
    private var isStopping = false
    let sleep: WatcherSleep
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
        configured = watch.sources
        held = dependencies.journal.shares.map { _ in [] }
        schedule = PollSchedule(held == nil ? watch.sources : [], rules.interests, dependencies.random)
    }

    // MARK: Lifecycle

    /// Reads what the journal kept, and schedules every source.
    public func restore() async throws(JournalError) {
        await dispatcher.onSinkChange { [rules] in await rules.sinkChanged($0) }
        let records = try await dependencies.journal.sourceRecords()
        // The sinks of several watchers are restored as they are taken.
        if held == nil { await dispatcher.restore(records.compactMap(StoppedSink.init)) }
        let now = dependencies.clock.now()
        newestStored = records.compactMap(\.health.lastPollAt).max()
        for record in records {
            guard let source = schedule[record.name] else { continue }
            source.restore(record, at: now)
            network.restore(record, origin: source.origin)
        }
        // Another watcher's machine may have written it.
        let last = held == nil ? try await dependencies.journal.lastOfWatcher() : nil
        network.restore(isOffline: last?.kind == .offline)
        network.watch(schedule.all)
        let watched = Dictionary(configured.map { ($0.name, $0) }) { first, _ in first }
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

    // MARK: Sleep

    /// After a suspend, what became due meanwhile is polled once, spread, and the time does not count towards `give_up`.
    private func catchUpAfterSleep() {
        guard let length = suspends.takeSuspend() else { return }
        schedule.catchUp(at: dependencies.clock.now().boot)
        // Servers have given up connections that were silent for so long.
        for source in schedule.all where source.isStreaming { source.poll?.cancel() }
        if held == nil { Task { [dispatcher] in await dispatcher.exclude(pause: length) } }
    }

    private func sleepUntilNext() async {
        guard !isStopping else { return }
        catchUpAfterSleep()
        let now = dependencies.clock.now().boot
        let deadline = max(now.advanced(by: Watcher.tick), nextDeadline ?? now.advanced(by: .seconds(3600)))
        await sleep.sleep(until: deadline)
    }

    /// With every slot taken, a finished poll wakes the watcher.
    var nextDeadline: BootTime? {
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
