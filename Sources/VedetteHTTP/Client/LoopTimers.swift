// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The tasks that sleep on a loop, whose thread alone uses them.
struct LoopTimers {
    typealias ID = UInt64

    private struct Sleeper {
        var id: ID
        var deadline: BootTime
        var continuation: UnsafeContinuation<Void, Never>
    }

    /// The loop may sleep on a clock that stands still while the machine is suspended, so it looks at the boot clock this often.
    private static let longest: Int64 = 30_000

    /// The earliest deadline is the last one.
    private var sleepers: [Sleeper] = []
    private var lastID: ID = 0

    mutating func nextID() -> ID {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: ID, until deadline: BootTime, _ continuation: UnsafeContinuation<Void, Never>) {
        let place = sleepers.lastIndex { $0.deadline > deadline }.map { $0 + 1 } ?? 0
        sleepers.insert(Sleeper(id: id, deadline: deadline, continuation: continuation), at: place)
    }

    /// Ends a sleep early; one that has ended is left alone.
    mutating func cancel(_ id: ID) {
        guard let place = sleepers.firstIndex(where: { $0.id == id }) else { return }
        sleepers.remove(at: place).continuation.resume()
    }

    /// Ends the sleeps whose time has come.
    /// - Returns: how long the loop may sleep, in milliseconds.
    mutating func wake(at now: BootTime) -> Int64 {
        while let next = sleepers.last {
            let left = next.deadline.milliseconds - now.milliseconds
            guard left <= 0 else { return min(left, Self.longest) }
            sleepers.removeLast().continuation.resume()
        }
        return Self.longest
    }
}

extension LoopExecutor {
    /// Returns at the deadline, or throws at once when the task is cancelled. It must be called on the loop's thread, and wakes no
    /// other one.
    func sleep(until deadline: BootTime) async throws(CancellationError) {
        let id = nextTimer()
        // The closure is of no actor: without the preference it runs on a thread of the global pool, as would `add`.
        await withTaskExecutorPreference(self) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    // Checked here and not earlier: a later cancellation finds it.
                    guard !Task.isCancelled else { return continuation.resume() }
                    add(id, until: deadline, continuation)
                }
            } onCancel: {
                if isOnLoop { cancelTimer(id) } else { Task(executorPreference: self) { self.cancelTimer(id) } }
            }
        }
        if Task.isCancelled { throw CancellationError() }
    }
}
