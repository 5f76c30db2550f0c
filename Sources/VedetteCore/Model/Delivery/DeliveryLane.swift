// SPDX-License-Identifier: Apache-2.0

/// A source and a sink. Messages of one lane are sent in order (I6).
public struct DeliveryLane: Sendable, Hashable {
    /// The source's name.
    public var source: String
    /// The sink's name.
    public var sink: String

    /// Creates a lane.
    public init(source: String, sink: String) { (self.source, self.sink) = (source, sink) }
}
