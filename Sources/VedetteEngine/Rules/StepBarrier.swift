// SPDX-License-Identifier: Apache-2.0

/// Counts the steps of rules that are not committed yet, and holds further ones back while the engine takes over what other
/// watchers committed: it must have no change of its own that may still be undone.
actor StepBarrier {
    private var underWay = 0
    private var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Begins a step, when the barrier is open.
    func enter() async {
        while isClosed { await wait() }
        underWay += 1
    }

    /// Ends a step, which is committed or undone.
    func leave() {
        underWay -= 1
        resumeWaiters()
    }

    /// Closes the barrier, and returns when no step is under way.
    /// - Returns: false when another caller had closed it; then it is open again.
    func close() async -> Bool {
        guard !isClosed else {
            while isClosed { await wait() }
            return false
        }
        isClosed = true
        while underWay > 0 { await wait() }
        return true
    }

    func open() {
        isClosed = false
        resumeWaiters()
    }

    private func wait() async { await withCheckedContinuation { waiters.append($0) } }

    private func resumeWaiters() {
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
