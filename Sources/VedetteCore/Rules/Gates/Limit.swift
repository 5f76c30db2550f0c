// SPDX-License-Identifier: Apache-2.0

/// At most `count` messages in a sliding window. What exceeds it ends in one message with the latest state.
public struct Limit: Sendable, Hashable {
    /// Messages per window.
    public var count: Int
    /// Length of the window.
    public var per: Duration
    /// Which messages count together.
    public var by: Grouping

    /// Creates a limit.
    public init(count: Int, per: Duration, by: Grouping = .item) { (self.count, self.per, self.by) = (count, per, by) }
}
