// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Takes pending deliveries from the journal to their sinks, per lane in order, and records the outcomes.
public actor Dispatcher {
    /// Outcomes that wait to be stored; with more, no new attempt starts, so a crash repeats few messages.
    static let maximumUnwritten = 512

    let dependencies: Dependencies
    private let executor: any SerialExecutor
    let time: SteadyClock
    private(set) var sinks: [String: any Sink]
    private(set) var policy: [String: DeliveryPolicy]
    var schedule: DeliverySchedule
    private let meter: DeliveryMeter
    private var unwritten: [Attempt] = []
    /// The sink of each of `unwritten`.
    private var unwrittenSinks: [String] = []
    private var isWriting = false
    private(set) var isStopping = false
    private(set) var isOnce = false
    private var hasCancelledAttempts = false
    private(set) var attempts: [Int64: Task<Void, Never>] = [:]
    /// The sinks of `attempts`.
    private var sinksUnderWay: [Int64: String] = [:]
    /// The sinks that this watcher delivers to; nil for all.
    private var held: Set<String>?
    /// Waits for the receiver of a failed sink to come back.
    private var recoveryProbes: [String: Task<Void, Never>] = [:]
    nonisolated let queueBounds: QueueBounds
    var queueLimiter = QueueLimiter()
    /// By sink, the highest id that was evicted where the oldest deliveries go first.
    var lastEvicted: [String: Int64] = [:]
    private var stopped: StoppedSinks
    /// A shorter pause of the watcher counts towards `give_up`.
    static let shortestPause = Duration.seconds(600)
    /// How often a sink was replaced. A refusal by a replaced sink does not pause its replacement.
    private var generations: [String: Int] = [:]
    private var sinkChanged: SinkChanged?
    /// Reports under way.
    private var pendingReports = 0
    private var alarm: (deadline: BootTime, task: Task<Void, Never>)?
    /// The writer's pause after the journal failed.
    private var pause: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    public private(set) var sent = 0
    public private(set) var unsent = 0

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Called when a sink stops or resumes.
    public typealias SinkChanged = @Sendable (SinkChange) async -> Void

    /// - Parameters:
    ///   - executor: the thread that the fetcher sleeps on, beside the watcher's.
    ///   - policy: of the sinks that have one of their own.
    ///   - fingerprints: digests of the sinks' options.
    public init(
        _ dependencies: Dependencies, on executor: any SerialExecutor, sinks: [String: any Sink],
        policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:]
    ) {
        (self.dependencies, self.executor) = (dependencies, executor)
        (self.sinks, self.policy, stopped) = (sinks, policy, StoppedSinks(fingerprints: fingerprints))
        schedule = DeliverySchedule(policy: policy)
        held = dependencies.journal.shares.map { _ in [] }
        time = SteadyClock(dependencies.clock.now())
        meter = DeliveryMeter(dependencies.meter)
        queueBounds = QueueBounds(sinks: Set(sinks.keys), policy: policy, dependencies)
    }

    func onSinkChange(_ call: @escaping SinkChanged) { sinkChanged = call }

    /// Keeps the sinks stopped that refused messages in an earlier run, unless they have other options now.
    func restore(_ earlier: [StoppedSink]) {
        for sink in earlier {
            guard stopped.restore(sink) else {
                resume(sink.sink)
                continue
            }
            schedule.pause(sink: sink.sink)
            let remedy = "`vedette outbox retry --sink \(sink.sink)` resumes it"
            dependencies.log.log(.warning, "the sink '\(sink.sink)' is still paused: \(sink.reason); \(remedy)")
        }
    }

    /// Finds the deliveries that earlier runs left pending.
    /// - Parameter newestStored: when the watcher was last alive, as far as the journal tells.
    public func restore(after newestStored: Timestamp? = nil) async throws(JournalError) {
        // Several watchers find them with the sinks that they take.
        guard held == nil else { return }
        if let newestStored {
            let pause = Duration.milliseconds(
                dependencies.clock.now().wall.milliseconds - newestStored.milliseconds)
            if pause >= Dispatcher.shortestPause { try await dependencies.journal.excludeFromAge(pause) }
        }
        let lanes = try await dependencies.journal.pendingLanes()
        for lane in lanes { schedule.laneFound(lane) }
        // A receiver that was not there in an earlier run may be there now.
        for sink in Set(lanes.map(\.sink)) { probeRecovery(sink) }
        if !lanes.isEmpty { queueLimiter.changed(at: dependencies.clock.now().boot) }
        work()
    }

    /// Makes pending deliveries younger by a time in which the machine was suspended.
    func exclude(pause: Duration) async {
        guard pause >= Dispatcher.shortestPause else { return }
        do throws(JournalError) {
            try await dependencies.journal.excludeFromAge(pause)
            schedule.rereadAll()
            work()
        } catch {
            dependencies.log.log(.warning, "failed to exclude a suspend from the age of messages: \(error.detail)")
        }
    }

    /// Takes deliveries that were just committed.
    public func enqueue(_ deliveries: [Delivery]) {
        guard held == nil else { return take(deliveries) }
        let now = dependencies.clock.now()
        // A check of the bounds may have evicted some before their commit was announced.
        let fresh = deliveries.filter { $0.id > lastEvicted[$0.message.sink] ?? 0 }
        schedule.committed(fresh.map { time.steady($0, now) })
        queueLimiter.pending(at: now.boot)
        work()
    }

    /// Adds sinks; no known one is replaced.
    public func add(
        sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:]
    ) {
        self.sinks.merge(sinks) { known, _ in known }
        stopped.add(fingerprints)
        apply(self.policy.merging(policy) { known, _ in known })
    }

    private func apply(_ policy: [String: DeliveryPolicy]) {
        self.policy = policy
        schedule.apply(policy)
        queueBounds.set(sinks: Set(sinks.keys), policy: policy)
        queueLimiter.changed(at: dependencies.clock.now().boot)
    }

    /// Takes another set of sinks. Pending deliveries of a removed one end with that reason; a changed one that was paused
    /// is tried again. Old sinks are closed when their attempts under way have ended; this does not wait for them.
    /// - Parameter kept: names whose sink is the same as before.
    public func reload(
        sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:],
        keeping kept: Set<String> = []
    ) async {
        let (old, running) = (self.sinks.filter { !kept.contains($0.key) }, Array(attempts.values))
        let changed = Set(sinks.keys).union(self.sinks.keys).subtracting(kept)
        self.sinks = sinks
        stopped.configure(fingerprints)
        apply(policy)
        for name in changed {
            generations[name, default: 0] += 1
            resume(name)
            recoveryProbes.removeValue(forKey: name)?.cancel()
        }
        work()
        Task {
            for attempt in running { await attempt.value }
            for sink in old.values { await sink.close() }
        }
    }

    /// Carries out `outbox retry`: resumes a paused sink and reads its pending deliveries again, revived ones too.
    public func retry(sink: String) async throws(JournalError) {
        resume(sink)
        work()
        for lane in try await dependencies.journal.pendingLanes() where lane.sink == sink && isHeld(sink) {
            schedule.laneFound(lane)
        }
        queueLimiter.changed(at: dependencies.clock.now().boot)
        work()
    }

    private func isHeld(_ sink: String) -> Bool { held?.contains(sink) ?? true }

    /// Delivers to these sinks alone. Returns when no attempt of another one is under way and their outcomes are stored. An
    /// attempt that lasts longer than `patience` is cancelled; its message is sent again by the watcher that holds the sink.
    func hold(_ sinks: Set<String>, patience: Duration = .seconds(5)) async throws(JournalError) {
        let before = held ?? []
        let gained = sinks.subtracting(before)
        let records = gained.isEmpty ? [] : try await dependencies.journal.sourceRecords()
        held = sinks
        let lost = before.subtracting(sinks)
        for sink in lost {
            schedule.remove(sink: sink)
            recoveryProbes.removeValue(forKey: sink)?.cancel()
            stopped.forget(sink)
        }
        if !lost.isEmpty { await finishAttempts(of: lost, within: patience) }
        restore(records.compactMap(StoppedSink.init).filter { gained.contains($0.sink) })
        try await lookForDeliveries()
        for sink in gained { probeRecovery(sink) }
    }

    private func finishAttempts(of lost: Set<String>, within patience: Duration) async {
        let clock = dependencies.clock
        let deadline = clock.now().boot.advanced(by: patience)
        let limit = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            for (id, sink) in self.sinksUnderWay where lost.contains(sink) { self.attempts[id]?.cancel() }
        }
        await wait { !$0.sinksUnderWay.values.contains(where: lost.contains) }
        limit.cancel()
        await wait { !$0.unwrittenSinks.contains(where: lost.contains) || $0.isStopping }
    }

    /// Finds deliveries that another watcher committed. Where several commit to one lane, the journal alone has the order.
    /// - Returns: the sinks with pending deliveries, also those that are no longer configured.
    @discardableResult
    func lookForDeliveries() async throws(JournalError) -> Set<String> {
        let lanes = try await dependencies.journal.pendingLanes()
        for lane in lanes where isHeld(lane.sink) { schedule.moreCommitted(lane, from: .max) }
        work()
        return Set(lanes.map(\.sink))
    }

    /// Lets a sink take messages again.
    private func resume(_ sink: String) {
        schedule.resumed(sink: sink)
        send(stopped.resume(sink))
    }

    /// Carries out `outbox drop`: reads the sink's pending deliveries again.
    public func reread(sink: String) {
        schedule.reread(sink: sink)
        work()
    }

    /// Attempts each pending delivery once, whatever its time, and returns when nothing more can be attempted now.
    public func drainOnce() async {
        // From here on no check starts beside this one.
        isOnce = true
        // A person or a timer asked for one attempt of each.
        for sink in stopped.names { schedule.resumed(sink: sink) }
        while await !evictStep().eviction.isEmpty {}
        reportDropped(isLast: true)
        schedule.drainOnce()
        work()
        await wait {
            let isStuck = $0.attempts.isEmpty && $0.unwritten.count >= Dispatcher.maximumUnwritten
            return ($0.schedule.isDrained || isStuck) && !$0.isWriting && $0.pendingReports == 0
        }
    }

    /// Lets attempts under way finish until `deadline`, cancels the others, which stay pending, and stores every outcome.
    public func stop(by deadline: BootTime) async {
        isStopping = true
        reportDropped(isLast: true)
        alarm?.task.cancel()
        pause?.cancel()
        for probe in recoveryProbes.values { probe.cancel() }
        startWriting()
        let clock = dependencies.clock
        let limit = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self.cancelAttempts()
        }
        await wait {
            ($0.attempts.isEmpty && $0.unwritten.isEmpty && !$0.isWriting && $0.pendingReports == 0)
                || $0.hasCancelledAttempts
        }
        limit.cancel()
        // An outcome that is not stored makes the next run deliver again.
        await wait { !$0.isWriting }
        for sink in sinks.values { await sink.close() }
    }

    /// Cancels the attempts under way; they stay pending.
    private func cancelAttempts() {
        hasCancelledAttempts = true
        for attempt in attempts.values { attempt.cancel() }
        resumeWaiters()
    }

    // MARK: Attempts

    func work() {
        guard !isStopping, unwritten.count < Dispatcher.maximumUnwritten else { return }
        let now = time.moment(dependencies.clock.now())
        let (actions, wake) = schedule.actions(at: now.wall)
        for action in actions {
            switch action {
            case .attempt(let delivery): attempt(delivery)
            case .load(let lane, let after): Task { await self.load(lane, after: after) }
            }
        }
        reportDropped()
        limitQueuesIfDue()
        if let wake { setAlarm(at: now.boot(at: wake, most: RetryPolicy.longest)) }
        if !isOnce, let due = queueLimiter.wake { setAlarm(at: due) }
        resumeWaiters()
    }

    private func setAlarm(at deadline: BootTime) {
        // An alarm that is too early only sets the next one.
        if let alarm, alarm.deadline <= deadline { return }
        alarm?.task.cancel()
        let clock = dependencies.clock
        let task = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self.alarm = nil
            self.work()
        }
        alarm = (deadline, task)
    }

    private func load(_ lane: DeliveryLane, after: Int64) async {
        // A delivery that ends while its lane is read makes it read once more.
        let ended = unwrittenEnds
        do throws(JournalError) {
            var deliveries = try await dependencies.journal.pending(
                in: lane, after: after, limit: DeliverySchedule.ahead)
            let now = dependencies.clock.now()
            for i in deliveries.indices {
                deliveries[i] = time.restored(deliveries[i], now)
                if isOnce { deliveries[i].due = time.moment(now).wall }
            }
            schedule.loaded(deliveries, in: lane, ended: ended)
        } catch {
            dependencies.log.log(.error, "failed to read pending deliveries of '\(lane.sink)': \(error.detail)")
            if isOnce {
                unsent += 1
                schedule.loaded([], in: lane)
                return work()
            }
            try? await dependencies.clock.sleep(until: dependencies.clock.now().boot.advanced(by: .seconds(5)))
            schedule.loadFailed(in: lane)
        }
        work()
    }

    /// Deliveries that ended and whose outcome is not stored yet.
    var unwrittenEnds: Set<Int64> { Set(unwritten.lazy.filter { !$0.state.isPending }.map(\.delivery)) }

    private func attempt(_ delivery: Delivery) {
        let name = delivery.message.sink
        let (sink, generation) = (sinks[name], generations[name])
        meter.started()
        // Beside the network thread: templates, JSON and signatures of a large event take time that polls do not have.
        sinksUnderWay[delivery.id] = name
        attempts[delivery.id] = Task { @concurrent in
            let outcome =
                await sink?.deliver(delivery.message)
                ?? .rejected(reason: "the sink '\(name)' is no longer configured")
            await self.attempted(delivery, outcome, generation)
        }
    }

    private func attempted(_ delivery: Delivery, _ outcome: Outcome, _ generation: Int?) {
        let isCurrent = generations[delivery.message.sink] == generation
        let outcome = isCurrent ? outcome : outcome.ofAnotherSink
        let wasCancelled = attempts[delivery.id]?.isCancelled == true
        attempts[delivery.id] = nil
        sinksUnderWay[delivery.id] = nil
        meter.ended()
        defer { resumeWaiters() }
        if wasCancelled, outcome != .delivered { return schedule.cancelled(in: delivery.lane) }
        let now = dependencies.clock.now()
        let policy = RetryPolicy(giveUp: policy(of: delivery.message.sink).giveUp)
        let attempt = policy.attempt(
            delivery, outcome, at: time.moment(now).wall, random: dependencies.random.fraction())
        reportChange(outcome, of: delivery.message.sink)
        schedule.attempted(attempt, outcome, in: delivery.lane, random: dependencies.random.fraction())
        if attempt.state == .sent { sent += 1 } else { unsent += 1 }
        meter.count(attempt.state, of: delivery.message.sink)
        if attempt.state == .retry { probeRecovery(delivery.message.sink) }
        store(attempt, of: delivery)
        startWriting()
        work()
    }

    /// Waits for the receiver, where the sink can tell that it is back: a desktop after log-in.
    private func probeRecovery(_ name: String) {
        guard recoveryProbes[name] == nil, !isStopping, !isOnce, let sink = sinks[name] else { return }
        recoveryProbes[name] = Task {
            let isBack = await sink.waitForReceiver()
            // A sink that was changed meanwhile has a probe of its own.
            guard !Task.isCancelled else { return }
            self.recoveryProbes[name] = nil
            guard isBack else { return }
            self.schedule.recovered(sink: name)
            self.work()
        }
    }

    func policy(of sink: String) -> DeliveryPolicy { policy[sink] ?? DeliveryPolicy() }

    /// Counts deliveries that ended without being sent.
    func countUnsent(_ count: Int) { unsent += count }

    /// Reports the first refusal of a sink, and that a sink which was tried again has taken a message. Refusals of messages
    /// that were in flight beside it add nothing.
    private func reportChange(_ outcome: Outcome, of sink: String) {
        guard !schedule.isPaused(sink) else { return }
        if outcome == .delivered {
            send(stopped.resume(sink))
        } else {
            send(stopped.attempted(sink, outcome, at: dependencies.clock.now().wall))
        }
    }

    private func send(_ change: SinkChange?) {
        guard let change, let sinkChanged else { return }
        pendingReports += 1
        Task {
            await sinkChanged(change)
            self.pendingReports -= 1
            self.resumeWaiters()
        }
    }

    /// Hands an outcome to the writer; a dead delivery is passed on to its fallback.
    func store(_ attempt: Attempt, of delivery: Delivery) {
        var attempt = attempt
        let now = dependencies.clock.now()
        if attempt.state == .dead {
            let policy = policy(of: delivery.message.sink)
            attempt.passOn(delivery, policy, to: Set(sinks.keys), at: now.wall, dependencies.random)
        }
        unwritten.append(time.stored(attempt, now))
        unwrittenSinks.append(delivery.message.sink)
        let (sink, message) = (delivery.message.sink, delivery.message)
        let fields = LogFields(source: message.event.source, sink: sink, message: message.id)
        guard let reason = attempt.reason else {
            return dependencies.log.log(.debug, fields, "\(sink): \(attempt.state.rawValue): \(message.title)")
        }
        let level: LogLevel = attempt.state == .retry ? .info : .warning
        dependencies.log.log(level, fields, "\(sink): \(attempt.state.rawValue): \(reason)")
    }

    func startWriting() {
        guard !isWriting, !unwritten.isEmpty else { return }
        isWriting = true
        Task { await self.write() }
    }

    private func write() async {
        while !unwritten.isEmpty {
            let batch = unwritten
            do throws(JournalError) {
                let result = try await dependencies.journal.record(batch, within: queueBounds.limits())
                unwritten.removeFirst(batch.count)
                unwrittenSinks.removeFirst(batch.count)
                take(result.successors.filter(\.state.isPending))
                evicted(result.eviction)
                resumeWaiters()
            } catch {
                // `run --once` announces nothing.
                let level = isOnce ? .error : error.logLevel
                dependencies.log.log(level, "failed to store outcomes of deliveries: \(error.detail)")
                if isStopping || isOnce { break }
                let clock = dependencies.clock
                let pause = Task { () -> Void in
                    _ = try? await clock.sleep(until: clock.now().boot.advanced(by: .seconds(5)))
                }
                self.pause = pause
                await pause.value
            }
        }
        isWriting = false
        work()
        resumeWaiters()
    }

    /// A poll may have committed messages before these that are announced after them, so their lanes are read.
    func take(_ successors: [Delivery]) {
        guard !successors.isEmpty else { return }
        let mine = successors.filter { isHeld($0.message.sink) }
        let lanes = Dictionary(mine.map { ($0.lane, $0.id) }, uniquingKeysWith: min)
        for (lane, first) in lanes { schedule.moreCommitted(lane, from: first) }
        queueLimiter.pending(at: dependencies.clock.now().boot)
        work()
    }

    // MARK: Waiting

    private func wait(until isReached: (isolated Dispatcher) -> Bool) async {
        while !isReached(self) {
            // Checked again inside: it may be reached on the way into the continuation.
            await withCheckedContinuation { if isReached(self) { $0.resume() } else { waiters.append($0) } }
        }
    }

    private func resumeWaiters() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

extension Outcome {
    /// The outcome of a sink that was replaced meanwhile: its refusal only makes the new one try.
    fileprivate var ofAnotherSink: Outcome {
        switch self {
        case .paused(let reason), .disabled(let reason): .retry(reason: reason, after: nil)
        case .delivered, .rejected, .retry: self
        }
    }
}
