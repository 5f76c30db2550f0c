// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The bounds of the queues (I8).
extension Dispatcher {
    /// Takes the pending deliveries of a commit, and what it evicted.
    func committed(_ pending: [Delivery], _ eviction: Eviction) {
        // Before a new delivery can start another one: it may be evicted.
        evicted(eviction)
        enqueue(pending)
    }

    /// Takes deliveries that the journal ended beyond the limits of their queues.
    func evicted(_ eviction: Eviction) {
        guard !eviction.isEmpty else { return }
        for delivery in eviction.replaced + eviction.evicted.map(\.place) {
            schedule.ended(delivery)
            queueLimiter.evicted(delivery)
        }
        let dead = eviction.evicted.count { $0.state == .dead }
        meter.countUnsent(dead)
        queueLimiter.dropped(dead)
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
        await excludeSuspend()
        guard suspendedAge.isExcluded else { return QueueCheck(pending: 1) }
        let clock = dependencies.clock.now()
        // Stored times are wall times: whichever way the clock was set, nothing counts as older than it is.
        let now = min(time.moment(clock).wall, clock.wall)
        // A message is sent by one of the two: what is under way, or ended and is not stored yet, is not passed on.
        let kept = attempts.ids.union(writer.ends)
        let limits = queueBounds.limits(
            unavailable: schedule.unavailableSinks, diverted: diverted, keeping: kept, at: now)
        schedule.passOn(diverted)
        defer { schedule.passOn([]) }
        do throws(JournalError) {
            let check = try await dependencies.journal.evict(limits)
            evicted(check.eviction)
            return check
        } catch {
            dependencies.log.log(.warning, "failed to apply the bounds of the queues: \(error.detail)")
            return QueueCheck(pending: 1)
        }
    }
}
