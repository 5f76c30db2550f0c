// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// One connection over which a test pushes records.
final class FakeRecords: RecordStream {
    private typealias Outcome = Result<RecordBatch?, FetchError>

    private struct State {
        var outcomes: [Outcome] = []
        var reader: CheckedContinuation<Outcome, Never>?
        var isClosed = false
        var retry: Duration?
    }
    private let state = Mutex(State())

    var retry: Duration? { state.withLock { $0.retry } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether everything that was pushed has been read.
    var isIdle: Bool { state.withLock { $0.reader != nil } }

    init(retry: Duration? = nil) { state.withLock { $0.retry = retry } }

    /// Pushes lines, all in one batch; none keep the connection alive.
    func push(_ lines: String..., event: String = "message", id: String? = nil) {
        add(.success(RecordBatch(lines.map { StreamRecord(Array($0.utf8), event: event, id: id) })))
    }

    func end() { add(.success(nil)) }
    func fail(_ error: FetchError) { add(.failure(error)) }
    func interrupt() { add(.success(RecordBatch(isInterrupted: true))) }
    func close() { state.withLock { $0.isClosed = true } }

    private func add(_ outcome: Outcome) {
        let reader = state.withLock { state in
            if state.reader == nil { state.outcomes.append(outcome) }
            return state.reader.take()
        }
        reader?.resume(returning: outcome)
    }

    func next() async throws(FetchError) -> RecordBatch? {
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: CheckedContinuation<Outcome, Never>) in
                let ready: Outcome? = state.withLock { state in
                    if Task.isCancelled { return .failure(FetchError(.cancelled, "cancelled")) }
                    if !state.outcomes.isEmpty { return state.outcomes.removeFirst() }
                    state.reader = reader
                    return nil
                }
                if let ready { reader.resume(returning: ready) }
            }
        } onCancel: {
            let reader = state.withLock { $0.reader.take() }
            reader?.resume(returning: .failure(FetchError(.cancelled, "cancelled")))
        }
        return try outcome.get()
    }
}

extension FakeFetcher {
    /// Answers the next requests of a URL with connections, one after the other, then refuses.
    func serve(_ url: String, _ streams: FakeRecords...) {
        let left = Mutex(streams)
        answer(url) { request in
            guard let stream = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
                return .failure(FetchError(.refused, "nothing is served at \(request.url)"))
            }
            var response = FakeFetcher.response(request.url, "")
            response.records = request.stream == nil ? nil : stream
            return .success(response)
        }
    }
}
