// SPDX-License-Identifier: Apache-2.0

/// One record of a stream as received: the data of a server-sent event, or a line.
public struct StreamRecord: Sendable, Hashable {
    /// The bytes. Empty for an event that only sets the id.
    public var data: [UInt8]
    /// The name of the server-sent event; `message` when it has none, and for lines.
    public var event: String
    /// The last event id when the event was complete (WHATWG HTML §9.2.6); nil for lines and before the first id. Empty once
    /// the server has reset it.
    public var id: String?

    /// Creates a record.
    public init(_ data: [UInt8], event: String = "message", id: String? = nil) {
        (self.data, self.event, self.id) = (data, event, id)
    }
}
