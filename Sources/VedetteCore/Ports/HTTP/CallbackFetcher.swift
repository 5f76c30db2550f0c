// SPDX-License-Identifier: Apache-2.0

/// A fetcher that also calls back. A poll whose response is unchanged then needs no task.
public protocol CallbackFetcher: Fetcher {
    /// Sends the first request of a fetch. The caller runs on the fetcher's executor.
    ///
    /// - Parameter ended: called on that executor, once, after this function has returned.
    /// - Returns: nil when `fetch` must do it: something must be awaited first, such as a token, or the request cannot be sent.
    func send(_ request: Request, ended: @escaping @Sendable (FirstAnswer) -> Void) -> SentRequestID?

    /// Cancels a request that was sent; one that has ended is left alone.
    func cancel(_ id: SentRequestID) async
}
