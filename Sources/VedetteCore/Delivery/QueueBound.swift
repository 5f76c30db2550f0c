// SPDX-License-Identifier: Apache-2.0

/// How much may be pending for one sink.
public struct QueueBound: Sendable, Hashable {
    /// Which messages die when the bound is exceeded.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        /// The oldest ones.
        case dropOldest = "drop_oldest"
        /// The newest ones.
        case dropNewest = "drop_newest"
    }

    /// Messages.
    public var count = 250_000
    /// Bytes of texts and events.
    public var bytes: Int64 = 500_000_000
    /// Which messages die when the bound is exceeded.
    public var policy = Policy.dropOldest

    /// Creates the usual bound.
    public init() {}
}
