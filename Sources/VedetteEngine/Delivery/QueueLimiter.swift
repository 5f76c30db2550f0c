// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when the dispatcher looks for deliveries that have expired, and for queues whose bounds were lowered: while
/// anything is pending. A commit keeps the bounds of the queues that it adds to.
struct QueueLimiter {
    static let interval = Duration.seconds(60)

    private var due: BootTime?
    private(set) var isRunning = false
    /// Dropped deliveries that are not reported yet.
    private var dropped = 0
    private var nextReport: BootTime?

    /// Something is pending.
    mutating func pending(at now: BootTime) {
        if due == nil, !isRunning { due = now.advanced(by: QueueLimiter.interval) }
    }

    /// The pending deliveries or the bounds changed in another way than by a commit: they are checked at once.
    mutating func changed(at now: BootTime) { due = now }

    /// When the dispatcher must wake for a check or a report.
    var wake: BootTime? { [isRunning ? nil : due, dropped > 0 ? nextReport : nil].compactMap { $0 }.min() }

    /// - Returns: whether a check begins now.
    mutating func begin(at now: BootTime) -> Bool {
        guard !isRunning, let due, due <= now else { return false }
        (isRunning, self.due) = (true, nil)
        return true
    }

    /// - Parameters:
    ///   - isPending: whether anything is pending, as far as is known.
    ///   - hasMore: the step may have left more.
    mutating func ended(isPending: Bool, hasMore: Bool, at now: BootTime) {
        isRunning = false
        if hasMore { due = now } else if isPending { pending(at: now) }
    }

    mutating func dropped(_ count: Int) { dropped += count }

    /// Returns how many dropped deliveries to report now: all since the last report, at most once per interval.
    /// - Parameter isLast: no later report follows.
    mutating func report(at now: BootTime, isLast: Bool = false) -> Int? {
        guard dropped > 0, isLast || nextReport.map({ $0 <= now }) ?? true else { return nil }
        defer { (dropped, nextReport) = (0, now.advanced(by: QueueLimiter.interval)) }
        return dropped
    }
}

/// The limits of the sinks' queues (I8): by count, bytes and age.
extension Dispatcher {
    /// Takes the pending deliveries of a commit, and what it evicted.
    func committed(_ pending: [Delivery], _ eviction: Eviction) {
        enqueue(pending)
        evicted(eviction)
    }

    /// Takes deliveries that the journal ended beyond the limits of their queues.
    func evicted(_ eviction: Eviction) {
        guard !eviction.isEmpty else { return }
        for delivery in eviction.evicted {
            schedule.ended(delivery)
            let sink = delivery.message.sink
            // The oldest go first, so each one up to this id has ended, also one that is announced late.
            if policy(of: sink).queue.policy == .dropOldest {
                lastEvicted[sink] = max(lastEvicted[sink] ?? 0, delivery.id)
            }
        }
        countUnsent(eviction.evicted.count)
        queueLimiter.dropped(eviction.evicted.count)
        reportDropped()
        take(eviction.successors.filter(\.state.isPending))
        work()
    }

    func reportDropped(isLast: Bool = false) {
        guard let count = queueLimiter.report(at: dependencies.clock.now().boot, isLast: isLast) else { return }
        dependencies.log.log(
            .warning,
            "gave up \(counted(count, "message")) beyond the bounds of queues; `vedette outbox` lists the reasons")
    }

    func limitQueuesIfDue() {
        guard !isOnce, queueLimiter.begin(at: dependencies.clock.now().boot) else { return }
        Task {
            let check = await self.evictStep()
            queueLimiter.ended(
                isPending: check.pending > 0, hasMore: !check.eviction.isEmpty && !isStopping,
                at: dependencies.clock.now().boot)
            work()
        }
    }

    /// Ends some deliveries beyond the limits.
    func evictStep() async -> QueueCheck {
        do throws(JournalError) {
            let check = try await dependencies.journal.evict(allLimits())
            evicted(check.eviction)
            return check
        } catch {
            dependencies.log.log(.warning, "failed to apply the bounds of the queues: \(error.detail)")
            return QueueCheck(pending: 1)
        }
    }

    /// The bounds, and the ages of what sinks that accept no messages have pending.
    private func allLimits() -> QueueLimits {
        let clock = dependencies.clock.now()
        // Stored times are wall times: whichever way the clock was set, nothing counts as older than it is.
        let now = min(time.moment(clock).wall, clock.wall)
        var limits = queueBounds.limits()
        for sink in schedule.unavailableSinks where sinks[sink] != nil {
            limits.oldest[sink] = now.advanced(by: .zero - policy(of: sink).giveUp)
        }
        return limits
    }
}
