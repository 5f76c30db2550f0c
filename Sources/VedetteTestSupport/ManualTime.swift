// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// A boot-time clock that a test advances, with the tasks that sleep on it.
public final class ManualTime: Sendable {
    private struct State {
        var now: Int64
        var last = 0
        var sleepers: [Int: (deadline: Int64, continuation: CheckedContinuation<Bool, Never>)] = [:]
        /// Sleeps that were cancelled before they began.
        var cancelled = Set<Int>()
    }

    private let state: Mutex<State>

    /// Creates a clock that stands at a time.
    public init(_ start: BootTime) { state = Mutex(State(now: start.milliseconds)) }

    /// The time.
    public var now: BootTime { BootTime(milliseconds: state.withLock { $0.now }) }

    /// How often a task went to sleep.
    public var sleeps: Int { state.withLock { $0.last } }

    /// The number of tasks that sleep.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The time until the next task wakes; nil while none sleeps.
    public var untilNext: Duration? {
        state.withLock { state in
            state.sleepers.values.map(\.deadline).min().map { .milliseconds($0 - state.now) }
        }
    }

    /// Sleeps until the clock was advanced to the deadline.
    /// - Parameter skipped: a sleep of at most this length is over at once, and the clock stands at its end.
    public func sleep(until deadline: BootTime, skipping skipped: Duration = .zero) async throws(CancellationError) {
        let (deadline, skipped) = (deadline.milliseconds, skipped.wholeMilliseconds)
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    guard deadline > state.now + skipped else {
                        state.now = max(state.now, deadline)
                        return true
                    }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// Advances the clock, and wakes the tasks whose deadline is reached.
    public func advance(_ duration: Duration) {
        let due = state.withLock { state in
            state.now += duration.wholeMilliseconds
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }
}
