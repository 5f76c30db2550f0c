// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The timer of an actor that sleeps until the earliest deadline it was given. A timer that fires too early only makes its
/// owner set the next one.
struct DeadlineTimer {
    private let clock: any Clock
    private var pending: (deadline: BootTime, task: Task<Void, Never>)?

    init(_ clock: any Clock) { self.clock = clock }

    /// Calls the owner at the deadline, unless an earlier one is set. The owner calls `fired` when it is called.
    mutating func set<Owner: Actor>(
        at deadline: BootTime, for owner: isolated Owner, _ call: @escaping @Sendable (isolated Owner) async -> Void
    ) {
        if let pending, pending.deadline <= deadline { return }
        pending?.task.cancel()
        let task = Task { [clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            await call(owner)
        }
        pending = (deadline, task)
    }

    mutating func fired() { pending = nil }

    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}
