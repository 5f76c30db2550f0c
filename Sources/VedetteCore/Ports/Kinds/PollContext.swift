// SPDX-License-Identifier: Apache-2.0

/// What a kind can use from the last good poll to build a request.
public struct PollContext: Sendable {
    /// The newest item time seen so far; nil before the first good poll.
    public var newest: Timestamp?
    /// The time of the request.
    public var now: Timestamp

    /// Creates a context.
    public init(newest: Timestamp? = nil, now: Timestamp = Timestamp(milliseconds: 0)) {
        (self.newest, self.now) = (newest, now)
    }
}
