// SPDX-License-Identifier: Apache-2.0

/// `how_many`: a bound for the number of items of a source that match.
public struct ItemCount: Sendable {
    /// The items that count, and their source.
    public var condition: SourceCondition
    /// The bound.
    public var bound: Threshold

    /// Creates a count.
    public init(_ condition: SourceCondition, bound: Threshold) { (self.condition, self.bound) = (condition, bound) }

    func isTrue(_ count: Int) -> Bool {
        switch bound {
        case .above(let bound): Double(count) > bound
        case .below(let bound): Double(count) < bound
        }
    }

    /// Returns the event of a message about a count.
    func event(_ count: Int, id: Identifier, at now: Timestamp) -> Event {
        var event = Event(
            id: id, kind: .elapsed, time: now, source: condition.source, sourceKind: Event.watcher, poll: "")
        event.summary = Event.Summary(count: count)
        event.summary?.title = MessageTitle.of(count, self)
        return event
    }
}
