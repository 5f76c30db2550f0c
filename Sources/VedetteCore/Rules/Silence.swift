// SPDX-License-Identifier: Apache-2.0

/// A silence that a person set: `snooze` until a time or a state, `mute` until it is removed. It suppresses a message when
/// everything that it names matches.
public struct Silence: Sendable, Hashable {
    /// How long `vedette snooze` silences when no end is named, and the button of a notification.
    public static let usualLength = Duration.seconds(3600)

    /// The row id in the journal; 0 until it is committed.
    public var id: Int64
    /// A rule's name; nil for every rule.
    public var rule: String?
    /// A source's name; nil for every source.
    public var source: String?
    /// An item's key or title; nil for every item.
    public var item: String?
    /// The end as wall time; nil for none.
    public var until: Timestamp?
    /// The state that ends the silence when a matching item reaches it.
    public var untilState: String?
    /// The only sink that it silences; nil for every sink.
    public var sink: String?
    /// Whether what it held is not announced at its end.
    public var drops: Bool
    /// When it was set.
    public var created: Timestamp

    /// Creates a silence.
    public init(
        id: Int64 = 0, rule: String? = nil, source: String? = nil, item: String? = nil, until: Timestamp? = nil,
        untilState: String? = nil, sink: String? = nil, drops: Bool = false, created: Timestamp
    ) {
        (self.id, self.rule, self.source, self.item) = (id, rule, source, item)
        (self.until, self.untilState, self.created) = (until, untilState, created)
        (self.sink, self.drops) = (sink, drops)
    }

    /// Returns whether its end has passed.
    public func isOver(at wall: Timestamp) -> Bool { until.map { $0 <= wall } ?? false }

    /// Returns whether it suppresses the messages of this rule about this event, for its sink.
    public func covers(rule name: String, _ event: Event, at wall: Timestamp) -> Bool {
        !isOver(at: wall) && (rule == nil || rule == name) && matches(event)
    }

    /// Returns whether the event ends the silence: the item reached the state, or it is gone and never will.
    public func isEnded(by event: Event) -> Bool {
        guard let untilState, matches(event) else { return false }
        return event.item?.state == untilState || (item != nil && event.kind == .disappeared)
    }

    private func matches(_ event: Event) -> Bool {
        (source == nil || source == event.source)
            && (item == nil || item == event.item?.key || item == event.item?.title)
    }

    /// The silence as `silences` and `explain` print it: `rule 'x', source 'y', until 2026-11-21T02:00:00.000Z`.
    public var description: String {
        let parts = [("rule", rule), ("source", source), ("item", item), ("sink", sink)].compactMap { word, name in
            name.map { "\(word) '\($0)'" }
        }
        let end = until.map { ", until \($0.rfc3339)" } ?? untilState.map { ", until '\($0)'" } ?? ""
        return (parts.isEmpty ? "everything" : parts.joined(separator: ", ")) + end
    }
}
