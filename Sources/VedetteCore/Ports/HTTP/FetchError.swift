// SPDX-License-Identifier: Apache-2.0

/// The failure of a transfer without a usable response.
public struct FetchError: Error, Sendable, Hashable {
    /// The class of the failure.
    public var failure: Failure
    /// One sentence for a user. It contains the origin at most, never a path, query, header or credential.
    public var detail: String
    /// Whether a deadline passed before the first byte of a response: the next poll of the host runs in the lane `.slowHosts`.
    public var timedOut: Bool
    /// How long the server of a login or token wants no other request (Retry-After); nil where it did not say.
    public var retryAfter: Duration?

    /// Creates an error.
    public init(_ failure: Failure, _ detail: String, timedOut: Bool = false) {
        (self.failure, self.detail, self.timedOut) = (failure, detail, timedOut)
    }
}
