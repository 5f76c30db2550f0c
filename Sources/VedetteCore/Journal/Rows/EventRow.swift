// SPDX-License-Identifier: Apache-2.0

/// How both stores keep an event.
public enum EventRow {
    /// Where an event is: its number, and the length of its body in bytes.
    public struct Place: Sendable {
        public var seq: Int64
        public var bytes: Int

        public init(seq: Int64, bytes: Int) { (self.seq, self.bytes) = (seq, bytes) }
    }

    /// Events that `explain` offers for the beginning of an id, at most.
    public static let maximumMatching = 10

    /// Reads the body of an event.
    public static func decode(_ body: [UInt8]) throws(UnreadableRow) -> Event {
        guard let json = try? JSON(parsing: body), let event = Event(json: json) else {
            throw UnreadableRow("an event's row is unreadable")
        }
        return event
    }
}
