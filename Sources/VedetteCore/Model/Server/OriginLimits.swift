// SPDX-License-Identifier: Apache-2.0

/// Limits of one origin. Of several servers with the same origin the strictest limits hold.
public struct OriginLimits: Sendable, Hashable {
    /// The most requests in flight to one origin, so the most connections, too.
    public static let maximumConcurrency = 8

    /// Requests in flight; nil for `maximumConcurrency`.
    public var concurrency: Int?
    /// The least time from the start of one request to the start of the next.
    public var interval: Duration?

    /// Creates limits.
    public init(concurrency: Int? = nil, interval: Duration? = nil) {
        (self.concurrency, self.interval) = (concurrency, interval)
    }
}
