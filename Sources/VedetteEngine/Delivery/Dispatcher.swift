// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// Takes pending deliveries from the journal to their sinks, per lane in order, and records the outcomes.
public actor Dispatcher {
    let dependencies: Dependencies
    private let executor: any SerialExecutor
    let time: SteadyClock
    let meter: DeliveryMeter
    var sinks: DeliverySinks
    var schedule: DeliverySchedule
    var attempts = RunningAttempts()
    var log = DeliveryLog()
    let writer: OutcomeWriter
    private var stopped: StoppedSinks
    nonisolated let queueBounds: QueueBounds
    var queueLimiter = QueueLimiter()
    /// Sinks whose fallbacks get their messages.
    private(set) var diverted = Set<String>()
    var suspendedAge: SuspendedAge
    var endedSearch = EndedSearch()
    /// Waits for the receiver of a failed sink to come back.
    private var recoveryProbes: [String: Task<Void, Never>] = [:]
    private var alarm: DeadlineTimer
    private(set) var isStopping = false
    private(set) var isOnce = false
    private var hasCancelledAttempts = false
    private var sinkChanged: SinkChanged?
    /// Reports under way.
    private var pendingReports = 0
    let waiters = Waiters()

    /// How many messages were sent since the start.
    public var sent: Int { meter.sent }
    /// How many messages died since the start.
    public var died: Int { meter.unsent }

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
        self.sinks = DeliverySinks(sinks, policy: policy, held: dependencies.journal.shares.map { _ in [] })
        stopped = StoppedSinks(fingerprints: fingerprints)
        schedule = DeliverySchedule(policy: policy)
        time = SteadyClock(dependencies.clock.now())
        meter = DeliveryMeter(dependencies.meter)
        (writer, alarm) = (OutcomeWriter(dependencies), DeadlineTimer(dependencies.clock))
        suspendedAge = SuspendedAge(dependencies.clock, isShared: dependencies.journal.shares != nil)
        queueBounds = QueueBounds(sinks: Set(sinks.keys), policy: policy, dependencies)
    }

    func onSinkChange(_ call: @escaping SinkChanged) { sinkChanged = call }

    /// Keeps the sinks stopped that refused messages in an earlier run, and the others failing since they failed, unless they
    /// have other options now.
    func restore(_ earlier: [StoppedSink]) {
        for sink in earlier {
            guard stopped.restore(sink) else {
                resume(sink.sink)
                continue
            }
            guard sink.kind != .failing else {
                let now = dependencies.clock.now()
                let age = max(0, now.wall.milliseconds.addingClamped(-sink.since.milliseconds))
                schedule.fails(sink: sink.sink, since: time.moment(now).wall.advanced(by: .milliseconds(-age)))
                continue
            }
            schedule.pause(sink: sink.sink)
            let remedy = "`vedette outbox retry --sink \(sink.sink)` resumes it"
            dependencies.log.log(.warning, "the sink '\(sink.sink)' is still paused: \(sink.reason); \(remedy)")
        }
    }

    /// Finds the deliveries that earlier runs left pending.
    /// - Parameter newestStored: when the last poll was, as far as the journal shows.
    public func restore(after newestStored: Timestamp? = nil) async throws(JournalError) {
        // Several watchers find them with the sinks that they take.
        guard sinks.held == nil else { return }
        // Between two polls a watcher reports each minute, and a sink begins to fail while it runs.
        var signs = try await dependencies.journal.lateness().values.map(\.at)
        signs += [newestStored, schedule.lastFailure].compactMap { $0 }
        let now = dependencies.clock.now().wall
        // One of a clock that was ahead would hide each pause.
        if let last = signs.filter({ $0 <= now }).max() {
            let pause = Duration.milliseconds(now.milliseconds - last.milliseconds)
            if pause >= SuspendedAge.shortest {
                try await dependencies.journal.excludeFromAge(pause)
                schedule.excludeFromFailures(pause)
            }
        }
        let lanes = try await dependencies.journal.pendingLanes()
        for lane in lanes { schedule.laneFound(lane) }
        // A receiver that was not there in an earlier run may be there now.
        for sink in Set(lanes.map(\.sink)) { probeRecovery(sink) }
        if !lanes.isEmpty { queueLimiter.changed(at: dependencies.clock.now().boot) }
        work()
    }

    /// Makes pending deliveries younger by the time in which the machine was suspended. What the journal refuses is tried
    /// again before the next look for expired deliveries.
    func excludeSuspend() async {
        guard let length = suspendedAge.begin() else { return }
        do throws(JournalError) {
            try await dependencies.journal.excludeFromAge(length)
            suspendedAge.ended(length)
            schedule.excludeFromFailures(length)
            schedule.rereadAll()
            work()
        } catch {
            suspendedAge.ended(.zero)
            dependencies.log.log(.warning, "failed to exclude a suspend from the age of messages: \(error.detail)")
        }
    }

    /// Takes deliveries that were just committed.
    public func enqueue(_ deliveries: [Delivery]) {
        guard sinks.held == nil else { return take(deliveries) }
        let now = dependencies.clock.now()
        // The journal alone knows which of these are pending.
        take(deliveries.filter(queueLimiter.mayBeEvicted))
        let fresh = deliveries.filter { !queueLimiter.mayBeEvicted($0) }
        schedule.committed(fresh.map { time.steady($0, now) })
        queueLimiter.pending(at: now.boot)
        if deliveries.contains(where: { diverted.contains($0.message.sink) }) { queueLimiter.changed(at: now.boot) }
        work()
    }

    /// Adds sinks; no known one is replaced.
    public func add(
        sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:]
    ) {
        self.sinks.add(sinks, policy: policy)
        stopped.add(fingerprints)
        applyPolicies()
    }

    private func applyPolicies() {
        schedule.apply(sinks.policy)
        queueBounds.set(sinks: sinks.names, policy: sinks.policy)
        queueLimiter.changed(at: dependencies.clock.now().boot)
    }

    /// Takes another set of sinks. Pending deliveries of a removed one end with that reason; a changed one that was paused
    /// is tried again. Old sinks are closed when their attempts under way have ended; this does not wait for them.
    /// - Parameter kept: names whose sink is the same as before.
    public func reload(
        sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], fingerprints: [String: UInt64] = [:],
        keeping kept: Set<String> = []
    ) async {
        let running = attempts.tasks
        let (changed, old) = self.sinks.replace(sinks, policy: policy, keeping: kept)
        stopped.configure(fingerprints)
        applyPolicies()
        for name in changed {
            resume(name)
            recoveryProbes.removeValue(forKey: name)?.cancel()
        }
        work()
        Task {
            for attempt in running { await attempt.value }
            for sink in old { await sink.close() }
        }
    }

    /// Carries out `outbox retry`: resumes a paused sink and reads its pending deliveries again, revived ones too.
    /// - Parameter onlyIfStopped: leaves a sink alone that takes messages.
    public func retry(sink: String, onlyIfStopped: Bool = false) async throws(JournalError) {
        guard !onlyIfStopped || stopped.names.contains(sink) else { return }
        resume(sink)
        work()
        for lane in try await dependencies.journal.pendingLanes() where lane.sink == sink && sinks.isHeld(sink) {
            schedule.laneFound(lane)
        }
        queueLimiter.changed(at: dependencies.clock.now().boot)
        work()
    }

    /// Delivers to these sinks alone. Returns when no attempt of another one is under way and their outcomes are stored. An
    /// attempt that lasts longer than `patience` is cancelled; its message is sent again by the watcher that holds the sink.
    func hold(_ names: Set<String>, patience: Duration = .seconds(5)) async throws(JournalError) {
        let before = sinks.held ?? []
        let (gained, lost) = (names.subtracting(before), before.subtracting(names))
        let stops = gained.isEmpty ? [] : try await dependencies.journal.stoppedSinks()
        sinks.hold(names)
        for sink in lost {
            schedule.remove(sink: sink)
            recoveryProbes.removeValue(forKey: sink)?.cancel()
            stopped.forget(sink)
        }
        if !lost.isEmpty { await finishAttempts(of: lost, within: patience) }
        restore(stops.filter { gained.contains($0.sink) })
        try await lookForDeliveries()
        for sink in gained { probeRecovery(sink) }
    }

    private func finishAttempts(of lost: Set<String>, within patience: Duration) async {
        let clock = dependencies.clock
        let deadline = clock.now().boot.advanced(by: patience)
        let limit = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self.attempts.cancel(to: lost)
            self.waiters.resume()
        }
        await waiters.wait { !attempts.contains(anyOf: lost) }
        limit.cancel()
        await waiters.wait { !writer.contains(anyOf: lost) || isStopping }
    }

    /// Finds deliveries that another watcher committed or ended. Where several commit to one lane, the journal alone has the
    /// order.
    /// - Returns: the sinks with pending deliveries, also those that are no longer configured.
    @discardableResult
    func lookForDeliveries() async throws(JournalError) -> Set<String> {
        let lanes = try await dependencies.journal.pendingLanes()
        try await forgetEnded()
        for lane in lanes where sinks.isHeld(lane.sink) { schedule.moreCommitted(lane, from: .max) }
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
        await waiters.wait {
            let isStuck = attempts.isEmpty && writer.isFull
            return (schedule.isDrained || isStuck) && !writer.isWriting && pendingReports == 0
        }
    }

    /// Lets attempts under way finish until `deadline`, cancels the others, which stay pending, and stores every outcome.
    public func stop(by deadline: BootTime) async {
        isStopping = true
        reportDropped(isLast: true)
        alarm.cancel()
        writer.endPause()
        for probe in recoveryProbes.values { probe.cancel() }
        startWriting()
        let clock = dependencies.clock
        let limit = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self.cancelAttempts()
        }
        await waiters.wait { (attempts.isEmpty && writer.isDone && pendingReports == 0) || hasCancelledAttempts }
        limit.cancel()
        // An outcome that is not stored makes the next run deliver again.
        await waiters.wait { !writer.isWriting }
        await sinks.closeAll()
    }

    /// Cancels the attempts under way; they stay pending.
    private func cancelAttempts() {
        hasCancelledAttempts = true
        attempts.cancel()
        waiters.resume()
    }

    // MARK: Attempts

    func work() {
        guard !isStopping, !writer.isFull else { return }
        let clock = dependencies.clock.now()
        // No call tells that the leases were renewed.
        guard maySend else { return setAlarm(at: clock.boot.advanced(by: Dispatcher.leaseCheck)) }
        let now = time.moment(clock)
        let (actions, wake) = schedule.actions(at: now.wall)
        for action in actions {
            switch action {
            case .attempt(let delivery): attempt(delivery)
            case .load(let lane, let after): Task { await self.load(lane, after: after) }
            }
        }
        divert(at: now)
        reportDropped()
        limitQueuesIfDue()
        if let wake { setAlarm(at: now.boot(at: wake, most: RetryPolicy.longest)) }
        if !isOnce, let due = queueLimiter.wake { setAlarm(at: due) }
        waiters.resume()
    }

    /// Lets fallbacks get what sinks have pending that have failed for their time.
    private func divert(at now: Moment) {
        let failing = schedule.divertedSinks(at: now.wall)
        for sink in failing.subtracting(diverted).sorted() {
            let fallbacks = sinks.policy(of: sink).fallbacks.map { "'\($0)'" }.joined(separator: ", ")
            dependencies.log.log(.warning, "\(sink): fails, so that its messages go to \(fallbacks)")
            queueLimiter.changed(at: now.boot)
        }
        for sink in diverted.subtracting(failing).sorted() {
            dependencies.log.log(.notice, "\(sink): is back, and gets its messages itself again")
        }
        diverted = failing
    }

    private func setAlarm(at deadline: BootTime) {
        alarm.set(at: deadline, for: self) { dispatcher in
            dispatcher.alarm.fired()
            dispatcher.work()
        }
    }

    private func load(_ lane: DeliveryLane, after: Int64) async {
        // A delivery that ends while its lane is read makes it read once more.
        let (ended, releases) = (writer.ends, sinks.releases(of: lane.sink))
        do throws(JournalError) {
            var deliveries = try await dependencies.journal.pending(
                in: lane, after: after, limit: DeliverySchedule.ahead)
            guard sinks.releases(of: lane.sink) == releases else { return }
            let now = dependencies.clock.now()
            for i in deliveries.indices {
                deliveries[i] = time.restored(deliveries[i], now)
                if isOnce { deliveries[i].due = time.moment(now).wall }
            }
            schedule.loaded(deliveries, in: lane, ended: ended)
        } catch {
            dependencies.log.log(.error, "failed to read pending deliveries of '\(lane.sink)': \(error.detail)")
            if isOnce {
                meter.countUnsent(1)
                schedule.loaded([], in: lane)
                return work()
            }
            try? await dependencies.clock.sleep(until: dependencies.clock.now().boot.advanced(by: .seconds(5)))
            guard sinks.releases(of: lane.sink) == releases else { return }
            schedule.loadFailed(in: lane)
        }
        work()
    }

    // MARK: Outcomes

    func startWriting() { if writer.begin() { Task { await self.write() } } }

    private func write() async {
        await writer.write(
            within: { queueBounds.limits() },
            stored: { result in
                // What a fallback gets has to wait for the attempt under way about the same subject.
                if !diverted.isEmpty, !result.successors.isEmpty {
                    queueLimiter.changed(at: dependencies.clock.now().boot)
                }
                take(result.successors.filter(\.state.isPending))
                evicted(result.eviction)
                waiters.resume()
            },
            failed: { error in
                // `run --once` announces nothing.
                let level = isOnce ? .error : error.logLevel
                dependencies.log.log(level, "failed to store outcomes of deliveries: \(error.detail)")
                return !isStopping && !isOnce
            })
        work()
        waiters.resume()
    }

    /// A poll may have committed messages before these that are announced after them, so their lanes are read.
    func take(_ successors: [Delivery]) {
        guard !successors.isEmpty else { return }
        let mine = successors.filter { sinks.isHeld($0.message.sink) }
        let lanes = Dictionary(mine.map { ($0.lane, $0.id) }, uniquingKeysWith: min)
        for (lane, first) in lanes { schedule.moreCommitted(lane, from: first) }
        queueLimiter.pending(at: dependencies.clock.now().boot)
        work()
    }

    // MARK: Sinks that stop and come back

    /// Waits for the receiver, where the sink can tell that it is back: a desktop after log-in.
    func probeRecovery(_ name: String) {
        guard recoveryProbes[name] == nil, !isStopping, !isOnce, let sink = sinks[name] else { return }
        recoveryProbes[name] = Task {
            let isBack = await sink.waitForReceiver()
            // A sink that was changed meanwhile has a probe of its own.
            guard !Task.isCancelled else { return }
            self.recoveryProbes[name] = nil
            guard isBack else { return }
            self.schedule.recovered(sink: name)
            self.send(self.stopped.answered(name))
            self.work()
        }
    }

    /// Reports the first refusal or failure of a sink, and that a sink which was tried again has taken a message. Refusals of messages
    /// that were in flight beside it add nothing.
    func reportChange(_ outcome: Outcome?, of sink: String) {
        guard let outcome, !schedule.isPaused(sink) else { return }
        switch outcome {
        case .delivered: send(stopped.resume(sink))
        case .rejected: send(stopped.answered(sink))
        // How long it has failed matters to its fallbacks alone.
        case .retry where sinks.policy(of: sink).fallbacks.isEmpty: break
        case .retry, .paused, .disabled:
            send(stopped.attempted(sink, outcome, at: dependencies.clock.now().wall))
        }
    }

    private func send(_ change: SinkChange?) {
        guard let change, let sinkChanged else { return }
        pendingReports += 1
        Task {
            await sinkChanged(change)
            self.pendingReports -= 1
            self.waiters.resume()
        }
    }
}
