// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when the dispatcher checks the bounds of the sinks' queues: while anything is pending.
struct QueueLimiter {
    static let interval = Duration.seconds(60)
    /// New deliveries after which the bounds are checked at once.
    static let burst = 1000
    /// Deliveries that expire in one step.
    static let batch = 2000

    private(set) var due: BootTime?
    private var fresh = 0
    private(set) var isRunning = false
    /// Dropped deliveries that are not reported yet.
    private var dropped = 0
    private var nextReport: BootTime?

    mutating func pending(_ count: Int, at now: BootTime) {
        fresh += count
        if fresh >= QueueLimiter.burst {
            due = now
        } else if due == nil, !isRunning {
            due = now.advanced(by: QueueLimiter.interval)
        }
    }

    /// When the dispatcher must wake for a check.
    var wake: BootTime? { isRunning ? nil : due }

    mutating func began() { (isRunning, due, fresh) = (true, nil, 0) }

    /// - Parameters:
    ///   - isPending: whether anything is pending, as far as is known.
    ///   - hasMore: the last step may have left more.
    mutating func ended(isPending: Bool, hasMore: Bool, at now: BootTime) {
        isRunning = false
        if hasMore {
            due = now
        } else if isPending || fresh > 0 {
            due = due ?? now.advanced(by: QueueLimiter.interval)
        }
    }

    /// Counts dropped deliveries.
    /// - Returns: how many to report now: all since the last report, at most once per interval.
    mutating func dropped(_ count: Int, at now: BootTime) -> Int? {
        dropped += count
        guard dropped > 0, nextReport.map({ $0 <= now }) ?? true else { return nil }
        defer { (dropped, nextReport) = (0, now.advanced(by: QueueLimiter.interval)) }
        return dropped
    }
}

/// Bounds of the sinks' queues (I8): by count, bytes and age.
extension Dispatcher {
    func limitQueuesIfDue() {
        guard !queueLimiter.isRunning, !isOnce, let due = queueLimiter.due, due <= dependencies.clock.now().boot else {
            return
        }
        queueLimiter.began()
        Task { await self.expireExcess() }
    }

    /// Ends some deliveries beyond the bounds, and waits until that is stored.
    /// - Returns: whether there may be more.
    @discardableResult
    func expireExcess() async -> Bool {
        var (isPending, hasMore) = (true, false)
        do throws(JournalError) {
            let overflow = try await dependencies.journal.overflow(limits(), most: QueueLimiter.batch)
            isPending = overflow.pending > 0
            if !isStopping, end(overflow.excess) {
                // Else the next check would find the same again.
                await stored()
                hasMore = true
            }
        } catch {
            dependencies.log.log(.warning, "failed to check the bounds of the queues: \(error.detail)")
        }
        queueLimiter.ended(isPending: isPending, hasMore: hasMore, at: dependencies.clock.now().boot)
        work()
        return hasMore
    }

    private func limits() -> [QueueLimit] {
        let clock = dependencies.clock.now()
        // Stored times are wall times: whichever way the clock was set, nothing counts as older than it is.
        let now = min(time.moment(clock).wall, clock.wall)
        let unavailable = schedule.unavailableSinks
        return sinks.keys.map { sink in
            let policy = policy(of: sink)
            return QueueLimit(
                sink: sink, bound: policy.queue,
                oldest: unavailable.contains(sink) ? now.advanced(by: .zero - policy.giveUp) : nil)
        }
    }

    /// - Returns: whether anything ended.
    private func end(_ excess: [(delivery: Delivery, by: Overflow.Excess)]) -> Bool {
        let done = unwrittenEnds
        let now = time.moment(dependencies.clock.now()).wall
        var dropped = 0
        expired = [expired.last ?? [], Set(excess.map(\.delivery.id))]
        for (delivery, cause) in excess.sorted(by: { $0.delivery.id < $1.delivery.id })
        where attempts[delivery.id] == nil && !done.contains(delivery.id) {
            let reason = policy(of: delivery.message.sink).reason(cause, delivery)
            schedule.ended(delivery)
            var end = Attempt(
                delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: now,
                reason: reason)
            end.wasMade = false
            store(end, of: delivery)
            dropped += 1
        }
        startWriting()
        if let count = queueLimiter.dropped(dropped, at: dependencies.clock.now().boot) {
            dependencies.log.log(
                .warning,
                "gave up \(counted(count, "message")) beyond the bounds of queues; `vedette outbox` lists the reasons")
        }
        return dropped > 0
    }
}

extension DeliveryPolicy {
    /// Returns why a delivery that was not attempted is dead.
    fileprivate func reason(_ cause: Overflow.Excess, _ delivery: Delivery) -> String {
        let which = queue.policy == .dropOldest ? "the oldest" : "the newest"
        switch cause {
        case .age:
            let last = delivery.reason.map { ": " + $0 } ?? ""
            return "gave up after \(MessageFormatter.duration(seconds: giveUp.inSeconds))\(last)"
        case .count: return "more than \(queue.count) messages were pending for the sink: \(which) is dropped"
        case .bytes: return "more than \(queue.bytes) bytes were pending for the sink: \(which) is dropped"
        }
    }
}
