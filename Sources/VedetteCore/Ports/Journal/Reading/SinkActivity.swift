// SPDX-License-Identifier: Apache-2.0

/// What a sink delivered lately.
public struct SinkActivity: Sendable, Hashable {
    public var sink: String
    /// Messages sent since the time that was asked for.
    public var sent: Int
    /// When the last message was sent, whenever that was; nil for none that is kept.
    public var lastSentAt: Timestamp?
    /// When the newest of the dead messages died; nil when none is dead.
    public var lastDeadAt: Timestamp?
    /// Why that one died.
    public var lastDeadReason: String?

    public init(
        sink: String, sent: Int = 0, lastSentAt: Timestamp? = nil, lastDeadAt: Timestamp? = nil,
        lastDeadReason: String? = nil
    ) {
        (self.sink, self.sent, self.lastSentAt) = (sink, sent, lastSentAt)
        (self.lastDeadAt, self.lastDeadReason) = (lastDeadAt, lastDeadReason)
    }
}
