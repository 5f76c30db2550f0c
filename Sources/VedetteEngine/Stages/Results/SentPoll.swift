// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A poll that so far is one request, without a task.
struct SentPoll {
    /// The poll's id.
    let id: String
    let start: PollSchedule.Start
    let prepared: PreparedRequest
    let sentAt: BootTime
    /// Whether the request has validators, so that a 304 answers it.
    let hasValidators: Bool
    let fetcher: any CallbackFetcher
    let request: SentRequestID

    /// Cancels the request. The fetcher calls back later, never from here.
    func cancel() { Task { [fetcher, request] in await fetcher.cancel(request) } }
}
