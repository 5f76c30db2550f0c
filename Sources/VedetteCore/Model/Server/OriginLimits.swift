// SPDX-License-Identifier: Apache-2.0

/// Limits of one origin. Of several servers with the same origin the strictest limits hold.
public struct OriginLimits: Sendable, Hashable {
    /// Requests in flight; nil for 8.
    public var concurrency: Int?
    /// The least time from the start of one request to the start of the next.
    public var interval: Duration?

    /// Creates limits.
    public init(concurrency: Int? = nil, interval: Duration? = nil) {
        (self.concurrency, self.interval) = (concurrency, interval)
    }
}
