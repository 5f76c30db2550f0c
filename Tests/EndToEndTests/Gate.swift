// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How many labs run at once: two processors serve no more, and a test must not fail for want of them.
enum Gate {
    private struct State {
        var free = 5
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Mutex(State())

    static func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    static func leave() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// A place among the labs, given back when nobody holds it any more.
final class Place: Sendable {
    init() async { await Gate.enter() }

    deinit { Gate.leave() }
}
