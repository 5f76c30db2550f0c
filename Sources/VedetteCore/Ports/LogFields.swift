// SPDX-License-Identifier: Apache-2.0

/// What a log line is about.
public struct LogFields: Sendable, Hashable {
    public var source: String?
    /// The id of a poll.
    public var poll: String?
    public var sink: String?
    /// The id of a message.
    public var message: String?

    public init(source: String? = nil, poll: String? = nil, sink: String? = nil, message: String? = nil) {
        (self.source, self.poll, self.sink, self.message) = (source, poll, sink, message)
    }
}
