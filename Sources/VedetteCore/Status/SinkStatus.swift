// SPDX-License-Identifier: Apache-2.0

/// A sink as `status` shows it.
public struct SinkStatus: Sendable {
    /// The oldest message that waits for another attempt.
    public struct Waiting: Sendable, Hashable {
        /// Why its last attempt failed.
        public var reason: String
        /// When the next one is due.
        public var due: Timestamp

        /// Creates what waits.
        public init(reason: String, due: Timestamp) { (self.reason, self.due) = (reason, due) }
    }

    /// The name of the sink.
    public let name: String
    /// Whether the receiver's certificate is not verified.
    public var isInsecure = false
    /// How many messages are pending or dead.
    public var count: SinkCount
    /// What it delivered lately.
    public var activity: SinkActivity
    /// Set while it takes no messages until a person acts.
    public var stop: StoppedSink?
    /// Nil when none waits.
    public var waiting: Waiting?

    /// Creates a sink without messages.
    public init(name: String) {
        self.name = name
        (count, activity) = (SinkCount(sink: name), SinkActivity(sink: name))
    }
}
