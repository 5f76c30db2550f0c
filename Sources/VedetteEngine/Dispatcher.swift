// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The delivery shell: attempts what is owed, per lane in order, and writes what came of it.
public actor Dispatcher {
    /// Outcomes that wait to be written; with more, no new attempt starts, so a crash repeats few messages.
    static let mostUnwritten = 512

    let dependencies: Dependencies
    let time: SteadyClock
    private(set) var sinks: [String: any Sink]
    private(set) var policy: [String: DeliveryPolicy]
    var outbox: Outbox
    private var unwritten: [Attempt] = []
    private var isWriting = false
    private(set) var isStopping = false
    private(set) var isOnce = false
    private var isCutOff = false
    private(set) var attempts: [Int64: Task<Void, Never>] = [:]
    /// Who waits for the return of a sink's receiver.
    private var recoveryProbes: [String: Task<Void, Never>] = [:]
    var queueLimiter = QueueLimiter()
    /// What the last two steps of an audit ended: it may not have been announced yet.
    var trimmed: [Set<Int64>] = []
    /// How often a sink was replaced: what an old one refused says nothing of the new one.
    private var generations: [String: Int] = [:]
    private var writtenCount = 0
    private var report: Report?
    /// Reports that nobody has taken up yet.
    private var reports = 0
    private var alarm: (deadline: BootTime, task: Task<Void, Never>)?
    /// The writer's rest after the journal failed.
    private var rest: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    public private(set) var sent = 0
    public private(set) var unsent = 0

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        dependencies.executor.asUnownedSerialExecutor()
    }

    /// Hears that a sink rests until a person acts.
    /// - Parameter reason: without a secret.
    public typealias Report = @Sendable (_ sink: String, _ kind: Event.Kind, _ reason: String) async -> Void

    /// - Parameter manners: of the sinks that have some of their own.
    public init(_ dependencies: Dependencies, sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:]) {
        (self.dependencies, self.sinks, self.policy) = (dependencies, sinks, policy)
        outbox = Outbox(policy: policy)
        time = SteadyClock(dependencies.clock.now())
    }

    func report(to report: @escaping Report) { self.report = report }

    /// Finds what earlier runs left owed.
    public func restore() async throws(JournalError) {
        let lanes = try await dependencies.journal.pendingLanes()
        for lane in lanes { outbox.laneFound(lane) }
        // A receiver that was not there in an earlier run may be there now.
        for sink in Set(lanes.map(\.sink)) { probeRecovery(sink) }
        if !lanes.isEmpty { queueLimiter.pending(0, at: dependencies.clock.now().boot) }
        work()
    }

    /// Takes up what was just committed.
    public func enqueue(_ deliveries: [Delivery]) {
        let now = dependencies.clock.now()
        let fresh = deliveries.filter { delivery in !trimmed.contains { $0.contains(delivery.id) } }
        outbox.committed(fresh.map { time.taken($0, now) })
        queueLimiter.pending(deliveries.count, at: now.boot)
        work()
    }

    /// Sinks that rules may speak to from now on; no known one is replaced.
    public func add(sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:]) {
        self.sinks.merge(sinks) { known, _ in known }
        apply(self.policy.merging(policy) { known, _ in known })
    }

    private func apply(_ policy: [String: DeliveryPolicy]) {
        self.policy = policy
        outbox.apply(policy)
    }

    /// Another set of sinks. What is owed to one that went away ends with that reason; a changed one is tried again if it
    /// rested. The old sinks are closed when the attempts under way through them are over; nobody waits for that.
    /// - Parameter kept: names whose sink is the same as before.
    public func reload(
        sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], keeping kept: Set<String> = []
    ) async {
        let (old, running) = (self.sinks.filter { !kept.contains($0.key) }, Array(attempts.values))
        let changed = Set(sinks.keys).union(self.sinks.keys).subtracting(kept)
        self.sinks = sinks
        apply(policy)
        for name in changed {
            generations[name, default: 0] += 1
            outbox.resumed(sink: name)
            recoveryProbes.removeValue(forKey: name)?.cancel()
        }
        work()
        Task {
            for attempt in running { await attempt.value }
            for sink in old.values { await sink.close() }
        }
    }

    /// `outbox retry`: a paused sink is tried again, and what the journal owes it is read anew, revived deliveries too.
    public func retry(sink: String) {
        outbox.resumed(sink: sink)
        work()
        Task {
            do throws(JournalError) {
                for lane in try await dependencies.journal.pendingLanes() where lane.sink == sink {
                    outbox.laneFound(lane)
                }
                queueLimiter.pending(1, at: dependencies.clock.now().boot)
            } catch {
                dependencies.log.log(.error, "what '\(sink)' is owed anew was not read: \(error.detail)")
            }
            work()
        }
    }

    /// `outbox drop`: what the journal owes it is read anew.
    public func reread(sink: String) {
        outbox.reread(sink: sink)
        work()
    }

    /// Attempts each owed delivery once, whatever its time, and returns when nothing more can be attempted now.
    public func drainOnce() async {
        repeat { queueLimiter.began() } while await trim()
        isOnce = true
        outbox.hurried()
        work()
        await quiet {
            let isStuck = $0.attempts.isEmpty && $0.unwritten.count >= Dispatcher.mostUnwritten
            return ($0.outbox.isDrained || isStuck) && !$0.isWriting && $0.reports == 0
        }
    }

    /// Lets attempts under way finish until `deadline`, cancels the rest (they stay owed), writes every outcome.
    public func stop(by deadline: BootTime) async {
        isStopping = true
        alarm?.task.cancel()
        rest?.cancel()
        for probeRecovery in recoveryProbes.values { probeRecovery.cancel() }
        startWriting()
        let clock = dependencies.clock
        let limit = Task {
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            self.cutOff()
        }
        await quiet {
            ($0.attempts.isEmpty && $0.unwritten.isEmpty && !$0.isWriting && $0.reports == 0) || $0.isCutOff
        }
        limit.cancel()
        // What was delivered is said before the end, else it is delivered again.
        await quiet { !$0.isWriting }
        for sink in sinks.values { await sink.close() }
    }

    /// What is still under way stays owed.
    private func cutOff() {
        isCutOff = true
        for attempt in attempts.values { attempt.cancel() }
        settle()
    }

    // MARK: Attempts

    func work() {
        guard !isStopping, unwritten.count < Dispatcher.mostUnwritten else { return }
        let now = time.moment(dependencies.clock.now())
        let (orders, wake) = outbox.orders(at: now.wall)
        for order in orders {
            switch order {
            case .attempt(let delivery): attempt(delivery)
            case .load(let lane, let after): Task { await self.load(lane, after: after) }
            }
        }
        limitQueuesIfDue()
        if let wake { setAlarm(at: now.boot(at: wake, most: RetryPolicy.longest)) }
        if !isOnce, let due = queueLimiter.wake { setAlarm(at: due) }
        settle()
    }

    private func setAlarm(at deadline: BootTime) {
        // An alarm that rings too early only asks again.
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
        // What ends while the lane is read has it read once more.
        let ended = unwrittenEnds
        do throws(JournalError) {
            var deliveries = try await dependencies.journal.pending(in: lane, after: after, limit: Outbox.ahead)
            let now = dependencies.clock.now()
            for i in deliveries.indices {
                deliveries[i] = time.restored(deliveries[i], now)
                if isOnce { deliveries[i].due = time.moment(now).wall }
            }
            outbox.loaded(deliveries, in: lane, ended: ended)
        } catch {
            dependencies.log.log(.error, "what is owed to '\(lane.sink)' was not read: \(error.detail)")
            if isOnce {
                unsent += 1
                outbox.loaded([], in: lane)
                return work()
            }
            try? await dependencies.clock.sleep(until: dependencies.clock.now().boot.advanced(by: .seconds(5)))
            outbox.loadFailed(in: lane)
        }
        work()
    }

    /// Deliveries that ended, though the journal does not know it yet.
    var unwrittenEnds: Set<Int64> { Set(unwritten.lazy.filter { !$0.state.isPending }.map(\.delivery)) }

    private func attempt(_ delivery: Delivery) {
        let name = delivery.message.sink
        let (sink, generation) = (sinks[name], generations[name])
        attempts[delivery.id] = Task {
            let outcome =
                await sink?.deliver(delivery.message)
                ?? .rejected(reason: "the sink '\(name)' is no longer configured")
            self.attempted(delivery, self.generations[name] == generation ? outcome : outcome.ofAnotherSink)
        }
    }

    private func attempted(_ delivery: Delivery, _ outcome: Outcome) {
        let wasCancelled = attempts[delivery.id]?.isCancelled == true
        attempts[delivery.id] = nil
        defer { settle() }
        if wasCancelled, outcome != .delivered { return }
        let now = dependencies.clock.now()
        let policy = RetryPolicy(giveUp: policy(of: delivery.message.sink).giveUp)
        let attempt = policy.attempt(
            delivery, outcome, at: time.moment(now).wall, random: dependencies.random.fraction())
        tell(outcome, of: delivery.message.sink)
        outbox.attempted(attempt, outcome, in: delivery.lane, random: dependencies.random.fraction())
        if attempt.state == .sent { sent += 1 } else { unsent += 1 }
        if attempt.state == .retry { probeRecovery(delivery.message.sink) }
        settled(delivery, attempt)
        startWriting()
        work()
    }

    /// A sink may know when its receiver is back, as a desktop's after log-in.
    private func probeRecovery(_ name: String) {
        guard recoveryProbes[name] == nil, !isStopping, !isOnce, let sink = sinks[name] else { return }
        recoveryProbes[name] = Task {
            let isBack = await sink.returned()
            // A sink that was changed meanwhile has a scout of its own.
            guard !Task.isCancelled else { return }
            self.recoveryProbes[name] = nil
            guard isBack else { return }
            self.outbox.returned(sink: name)
            self.work()
        }
    }

    func policy(of sink: String) -> DeliveryPolicy { policy[sink] ?? DeliveryPolicy() }

    /// The first refusal of a sink is news; what was in flight beside it says nothing more.
    private func tell(_ outcome: Outcome, of sink: String) {
        guard let report, !outbox.isPaused(sink) else { return }
        let (kind, reason): (Event.Kind, String)
        switch outcome {
        case .paused(let text): (kind, reason) = (.paused, text)
        case .disabled(let text): (kind, reason) = (.disabled, text)
        case .delivered, .rejected, .retry: return
        }
        reports += 1
        Task {
            await report(sink, kind, reason)
            self.reports -= 1
            self.settle()
        }
    }

    /// What came of a delivery is to be written; what died is passed on.
    func settled(_ delivery: Delivery, _ attempt: Attempt) {
        var attempt = attempt
        let now = dependencies.clock.now()
        if attempt.state == .dead {
            let id = "msg_" + dependencies.random.identifier(at: now.wall).description
            attempt.successor = delivery.passedOn(
                along: policy(of: delivery.message.sink).fallbacks, where: { sinks[$0] != nil }, id: id, at: now.wall)
            if let next = attempt.successor?.message.sink {
                attempt.reason = (attempt.reason.map { $0 + "; " } ?? "") + "passed on to '\(next)'"
            }
        }
        unwritten.append(time.stored(attempt, now))
        guard let reason = attempt.reason else { return }
        let level: LogLevel = attempt.state == .retry ? .info : .warning
        dependencies.log.log(level, "\(delivery.message.sink): \(attempt.state.rawValue): \(reason)")
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
                let successors = try await dependencies.journal.record(batch)
                unwritten.removeFirst(batch.count)
                writtenCount += batch.count
                take(successors)
                settle()
            } catch {
                dependencies.log.log(.error, "outcomes of deliveries were not written: \(error.detail)")
                if isStopping || isOnce { break }
                let clock = dependencies.clock
                let rest = Task { () -> Void in
                    _ = try? await clock.sleep(until: clock.now().boot.advanced(by: .seconds(5)))
                }
                self.rest = rest
                await rest.value
            }
        }
        isWriting = false
        work()
        settle()
    }

    /// A poll may have committed messages before these that are announced after them, so the lanes are read.
    private func take(_ successors: [Delivery]) {
        guard !successors.isEmpty else { return }
        for lane in Set(successors.map(\.lane)) { outbox.grown(lane) }
        queueLimiter.pending(successors.count, at: dependencies.clock.now().boot)
        work()
    }

    // MARK: Waiting

    /// What has ended by now is in the journal, or nobody waits for it any more.
    func written() async {
        let mark = writtenCount + unwritten.count
        await quiet { $0.writtenCount >= mark || $0.isStopping }
    }

    private func quiet(_ isQuiet: (isolated Dispatcher) -> Bool) async {
        while !isQuiet(self) {
            // Asked again inside: on its way into the continuation the actor may have been let go of, and what was waited
            // for happened meanwhile.
            await withCheckedContinuation { if isQuiet(self) { $0.resume() } else { waiters.append($0) } }
        }
    }

    private func settle() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}

extension Outcome {
    /// What a sink that was replaced meanwhile refused.
    fileprivate var ofAnotherSink: Outcome {
        switch self {
        case .paused(let reason), .disabled(let reason): .retry(reason: reason, after: nil)
        case .delivered, .rejected, .retry: self
        }
    }
}
