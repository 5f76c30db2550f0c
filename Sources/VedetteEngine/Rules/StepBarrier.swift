// SPDX-License-Identifier: Apache-2.0

/// Counts the steps of rules that are not committed yet, and holds further ones back while the engine takes over what other
/// watchers committed: it must have no change of its own that may still be undone.
actor StepBarrier {
    private var underWay = 0
    private var isClosed = false
    private let waiters = Waiters()

    /// Begins a step, when the barrier is open.
    func enter() async {
        await waiters.wait { !isClosed }
        underWay += 1
    }

    /// Ends a step, which is committed or undone.
    func leave() {
        underWay -= 1
        waiters.resume()
    }

    /// Closes the barrier, and returns when no step is under way.
    /// - Returns: false when another caller had closed it; then it is open again.
    func close() async -> Bool {
        guard !isClosed else {
            await waiters.wait { !isClosed }
            return false
        }
        isClosed = true
        await waiters.wait { underWay == 0 }
        return true
    }

    func open() {
        isClosed = false
        waiters.resume()
    }
}
