// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Runs one trial at a time, and waits for it as long as a trial may take. One that is given up goes on until it notices that:
/// until then there is no other.
final class TrialSlot: Sendable {
    /// The time for one trial. It is less than the page has for the handler of a request.
    static let limit = Duration.seconds(20)

    private let clock: any Clock
    private let isTaken = Mutex(false)

    init(_ clock: any Clock) { self.clock = clock }

    /// Returns the result of a trial. Cancelling the calling task cancels it.
    func run<Value: Sendable>(
        _ trial: @escaping @Sendable () async throws(TrialProblem) -> Value
    ) async throws(TrialProblem) -> Value {
        let isFree = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFree else { throw .busy }
        // A stream, since waiting for one ends at once when the task is cancelled.
        let (results, continuation) = AsyncStream<Result<Value, TrialProblem>>.makeStream()
        let task = Task {
            let result = await Result(of: trial)
            self.isTaken.withLock { $0 = false }
            continuation.yield(result)
        }
        let end = clock.now().boot.advanced(by: TrialSlot.limit)
        let timer = Task { [clock] in
            guard (try? await clock.sleep(until: end)) != nil else { return }
            continuation.yield(.failure(.late))
        }
        defer {
            timer.cancel()
            task.cancel()
        }
        for await result in results { return try result.get() }
        throw .cancelled
    }
}

extension Result where Failure == TrialProblem {
    /// Awaits a trial.
    init(of trial: () async throws(TrialProblem) -> Success) async {
        do throws(TrialProblem) {
            self = .success(try await trial())
        } catch {
            self = .failure(error)
        }
    }
}
