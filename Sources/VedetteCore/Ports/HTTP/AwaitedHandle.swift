// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The handle of a request that a task waits for, which may be cancelled before the request has started.
final class AwaitedHandle: Sendable {
    private struct State {
        var handle: (any FetchHandle)?
        var isCancelled = false
    }
    private let state = Mutex(State())

    func set(_ handle: any FetchHandle) {
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }
}
