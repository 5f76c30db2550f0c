// SPDX-License-Identifier: Apache-2.0

/// How both stores keep an event.
public enum EventRow {
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
