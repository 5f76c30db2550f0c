// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Stores the outcomes of attempts in the order in which they ended: while one transaction is written, those that arrive
/// gather for the next one. It belongs to the dispatcher's actor.
final class OutcomeWriter {
    /// Outcomes that wait to be stored; with more, no new attempt starts, so a crash repeats few messages.
    static let maximum = 512
    /// The pause after the journal failed.
    private static let retryDelay = Duration.seconds(5)

    private let journal: any Journal
    private let clock: any Clock
    private var unwritten: [(attempt: Attempt, sink: String)] = []
    private(set) var isWriting = false
    /// How many outcomes came since the start, and how many of them are stored.
    private(set) var appended = 0
    private(set) var stored = 0
    private var pause: Task<Void, Never>?

    init(_ dependencies: Dependencies) { (journal, clock) = (dependencies.journal, dependencies.clock) }

    var isFull: Bool { unwritten.count >= OutcomeWriter.maximum }

    /// Whether every outcome is stored.
    var isDone: Bool { unwritten.isEmpty && !isWriting }

    /// Deliveries that ended and whose outcome is not stored yet.
    var ends: Set<Int64> { Set(unwritten.lazy.filter { !$0.attempt.state.isPending }.map(\.attempt.delivery)) }

    func contains(anyOf sinks: Set<String>) -> Bool { unwritten.contains { sinks.contains($0.sink) } }

    func append(_ attempt: Attempt, to sink: String) {
        unwritten.append((attempt, sink))
        appended += 1
    }

    /// Returns whether the caller must start a task that calls `write`.
    func begin() -> Bool {
        guard !isWriting, !unwritten.isEmpty else { return false }
        isWriting = true
        return true
    }

    /// Stores outcomes until none is left. After `begin`.
    /// - Parameters:
    ///   - limits: returns the limits of the queues at the time of a transaction.
    ///   - stored: takes the result of each transaction.
    ///   - failed: takes an error of the journal, and returns whether to try again. If not, the outcomes stay here.
    func write(
        within limits: () -> EvictionLimits, stored: (RecordResult) -> Void, failed: (JournalError) -> Bool
    ) async {
        while !unwritten.isEmpty {
            let batch = unwritten.map(\.attempt)
            do throws(JournalError) {
                let result = try await journal.record(batch, within: limits())
                unwritten.removeFirst(batch.count)
                self.stored += batch.count
                stored(result)
            } catch {
                guard failed(error) else { break }
                await sleep()
            }
        }
        isWriting = false
    }

    private func sleep() async {
        let pause = Task { [clock] () -> Void in
            _ = try? await clock.sleep(until: clock.now().boot.advanced(by: OutcomeWriter.retryDelay))
        }
        self.pause = pause
        await pause.value
    }

    /// Ends the pause after the journal failed.
    func endPause() { pause?.cancel() }
}
