// SPDX-License-Identifier: Apache-2.0

/// Sends HTTP requests, for polls and deliveries alike.
public protocol Fetcher: Sendable {
    /// Sends a request, follows its redirects, and returns the final response, of any status.
    ///
    /// Cancelling the calling task ends the transfer with `.cancelled`; cancelling a finished fetch does nothing.
    func fetch(_ request: Request) async throws(FetchError) -> Response
}

/// The failure of a transfer without a usable response.
public struct FetchError: Error, Sendable, Hashable {
    /// The class of the failure.
    public var failure: Failure
    /// One sentence for a user. It contains the origin at most, never a path, query, header or credential.
    public var detail: String
    /// Whether a deadline passed before the first byte of a response: the next poll of the host runs in the lane `.slowHosts`.
    public var timedOut: Bool

    /// Creates an error.
    public init(_ failure: Failure, _ detail: String, timedOut: Bool = false) {
        (self.failure, self.detail, self.timedOut) = (failure, detail, timedOut)
    }
}

/// Stores the cookies of `CookiePolicy.journal` over restarts.
public protocol CookieStore: Sendable {
    /// Returns the stored jar of a session; nil when there is none, or when it cannot be read.
    func cookies(of session: String) async -> [UInt8]?

    /// Replaces the stored jar of a session. A jar has credentials, so only its owner may be able to read the store.
    ///
    /// - Parameter jar: JSON text, at most about 250 KB.
    func keep(_ jar: [UInt8], of session: String) async
}
