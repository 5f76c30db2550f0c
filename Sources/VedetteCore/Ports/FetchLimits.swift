// SPDX-License-Identifier: Apache-2.0

/// The limits of I8 on one transfer.
public struct FetchLimits: Sendable, Hashable {
    /// Bytes of the body as received.
    public var received = 16 << 20
    /// Bytes of the body once inflated.
    public var inflated = 32 << 20
    /// Bytes of all response headers of one response.
    public var headers = 64 << 10
    public var connect = Duration.seconds(10)
    public var firstByte = Duration.seconds(30)
    /// Below 64 bytes a second for this long ends the transfer.
    public var lowSpeed = Duration.seconds(20)
    public var total = Duration.seconds(120)

    public init() {}
}
