// SPDX-License-Identifier: Apache-2.0

/// What a commit wrote.
public struct CommitResult: Sendable {
    /// One for each `PollRecord`, in order.
    public var polls: [Committed]
    /// What the commit ended to keep the bounds of queues, of this commit and of earlier ones.
    public var eviction: Eviction

    public init(polls: [Committed], eviction: Eviction = Eviction()) {
        (self.polls, self.eviction) = (polls, eviction)
    }
}
