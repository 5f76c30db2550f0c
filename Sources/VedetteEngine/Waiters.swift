// SPDX-License-Identifier: Apache-2.0

/// Callers that wait for a change of an actor's state. It belongs to that actor.
final class Waiters {
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Waits until the state is reached. Whatever changes the state calls `resume`.
    func wait(until isReached: () -> Bool) async {
        while !isReached() {
            // Checked again inside: it may be reached on the way into the continuation.
            await withCheckedContinuation { if isReached() { $0.resume() } else { waiters.append($0) } }
        }
    }

    /// Lets each caller look at the state again.
    func resume() {
        let all = waiters
        waiters = []
        for waiter in all { waiter.resume() }
    }
}
