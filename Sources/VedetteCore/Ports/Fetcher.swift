// SPDX-License-Identifier: Apache-2.0

/// Carries one request at a time per call; the only way out to the network, for polls and deliveries alike.
public protocol Fetcher: Sendable {
    /// Cancelling the calling task ends the transfer with `.cancelled`; cancelling a finished fetch does nothing.
    func fetch(_ request: Request) async throws(FetchError) -> Response
}

/// A transfer that brought no usable response.
public struct FetchError: Error, Sendable, Hashable {
    public var failure: Failure
    /// One clear sentence; it names the origin at most, never a path, query, header or credential.
    public var detail: String
    /// True when no byte of a response was seen before a deadline: the host's next poll runs in the suspects' lane.
    public var timedOut: Bool

    public init(_ failure: Failure, _ detail: String, timedOut: Bool = false) {
        (self.failure, self.detail, self.timedOut) = (failure, detail, timedOut)
    }
}
