// SPDX-License-Identifier: Apache-2.0

/// A source, a sink and a priority. Messages of one lane are sent in order (I6).
public struct DeliveryLane: Sendable, Hashable {
    /// The source's name.
    public var source: String
    /// The sink's name.
    public var sink: String

    /// The priority of its messages.
    public var priority: Priority

    /// Creates a lane.
    public init(source: String, sink: String, priority: Priority = .normal) {
        (self.source, self.sink, self.priority) = (source, sink, priority)
    }

    /// The lanes of the same source and sink with other priorities.
    var siblings: [DeliveryLane] {
        Priority.allCases.filter { $0 != priority }.map { DeliveryLane(source: source, sink: sink, priority: $0) }
    }
}

/// A pending delivery by its lane and its id.
public struct DeliveryPlace: Sendable, Hashable {
    /// The lane that it is in.
    public var lane: DeliveryLane
    /// Its row id in the journal.
    public var id: Int64

    /// Creates a place.
    public init(lane: DeliveryLane, id: Int64) { (self.lane, self.id) = (lane, id) }
}
