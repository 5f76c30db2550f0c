// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One of several watchers: it delivers to the sinks that it holds, while it holds them.
extension Dispatcher {
    /// The time between two looks whether leases that may have ended were renewed.
    static let leaseCheck = Duration.seconds(1)

    /// Whether no other watcher can hold its sinks yet.
    nonisolated var maySend: Bool {
        dependencies.journal.shares?.maySend(at: dependencies.clock.now().boot) ?? true
    }

    /// Takes back a delivery whose attempt made no request. It is attempted once the leases are renewed.
    func notBegun(_ delivery: Delivery) {
        let wasCancelled = attempts.ended(delivery.id)
        meter.ended()
        defer { waiters.resume() }
        guard !wasCancelled else { return schedule.cancelled(in: delivery.lane) }
        let unchanged = Attempt(
            delivery: delivery.id, state: .pending, attempts: delivery.attempts, due: delivery.due, at: delivery.due,
            reason: delivery.reason)
        schedule.attempted(unchanged, nil, in: delivery.lane, random: 0)
        work()
    }

    /// Forgets deliveries that a commit of another watcher ended: a later message replaced them, or a queue was full.
    func forgetEnded() async throws(JournalError) {
        let ids = endedSearch.next(of: schedule.waiting.map(\.id))
        guard !ids.isEmpty, let shares = dependencies.journal.shares else { return }
        let ended = try await shares.ended(among: ids)
        // Read again, since an attempt may have ended meanwhile.
        for delivery in schedule.waiting where ended.contains(delivery.id) { schedule.ended(delivery) }
    }
}
