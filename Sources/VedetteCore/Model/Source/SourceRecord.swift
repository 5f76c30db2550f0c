// SPDX-License-Identifier: Apache-2.0

/// The state of a source between polls: the head of its snapshot, its health, and when it is due. Its items are separate
/// rows (`StoredItem`).
public struct SourceRecord: Sendable, Hashable {
    /// The source's name.
    public var name: String
    /// The head of the last good observation; nil before the first.
    public var snapshot: SnapshotHead?
    /// Consecutive failures and their causes.
    public var health = Health()
    /// When the next poll is due, as wall time.
    public var due: Timestamp?
    /// `PollInterval.digest` of the interval that `due` was computed from; nil when that is unknown.
    public var intervalDigest: UInt64?
    /// The wall time before which the server wants no request (Retry-After).
    public var notBefore: Timestamp?
    /// The digest of the URL that both times belong to; nil before the first poll.
    public var urlDigest: UInt64?
    /// How a source with a stream is read at present; nil for a source without one, and between two connections.
    public var connection: Connection?
    /// The address to which the server has moved the source for good, without a secret; nil for none.
    public var movedTo: String?

    /// How a source with a stream is read.
    public enum Connection: Sendable, Hashable {
        /// Over a kept connection; it has no due time.
        case open
        /// By polls, for this reason.
        case polled(String)
    }

    /// The record of a source that was never polled.
    public init(name: String) { self.name = name }

    /// Moves the stored times after the wall clock was set, so that intervals keep their length.
    public mutating func wallClockJumped(by jump: Duration) {
        due = due?.advanced(by: jump)
        notBefore = notBefore?.advanced(by: jump)
        health.failingSince = health.failingSince?.advanced(by: jump)
        health.doubtedSince = health.doubtedSince?.advanced(by: jump)
        health.lastPollAt = health.lastPollAt?.advanced(by: jump)
        guard let emptiness = snapshot?.emptiness, emptiness != .accepted else { return }
        snapshot?.emptiness?.since = emptiness.since.advanced(by: jump)
    }
}
