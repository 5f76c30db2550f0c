// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// When the courier looks whether more is owed than sinks may be owed: while anything is.
struct QueueLimiter {
    static let pace = Duration.seconds(60)
    /// After so many new deliveries it looks at once.
    static let burst = 1000
    /// Deliveries that die in one step.
    static let batch = 500

    private(set) var due: BootTime?
    private var fresh = 0
    private(set) var isRunning = false

    mutating func pending(_ count: Int, at now: BootTime) {
        fresh += count
        if fresh >= QueueLimiter.burst {
            due = now
        } else if due == nil, !isRunning {
            due = now.advanced(by: QueueLimiter.pace)
        }
    }

    /// When somebody must be woken for it.
    var wake: BootTime? { isRunning ? nil : due }

    mutating func began() { (isRunning, due, fresh) = (true, nil, 0) }

    /// - Parameters:
    ///   - isOwed: anything is owed, as far as is known.
    ///   - hasMore: the last step may have left more.
    mutating func ended(isPending: Bool, hasMore: Bool, at now: BootTime) {
        isRunning = false
        if hasMore {
            due = now
        } else if isPending || fresh > 0 {
            due = due ?? now.advanced(by: QueueLimiter.pace)
        }
    }
}

/// Bounds of what is owed (I8): by count, bytes and age.
extension Dispatcher {
    func limitQueuesIfDue() {
        guard !queueLimiter.isRunning, !isOnce, let due = queueLimiter.due, due <= dependencies.clock.now().boot else {
            return
        }
        queueLimiter.began()
        Task { await self.trim() }
    }

    /// One step: ends some of what is owed beyond the bounds, and waits until that is written.
    /// - Returns: whether there may be more.
    @discardableResult
    func trim() async -> Bool {
        var (isPending, hasMore) = (true, false)
        do throws(JournalError) {
            let overflow = try await dependencies.journal.overflow(limits(), most: QueueLimiter.batch)
            isPending = overflow.pending > 0
            if !isStopping, end(overflow.excess) {
                // Else the next look would find the same again.
                await written()
                hasMore = true
            }
        } catch {
            dependencies.log.log(.warning, "what is owed was not counted: \(error.detail)")
        }
        queueLimiter.ended(isPending: isPending, hasMore: hasMore, at: dependencies.clock.now().boot)
        work()
        return hasMore
    }

    private func limits() -> [OutboxLimit] {
        let clock = dependencies.clock.now()
        // What is stored bears the wall's time: whichever way the clock was set, nothing is older than it is.
        let now = min(time.moment(clock).wall, clock.wall)
        let resting = outbox.resting
        return sinks.keys.map { sink in
            let policy = policy(of: sink)
            return OutboxLimit(
                sink: sink, bound: policy.queue,
                oldest: resting.contains(sink) ? now.advanced(by: .zero - policy.giveUp) : nil)
        }
    }

    /// - Returns: whether anything ended.
    private func end(_ excess: [(delivery: Delivery, by: Overflow.Excess)]) -> Bool {
        let done = unwrittenEnds
        let now = time.moment(dependencies.clock.now()).wall
        var hasEnded = false
        trimmed = [trimmed.last ?? [], Set(excess.map(\.delivery.id))]
        for (delivery, cause) in excess.sorted(by: { $0.delivery.id < $1.delivery.id })
        where attempts[delivery.id] == nil && !done.contains(delivery.id) {
            let reason = policy(of: delivery.message.sink).reason(cause, delivery)
            outbox.ended(delivery)
            var end = Attempt(
                delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: now,
                reason: reason)
            end.wasMade = false
            settled(delivery, end)
            hasEnded = true
        }
        startWriting()
        return hasEnded
    }
}

extension DeliveryPolicy {
    /// Why a delivery that was not attempted is dead.
    fileprivate func reason(_ cause: Overflow.Excess, _ delivery: Delivery) -> String {
        let which = queue.policy == .dropOldest ? "the oldest" : "the newest"
        switch cause {
        case .age:
            let last = delivery.reason.map { ": " + $0 } ?? ""
            return "gave up after \(MessageFormatter.duration(seconds: giveUp.inSeconds))\(last)"
        case .count: return "more than \(queue.count) messages were owed to the sink: \(which) is given up"
        case .bytes: return "more than \(queue.bytes) bytes were owed to the sink: \(which) is given up"
        }
    }
}
