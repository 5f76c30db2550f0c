// SPDX-License-Identifier: Apache-2.0

/// The limits on one transfer (I8).
public struct FetchLimits: Sendable, Hashable {
    /// Redirects that are followed, unless a request says otherwise.
    public static let redirects = 5

    /// Bytes of the body as received.
    public var received = 16 << 20
    /// Bytes of the decoded body.
    public var inflated = 32 << 20
    /// Bytes of all response headers of one response.
    public var headers = 64 << 10
    /// Time to connect, with the TLS handshake.
    public var connect = Duration.seconds(10)
    /// Time from the start to the first byte of the response.
    public var firstByte = Duration.seconds(30)
    /// A transfer slower than 64 bytes a second for this time ends.
    public var lowSpeed = Duration.seconds(20)
    /// Time from the start to the last byte.
    public var total = Duration.seconds(120)

    public init() {}
}
