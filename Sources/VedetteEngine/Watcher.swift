// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The poll shell: starts what is due, commits what it brought, schedules the next.
public actor Watcher {
    /// Polls whose bodies are being read or compared; more wait, so that bodies in memory stay bounded.
    static let mostUnfinished = 512
    /// Of those, polls of hosts that time out: they never take the places of hosts that answer (I7).
    static let mostSlowHosts = 64
    /// Due times closer than this are served by one wake-up.
    static let tick = Duration.milliseconds(10)
    /// Polls that changed nothing are written at most this late.
    static let touchDelay = Duration.seconds(5)
    /// A wake-up later than this means that the machine slept.
    static let oversleep = Duration.seconds(10)
    /// What became due meanwhile is polled once, spread over this long at most.
    static let catchUp = Duration.seconds(30)
    /// Where two hosts fell silent the others are asked within this time: before the polls of those two make failures.
    static let doubt = Duration.seconds(2)

    let dependencies: Dependencies
    let dispatcher: Dispatcher
    let commitBatcher: CommitBatcher
    var rules: RuleEngine
    /// The wall time of the start less its boot time: what rules count on never jumps.
    let steadyOffset: Int64
    /// Rules are asked about the time that passed; no two such steps at once.
    var isTicking = false
    /// The journal did not take the last such step.
    var restUntil: BootTime?
    var entries: [String: WatchedSource] = [:]
    /// Origins whose last attempt timed out.
    var slowHosts = Set<String>()
    /// The bounds that rules name.
    private(set) var thresholds: ThresholdIndex
    var network = NetworkMonitor()
    /// Who speaks for the failures of a server.
    var failureGrouping = FailureGrouping()
    private var byNumber: [WatchedSource] = []
    /// Numbers of sources that went away.
    private var freeNumbers: [Int] = []
    private var scheduler = Scheduler()
    private var unfinished: [Lane: Int] = [:]
    /// Due, but every suspects' place is taken.
    private var waitingSlowHosts: [WatchedSource] = []
    private var isStopping = false
    private var sleeper: Task<Void, Never>?
    private var wakeAt: BootTime?
    /// When the watcher meant to look at the clock again: now while it is awake.
    private var expectedAt: BootTime?
    private var dirty: [WatchedSource] = []
    private var touchDue: BootTime?
    private var idle: [CheckedContinuation<Void, Never>] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        dependencies.executor.asUnownedSerialExecutor()
    }

    public init(_ watch: WatchConfiguration, _ dependencies: Dependencies, dispatcher: Dispatcher) {
        (self.dependencies, self.dispatcher) = (dependencies, dispatcher)
        commitBatcher = CommitBatcher(
            journal: dependencies.journal, log: dependencies.log, executor: dependencies.executor)
        rules = RuleEngine(watch.rules, civil: dependencies.civil)
        let now = dependencies.clock.now()
        steadyOffset = now.wall.milliseconds - now.boot.milliseconds
        thresholds = ThresholdIndex(watch.rules.rules)
        for (number, source) in watch.sources.enumerated() {
            let entry = WatchedSource(source, number: number)
            byNumber.append(entry)
            entries[source.name] = entry
        }
    }

    // MARK: Life

    /// Reads what the journal remembers and schedules every source.
    public func restore() async throws(JournalError) {
        await dispatcher.report { [weak self] sink, kind, reason in await self?.sinkRests(sink, kind, reason) }
        let records = try await dependencies.journal.sourceRecords()
        let now = dependencies.clock.now()
        for record in records {
            guard let entry = entries[record.name] else { continue }
            entry.take(record, at: now)
            if record.health.problem?.failure == Failure.timeout.rawValue { slowHosts.insert(entry.origin) }
        }
        network.restore(isOffline: try await dependencies.journal.lastOfWatcher()?.kind == .offline)
        watchOrigins()
        try await restoreRules(records)
        for entry in byNumber { schedule(entry, at: firstDue(entry, now: now)) }
    }

    /// Watches until `stop`.
    public func run() async {
        while !isStopping {
            noteJump()
            startDue()
            tick()
            if let touchDue, touchDue <= dependencies.clock.now().boot { await flushTouches() }
            await sleepUntilNext()
        }
        for entry in byNumber { entry.poll?.cancel() }
        while !isIdle {
            // Asked again inside: on its way into the continuation the actor may have been let go of.
            await withCheckedContinuation { if isIdle { $0.resume() } else { idle.append($0) } }
        }
        await flushTouches()
        await commitBatcher.finish()
    }

    public func stop() {
        isStopping = true
        wakeUp()
    }

    /// Takes another set of sources and rules: all of it, or, when the journal cannot be read, nothing. What is unchanged
    /// goes on undisturbed; a poll of a source that went away or asks for something else now is cancelled.
    public func reload(_ watch: WatchConfiguration) async throws(JournalError) {
        let hasNew = watch.sources.contains { entries[$0.name] == nil }
        let records = hasNew ? try await dependencies.journal.sourceRecords() : []
        let remembered = Dictionary(records.map { ($0.name, $0) }) { _, last in last }
        thresholds = ThresholdIndex(watch.rules.rules)
        let names = Set(watch.sources.map(\.name))
        for entry in byNumber where !entry.isRemoved && !names.contains(entry.source.name) { remove(entry) }
        let now = dependencies.clock.now()
        for source in watch.sources {
            if let entry = entries[source.name] {
                replace(entry, with: source, now: now)
            } else {
                add(source, record: remembered[source.name], now: now)
            }
        }
        watchOrigins()
        await reloadRules(watch.rules)
        pullForward()
        wakeUp()
    }

    /// A person says that the empty list is true: the next poll believes it.
    public func accept(_ name: String) {
        guard let entry = entries[name], entry.record.snapshot?.emptiness != nil else { return }
        // A poll under way goes on with what it knew; the next one is told.
        entry.isAccepted = true
        if entry.poll == nil { schedule(entry, at: dependencies.clock.now().boot) }
    }

    private func add(_ source: Source, record: SourceRecord?, now: Moment) {
        let entry = WatchedSource(source, number: freeNumbers.popLast() ?? byNumber.count)
        if let record { entry.take(record, at: now) }
        if entry.number == byNumber.count { byNumber.append(entry) } else { byNumber[entry.number] = entry }
        entries[source.name] = entry
        schedule(entry, at: firstDue(entry, now: now))
    }

    private func remove(_ entry: WatchedSource) {
        entry.isRemoved = true
        entry.poll?.cancel()
        entries[entry.source.name] = nil
        scheduler.remove(entry.number)
        waitingSlowHosts.removeAll { $0 === entry }
        if entry.poll == nil { freeNumbers.append(entry.number) }
    }

    private func replace(_ entry: WatchedSource, with source: Source, now: Moment) {
        let old = entry.source
        entry.replace(with: source)
        if !source.asks(like: old) {
            entry.change { record in
                record.due = nil
                if old.url != source.url { record.notBefore = nil }
            }
            entry.mustRestart = entry.poll != nil
            entry.poll?.cancel()
        } else if old.pace == source.pace {
            return
        }
        if scheduler.due(of: entry.number) != nil { schedule(entry, at: firstDue(entry, now: now)) }
    }

    // MARK: Time

    /// Stored deadlines hold over a restart, clamped; what is overdue is polled soon, spread a little.
    private func firstDue(_ entry: WatchedSource, now: Moment) -> BootTime {
        let due = due(entry, now: now)
        guard entry.record.due != nil, due == now.boot else { return due }
        let spread = min(entry.source.pace.every * 0.1, .seconds(5))
        return due.advanced(by: spread * dependencies.random.fraction())
    }

    /// What new rules wait for may be due before the next poll of its source.
    private func pullForward() {
        let now = dependencies.clock.now()
        for entry in rules.sources.compactMap({ entries[$0] }) {
            let due = due(entry, now: now)
            if let scheduled = scheduler.due(of: entry.number), due < scheduled { schedule(entry, at: due) }
        }
    }

    private func schedule(_ entry: WatchedSource, at due: BootTime) {
        scheduler.schedule(entry.number, at: due)
        if let wakeAt, due < wakeAt { wakeUp() }
    }

    /// No poll is under way.
    var isIdle: Bool { unfinished.isEmpty }

    private var hasPlace: Bool {
        unfinished[.polls, default: 0] < Watcher.mostUnfinished
    }

    private func startDue() {
        let now = dependencies.clock.now().boot
        while hasPlace, let number = scheduler.startNext(at: now) {
            let entry = byNumber[number]
            if slowHosts.contains(entry.origin), unfinished[.slowHosts, default: 0] >= Watcher.mostSlowHosts {
                waitingSlowHosts.append(entry)
            } else {
                start(entry)
            }
        }
    }

    /// The machine slept, whether the watcher did just then or not: what became due meanwhile is polled once, spread.
    private func noteJump() {
        let now = dependencies.clock.now().boot
        if let expected = expectedAt, now.duration(since: expected) > Watcher.oversleep {
            catchUp { [scheduler] entry in scheduler.due(of: entry.number).map { $0 <= now } ?? false }
        }
        expectedAt = now
    }

    private func sleepUntilNext() async {
        guard !isStopping else { return }
        noteJump()
        let now = dependencies.clock.now().boot
        // With every place taken, a finished poll wakes us.
        let candidates = [hasPlace ? scheduler.next : nil, touchDue, tickDue].compactMap { $0 }
        let deadline = max(now.advanced(by: Watcher.tick), candidates.min() ?? now.advanced(by: .seconds(3600)))
        (wakeAt, expectedAt) = (deadline, deadline)
        let clock = dependencies.clock
        let sleeper = Task { () -> Void in _ = try? await clock.sleep(until: deadline) }
        self.sleeper = sleeper
        await sleeper.value
        (self.sleeper, wakeAt) = (nil, nil)
    }

    /// One poll of each of these, spread so that they do not all come at once.
    func catchUp(within longest: Duration = Watcher.catchUp, _ isMeant: (WatchedSource) -> Bool) {
        let now = dependencies.clock.now().boot
        for entry in watched where scheduler.due(of: entry.number) != nil && isMeant(entry) {
            let spread = min(entry.source.pace.every, longest) * dependencies.random.fraction()
            schedule(entry, at: now.advanced(by: spread))
        }
    }

    var watched: [WatchedSource] { byNumber.filter { !$0.isRemoved } }

    func wakeUp() {
        wakeAt = nil
        sleeper?.cancel()
    }

    private func start(_ entry: WatchedSource) {
        let lane: Lane = slowHosts.contains(entry.origin) ? .slowHosts : .polls
        unfinished[lane, default: 0] += 1
        entry.poll = Task {
            await self.poll(entry, lane: lane)
            self.finished(entry, lane: lane)
        }
    }

    private func finished(_ entry: WatchedSource, lane: Lane) {
        entry.poll = nil
        let hadPlace = hasPlace
        let left = unfinished[lane, default: 1] - 1
        unfinished[lane] = left > 0 ? left : nil
        if entry.isRemoved {
            freeNumbers.append(entry.number)
        } else if !isStopping {
            if entry.mustRestart || entry.isAccepted { entry.change { $0.due = nil } }
            entry.mustRestart = false
            schedule(entry, at: due(entry, now: dependencies.clock.now()))
        }
        if !isStopping { startWaitingSlowHosts() }
        if !hadPlace { wakeUp() }
        guard isIdle else { return }
        for waiter in idle { waiter.resume() }
        idle = []
    }

    /// In turn, as places come free; who waits for an origin that answers again goes back to the others.
    private func startWaitingSlowHosts() {
        while let entry = waitingSlowHosts.first {
            let isSuspect = slowHosts.contains(entry.origin)
            if isSuspect, unfinished[.slowHosts, default: 0] >= Watcher.mostSlowHosts { return }
            waitingSlowHosts.removeFirst()
            if isSuspect { start(entry) } else { schedule(entry, at: dependencies.clock.now().boot) }
        }
    }

    // MARK: Polls that changed nothing

    func touched(_ entry: WatchedSource) {
        if !entry.isDirty { dirty.append(entry) }
        entry.isDirty = true
        guard touchDue == nil else { return }
        let due = dependencies.clock.now().boot.advanced(by: Watcher.touchDelay)
        touchDue = due
        if let wakeAt, due < wakeAt { wakeUp() }
    }

    func flushTouches() async {
        let touches = dirty.filter { $0.isDirty && !$0.isRemoved }.map { DeferredWrite($0.record, items: $0.refreshes) }
        for entry in dirty { entry.isDirty = false }
        (dirty, touchDue) = ([], nil)
        await commitBatcher.touch(touches)
    }
}
