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

/// Identifies a request that `CallbackFetcher.send` sent.
public struct SentRequestID: Sendable, Hashable {
    /// A number that the fetcher gives to one request only.
    public let number: UInt64

    /// Creates an identifier.
    public init(_ number: UInt64) { self.number = number }
}

/// How the first request of a fetch ended.
public enum FirstAnswer: Sendable {
    /// The response `isUnchanged`: it answers the conditions of the request, and has no body.
    case unchanged(Response)
    /// Anything else: a body, a redirect, an error.
    case other(any PendingResponse)
}

/// A fetch whose first request has ended.
public protocol PendingResponse: Sendable {
    /// Finishes the fetch, as `Fetcher.fetch` does, and returns the final response. It may be called once.
    func response() async throws(FetchError) -> Response
}
