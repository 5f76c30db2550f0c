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
}
