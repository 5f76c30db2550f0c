// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The records of one connection between the loop's thread, which adds them, and their reader, within bounds and within the
/// memory for responses (I8).
final class RecordBuffer: Sendable {
    /// Bytes of records that wait for the reader; beyond them the connection is paused.
    static let limit = 256 << 10
    /// What a record takes beside its bytes.
    private static let overhead = 96
    /// The memory is reserved in steps of so many bytes.
    private static let step = 64 << 10

    typealias Outcome = Result<RecordBatch?, FetchError>

    private struct State {
        var records: [StreamRecord] = []
        var bytes = 0
        /// Bytes of the record that is not complete, and of the batch that the reader has.
        var (partial, taken) = (0, 0)
        var reserved = 0
        /// Bytes arrived that brought no record.
        var isAlive = false
        var isInterrupted = false
        var isPaused = false
        var retry: Duration?
        var end: Result<Void, FetchError>?
        var reader: UnsafeContinuation<Outcome, Never>?
    }

    private let memory: MemoryShare
    private let state = Mutex(State())

    /// - Parameter memory: the share of the connection. It is complete from the start: a stream makes room for no body, and no
    ///   body has to wait for its end.
    init(memory: MemoryShare) {
        self.memory = memory
        _ = memory.complete()
    }

    var retry: Duration? { state.withLock { $0.retry } }

    /// Whether the reader is behind.
    var isFull: Bool { state.withLock { $0.bytes >= RecordBuffer.limit } }

    // MARK: The loop's side

    /// Adds what arrived.
    /// - Parameter partial: bytes of the record that is not complete.
    /// - Throws: `.memory` when there is none left.
    func add(_ records: [StreamRecord], partial: Int, retry: Duration?) throws(FetchError) {
        let (hasMemory, waiting) = state.withLock { state in
            state.records += records
            for record in records { state.bytes += record.data.count + RecordBuffer.overhead }
            (state.partial, state.retry, state.isAlive) = (partial, retry, true)
            return (reserve(&state), takeOutcome(&state))
        }
        waiting?.reader.resume(returning: waiting?.outcome ?? .success(nil))
        guard hasMemory else { throw FetchError(.memory, "there is no memory left for the records of the stream") }
    }

    /// Notes that the connection is paused, unless the reader has caught up meanwhile.
    /// - Returns: whether it is to be paused.
    func pause() -> Bool {
        state.withLock { state in
            state.isPaused = state.bytes >= RecordBuffer.limit
            return state.isPaused
        }
    }

    /// Ends the stream. What arrived before is still read.
    func finish(_ end: Result<Void, FetchError>) {
        let waiting = state.withLock { state in
            if state.end == nil { state.end = end }
            return takeOutcome(&state)
        }
        waiting?.reader.resume(returning: waiting?.outcome ?? .success(nil))
    }

    private func reserve(_ state: inout State) -> Bool {
        let step = RecordBuffer.step
        let wanted = (state.bytes + state.partial + state.taken + step - 1) / step * step
        guard wanted != state.reserved else { return true }
        guard memory.resize(to: wanted) else { return false }
        state.reserved = wanted
        return true
    }

    // MARK: The reader's side

    /// Waits for what `RecordStream.next` returns.
    /// - Parameter resume: called when the connection was paused and may go on.
    func next(resume: () -> Void) async throws(FetchError) -> RecordBatch? {
        let mustResume = state.withLock { state in
            state.taken = 0
            defer { if state.bytes < RecordBuffer.limit { state.isPaused = false } }
            return state.isPaused && state.bytes < RecordBuffer.limit
        }
        if mustResume { resume() }
        let outcome = await withTaskCancellationHandler {
            await withUnsafeContinuation { (reader: UnsafeContinuation<Outcome, Never>) in
                let ready = state.withLock { state in
                    state.reader = reader
                    return Task.isCancelled ? takeCancelled(&state) : takeOutcome(&state)
                }
                ready?.reader.resume(returning: ready?.outcome ?? .success(nil))
            }
        } onCancel: {
            let waiting = state.withLock { takeCancelled(&$0) }
            waiting?.reader.resume(returning: waiting?.outcome ?? .success(nil))
        }
        return try outcome.get()
    }

    func interrupt() {
        let waiting = state.withLock { state in
            state.isInterrupted = true
            return takeOutcome(&state)
        }
        waiting?.reader.resume(returning: waiting?.outcome ?? .success(nil))
    }

    private typealias Ready = (reader: UnsafeContinuation<Outcome, Never>, outcome: Outcome)

    private func takeCancelled(_ state: inout State) -> Ready? {
        state.reader.take().map { ($0, .failure(HTTPClient.cancelled)) }
    }

    /// Returns the reader that waits, and what there is for it; nil when it waits on, or when there is none.
    private func takeOutcome(_ state: inout State) -> Ready? {
        guard let reader = state.reader, let outcome = outcome(&state) else { return nil }
        state.reader = nil
        return (reader, outcome)
    }

    private func outcome(_ state: inout State) -> Outcome? {
        if !state.records.isEmpty {
            let batch = RecordBatch(state.records)
            (state.taken, state.bytes, state.isAlive) = (state.bytes, 0, false)
            state.records = []
            return .success(batch)
        }
        if let end = state.end { return end.map { nil } }
        guard state.isAlive || state.isInterrupted else { return nil }
        defer { (state.isAlive, state.isInterrupted) = (false, false) }
        return .success(RecordBatch(isInterrupted: !state.isAlive))
    }
}
