// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Makes the blocking calls of one destination (a file, a pipe) one after another, on a thread that lives while there are
/// calls. A destination that hangs holds that one thread and delays no other.
public final class BlockingQueue: Sendable {
    /// Why a call was not made, or why its result was not waited for.
    public enum Refusal: Error, Hashable {
        /// The waiting task was cancelled. A call that has begun goes on.
        case cancelled
        /// This call, or one before it, has been under way for longer than the limit, and goes on.
        case late
        /// As many calls as the queue may hold are waiting.
        case full
        /// The errno of pthread_create(3).
        case noThread(Int32)
    }

    private struct Call {
        var number: Int
        var make: @Sendable () -> Void
        /// Ends the wait for a call that is not made.
        var refuse: @Sendable (Refusal) -> Void
    }

    private struct State {
        var waiting: [Call] = []
        var hasThread = false
        var lastNumber = 0
        /// When the call that is being made began; nil when none is.
        var startedAt: ContinuousClock.Instant?
    }

    private let capacity: Int
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Int32
    private let state = Mutex(State())

    /// - Parameter capacity: calls that may wait behind the one that is being made.
    public convenience init(capacity: Int = 64) { self.init(capacity: capacity, startThread: SystemThread.start) }

    init(capacity: Int, startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Int32) {
        (self.capacity, self.startThread) = (capacity, startThread)
    }

    /// Makes the call when those before it are over, and returns its result.
    /// - Parameter limit: how long one call may take; nil for any time. The time that a busy machine takes to begin a call, or to
    ///   hand over its result, does not count.
    public func run<Result: Sendable>(
        within limit: Duration? = nil, _ call: @escaping @Sendable () -> Result
    ) async throws(Refusal) -> Result {
        // A stream, since waiting for one ends at once when the task is cancelled.
        let (results, continuation) = AsyncStream<Swift.Result<Result, Refusal>>.makeStream()
        let number = try enqueue {
            continuation.yield(.success(call()))
            continuation.finish()
        } refuse: { refusal in
            continuation.yield(.failure(refusal))
            continuation.finish()
        }
        let timer = limit.map { limit in
            Task {
                await self.waitUntilLate(limit)
                continuation.yield(.failure(.late))
            }
        }
        defer { timer?.cancel() }
        for await result in results { return try result.get() }
        state.withLock { $0.waiting.removeAll { $0.number == number } }
        throw .cancelled
    }

    private func waitUntilLate(_ limit: Duration) async {
        var left = limit
        while left > .zero, (try? await Task.sleep(for: left)) != nil {
            let startedAt = state.withLock { $0.startedAt }
            left = startedAt.map { limit - (ContinuousClock.now - $0) } ?? limit
        }
    }

    private func enqueue(
        _ make: @escaping @Sendable () -> Void, refuse: @escaping @Sendable (Refusal) -> Void
    ) throws(Refusal) -> Int {
        let added: (number: Int, needsThread: Bool)? = state.withLock { state in
            guard state.waiting.count < capacity else { return nil }
            state.lastNumber += 1
            state.waiting.append(Call(number: state.lastNumber, make: make, refuse: refuse))
            defer { state.hasThread = true }
            return (state.lastNumber, !state.hasThread)
        }
        guard let added else { throw .full }
        guard added.needsThread else { return added.number }
        let code = startThread { while let call = self.next() { call.make() } }
        guard code != 0 else { return added.number }
        // Calls that came meanwhile rely on the same thread.
        let calls = state.withLock { state in
            defer { state = State(lastNumber: state.lastNumber) }
            return state.waiting
        }
        for call in calls { call.refuse(.noThread(code)) }
        return added.number
    }

    /// Nil ends the thread.
    private func next() -> Call? {
        state.withLock { state in
            state.hasThread = !state.waiting.isEmpty
            state.startedAt = state.waiting.isEmpty ? nil : .now
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}
