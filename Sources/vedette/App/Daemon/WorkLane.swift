// SPDX-License-Identifier: Apache-2.0

/// Work beside the daemon's loop, so that signals and reloads overtake it; one piece after another.
struct WorkLane {
    private(set) var last: Task<Void, Never>?

    /// Adds work after what is under way. Cancelling it cancels both.
    mutating func add(_ work: @escaping @Sendable () async -> Void) {
        last = Task { [previous = last] in
            if let previous {
                await withTaskCancellationHandler {
                    await previous.value
                } onCancel: {
                    previous.cancel()
                }
            }
            if !Task.isCancelled { await work() }
        }
    }
}
