// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One poll under way: what it asks, and the one handle that cancels it, wherever it is. It belongs to the watcher's actor.
final class Poll {
    /// What remains of a poll beside the network thread.
    enum Rest {
        case read(FetchResult)
        case store(PollResult)
        case evaluate(TransitionResult)
    }

    let start: PollSchedule.Start
    let reader: PollReader
    var first: FirstRequest
    /// When its first request was sent.
    let startedAt: BootTime
    /// Taken out when it is done, so that a body has one holder.
    var rest: Rest?
    private var request: (any FetchHandle)?
    private var task: Task<Void, Never>?
    private var isCancelled = false
    /// Called when nothing of it remains.
    let ended: () -> Void

    var source: WatchedSource { start.source }
    /// In logs, `status` and events.
    var id: String { reader.id }

    init(_ start: PollSchedule.Start, _ reader: PollReader, at now: BootTime, ended: @escaping () -> Void) {
        (self.start, self.reader, startedAt, self.ended) = (start, reader, now, ended)
        first = reader.firstRequest()
    }

    /// Notes the request that it waits for.
    func noteRequest(_ request: any FetchHandle) {
        self.request = request
        if isCancelled { request.cancel() }
    }

    /// Notes the task that goes on with it.
    func noteTask(_ task: Task<Void, Never>) {
        (request, self.task) = (nil, task)
        if isCancelled { task.cancel() }
    }

    /// Cancels it, wherever it is: in the queue, at the server, in a child process, in a reader or before its commit.
    func cancel() {
        isCancelled = true
        request?.cancel()
        task?.cancel()
    }

    /// How a source with a stream is read after a result without records.
    func connectionPlan(after result: PollResult) -> ConnectionPlan {
        guard start.lane == .streams else { return ConnectionPlan(connection: start.polled.map { .polled($0) }) }
        return ConnectionPlan(
            connection: result.completeBody, reconnect: result.reconnect(source.source.interval))
    }
}
