// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Starts the polls that are due, schedules the next ones, and takes another configuration and requests about one source.
/// What a poll does is `PollPipeline`'s.
public actor Watcher {
    private let dependencies: Dependencies
    private let executor: any SerialExecutor
    private let dispatcher: Dispatcher
    let commits: CommitBatcher
    let network = NetworkMonitor()
    nonisolated let rules: RuleCoordinator
    private let pipeline: PollPipeline
    private let deferredWrites = DeferredWrites()
    private(set) var schedule: PollSchedule
    private var share: SourceShare
    private var isRunning = false
    private var isStopping = false
    /// Gives memory back; `run` waits for it, since the journal is closed after it.
    private var release: Task<Void, Never>?
    private let sleep: WatcherSleep
    private var suspends: SuspendMonitor
    /// The newest time that the journal had when this run began; nil for an empty journal.
    public private(set) var newestStored: Timestamp?
    /// Callers that wait until no poll is under way.
    private let idleWaiters = Waiters()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

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
        pipeline = PollPipeline(
            dependencies, network: network, rules: rules, commits: commits, deferredWrites: deferredWrites)
        share = SourceShare(configured: watch.sources, held: dependencies.journal.shares.map { _ in [] })
        schedule = PollSchedule(share.polled, rules.interests, network, dependencies.random)
    }

    // MARK: Lifecycle

    /// Reads what the journal kept, and schedules every source.
    public func restore() async throws(JournalError) {
        await dispatcher.onSinkChange { [rules] in await rules.sinkChanged($0) }
        let records = try await dependencies.journal.sourceRecords()
        // The sinks of several watchers are restored as they are taken.
        if !share.isShared { await dispatcher.restore(try await dependencies.journal.stoppedSinks()) }
        let now = dependencies.clock.now()
        newestStored = records.compactMap(\.health.lastPollAt).max()
        // Another watcher's machine may have written it.
        let last = share.isShared ? nil : try await dependencies.journal.lastOfWatcher(.offline, or: .online)
        network.restore(isOffline: last?.kind == .offline)
        schedule.restore(records, at: now)
        let watched = Dictionary(share.configured.map { ($0.name, $0) }) { first, _ in first }
        try await rules.restore(records, watched: watched)
        schedule.scheduleAll(now: now)
        writeEditedTimes(now)
        let soon = now.boot.advanced(by: .seconds(10))
        logWaiting(schedule.all, now)
        pipeline.pollLog.start(schedule.all.filter { $0.due(now: now) <= soon }.map(\.source.name))
    }

    /// Watches until `stop`.
    public func run() async {
        await rules.startTimer()
        isRunning = true
        while !isStopping {
            catchUpAfterSleep()
            startDue()
            if let due = deferredWrites.due, due <= dependencies.clock.now().boot { writeDeferred() }
            await sleepUntilNext()
        }
        isRunning = false
        await release?.value
        await rules.stopTimer()
        for source in schedule.all { source.cancelPoll() }
        await idleWaiters.wait { schedule.isIdle }
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
        for source in all { source.lastResult = force ? nil : source.held(at: now) }
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

    /// How late polls started in the last minutes; a report of no polls where none started.
    public func lateness() -> PollLateness.Report {
        let now = dependencies.clock.now()
        return pipeline.meter.report(at: now) ?? PollLateness.Report(p99: 0, polls: 0, at: now.wall)
    }

    /// Seconds that each of the last polls of a source took, the oldest first; none for what another watcher polls, and
    /// after a start.
    public func pollDurations(of source: String) -> [Double] { schedule[source]?.durations.seconds ?? [] }

    // MARK: Sources and requests

    /// Takes another set of sources and rules: all of it, or nothing when the journal cannot be read. Unchanged sources go
    /// on undisturbed; a poll of a source that was removed or has another request now is cancelled.
    public func reload(_ watch: WatchConfiguration) async throws(JournalError) {
        try await rules.prepare(watch.rules)
        // What a poll that was cancelled still commits is the state from which its source goes on.
        for source in schedule.removed(watch.sources) { await source.waitForPoll(on: self) }
        let stored = try await dependencies.journal.records { newNames(share.polled(of: watch.sources)) }
        share.configured = watch.sources
        let now = dependencies.clock.now()
        let new = newNames(share.polled)
        schedule.reload(share.polled, stored: stored, now: now)
        logWaiting(schedule.all.filter { new.contains($0.source.name) }, now)
        writeEditedTimes(now)
        // Also those without a snapshot: the commit of their first poll may be under way.
        await rules.reload(watch.rules, watched: watch.sources, polled: schedule.all.map(\.source))
        rulesChanged()
    }

    /// Polls these of the configured sources alone. `rulesChanged` must follow.
    /// - Returns: the records of what it did not poll before, and what it no longer polls.
    func take(_ held: Set<String>) async throws(JournalError) -> (gained: [SourceRecord], released: [WatchedSource]) {
        share.held = held
        let stored = try await dependencies.journal.records { newNames(share.polled) }
        let new = newNames(share.polled)
        commits.forgetDeferred(of: new)
        let released = schedule.all.filter { !held.contains($0.source.name) }
        let now = dependencies.clock.now()
        schedule.reload(share.polled, stored: stored, now: now)
        writeEditedTimes(now)
        return (new.map { stored[$0] ?? SourceRecord(name: $0) }, released)
    }

    /// Polls earlier what other rules wait for.
    func rulesChanged() {
        schedule.advanceForRules(now: dependencies.clock.now())
        sleep.wakeUp()
    }

    private func newNames(_ sources: [Source]) -> Set<String> {
        Set(sources.map(\.name)).filter { schedule[$0] == nil }
    }

    /// Accepts the empty list of a source as true. Returns when that is committed; a poll of the source is due then.
    public func accept(_ name: String) async throws(JournalError) {
        // The record of a poll under way would replace this one.
        while let source = schedule[name], source.isPolled {
            // A stream ends only when it is cancelled.
            if source.isStreaming { source.cancelPoll() }
            await source.waitForPoll(on: self)
        }
        guard let source = schedule[name], source.record.snapshot?.emptiness != nil else { return }
        try await source.acceptEmptiness(commits)
        pollSoon(source)
    }

    /// Polls a source now, unless a poll is under way or its server wants no request yet (Retry-After). A secret that is refused
    /// then is read again, however lately that was done.
    /// - Parameter onlyIfRefused: leaves a source alone whose last poll was not refused.
    public func poll(_ name: String, onlyIfRefused: Bool = false) {
        guard let source = schedule[name], !onlyIfRefused || source.record.health.isRefused,
            source.record.notBefore.map({ $0 <= dependencies.clock.now().wall }) != false
        else { return }
        for secret in source.source.server.secrets { secret.forgetPause() }
        pollSoon(source)
    }

    private func pollSoon(_ source: WatchedSource) {
        if schedule.makeDue(source, at: dependencies.clock.now().boot) { sleep.wakeUp(ifAfter: nextDeadline) }
    }

    /// Notes that somebody works on a match, or with nil that nobody does any more.
    public func acknowledge(
        rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?
    ) async throws(JournalError) {
        try await rules.acknowledge(rule, subject, acknowledgement)
    }

    /// Reads the silences again, after a command or a button changed them.
    public func silencesChanged() async { await rules.silencesChanged() }

    /// After a suspend, what became due meanwhile is polled once, spread, and the time does not count towards `give_up`.
    private func catchUpAfterSleep() {
        guard suspends.takeSuspend() else { return }
        schedule.catchUp(at: dependencies.clock.now())
        // Servers have given up connections that were silent for so long.
        for source in schedule.all where source.isStreaming { source.cancelPoll() }
        Task { [dispatcher] in await dispatcher.excludeSuspend() }
    }

    private func sleepUntilNext() async {
        guard !isStopping else { return }
        catchUpAfterSleep()
        await sleep.sleep(until: nextDeadline)
    }

    private var nextDeadline: BootTime? {
        PollSchedule.earlier(schedule.nextStart, deferredWrites.due)
    }

    // MARK: Polls

    private func startDue() {
        let now = dependencies.clock.now()
        while let next = schedule.startNext(at: now) { start(next) }
    }

    private func start(_ start: PollSchedule.Start) {
        pipeline.start(start, on: self) { self.ended(start) }
    }

    private func ended(_ start: PollSchedule.Start) {
        let now = dependencies.clock.now()
        schedule.ended(start, at: now)
        dependencies.memory.trimWhenIdle()
        while !isStopping, let waiting = schedule.startNextWaiting(at: now.boot) { self.start(waiting) }
        sleep.wakeUp(ifAfter: nextDeadline)
        if schedule.isIdle { idleWaiters.resume() }
        let idleUntil = now.boot.advanced(by: Watcher.idleTime)
        if isRunning, schedule.hasOnlyStreams, schedule.nextStart.map({ $0 > idleUntil }) ?? true {
            releaseMemory()
        }
    }

    private func releaseMemory() {
        let memory = dependencies.memory
        guard memory.takeIdle() else { return }
        let earlier = release
        release = Task {
            await earlier?.value
            await memory.returnFree()
        }
    }

    /// The shortest time without a poll for which free memory is returned to the kernel.
    private static let idleTime = Duration.seconds(1)

    private func pollNow(_ name: String) async {
        guard let source = schedule[name], !Task.isCancelled else { return }
        start(schedule.startNow(source))
        await withTaskCancellationHandler {
            await source.waitForPoll(on: self)
        } onCancel: {
            Task { await self.cancelPoll(of: name) }
        }
    }

    private func cancelPoll(of name: String) { schedule[name]?.cancelPoll() }

    /// Logs which sources wait for the first window of their calendar: nothing else shows that they are watched.
    private func logWaiting(_ sources: [WatchedSource], _ now: Moment) {
        let waiting = sources.compactMap { source -> (name: String, first: Timestamp)? in
            guard source.record.health.lastPollAt == nil, !source.allowsPoll(at: now.wall) else { return nil }
            return source.source.interval.calendar?.knownOpening(now.wall).map { (source.source.name, $0) }
        }
        for line in PollLog.waiting(waiting) { dependencies.log.log(line.level, line.text) }
    }

    /// Lets `status` show the times of an edited interval. A poll under way writes a newer record itself.
    private func writeEditedTimes(_ now: Moment) {
        for source in schedule.all where source.takeEditedDue() && !source.isPolled {
            deferredWrites.add(source, at: now.boot)
        }
    }

    private func writeDeferred() { commits.write(deferred: deferredWrites.take()) }
}
