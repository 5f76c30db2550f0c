// SPDX-License-Identifier: Apache-2.0

/// Somebody asked not to hear of something: `snooze` until a time or a state, `mute` until it is ended. All that it
/// names must fit.
public struct Silence: Sendable, Hashable {
    /// The journal's number; 0 until it is committed.
    public var id: Int64
    public var rule: String?
    public var source: String?
    /// An item's key or title.
    public var item: String?
    /// As wall time; nil for no end.
    public var until: Timestamp?
    /// Ends it: a state of an item that it fits.
    public var untilState: String?
    public var created: Timestamp

    public init(
        id: Int64 = 0, rule: String? = nil, source: String? = nil, item: String? = nil, until: Timestamp? = nil,
        untilState: String? = nil, created: Timestamp
    ) {
        (self.id, self.rule, self.source, self.item) = (id, rule, source, item)
        (self.until, self.untilState, self.created) = (until, untilState, created)
    }

    public func isOver(at wall: Timestamp) -> Bool { until.map { $0 <= wall } ?? false }

    /// Whether it keeps that rule from speaking of that event.
    public func covers(rule name: String, _ event: Event, at wall: Timestamp) -> Bool {
        !isOver(at: wall) && (rule == nil || rule == name) && fits(event)
    }

    /// Whether the event brings the state that ends it, or says that the item is gone, so that it never will come.
    public func isEnded(by event: Event) -> Bool {
        guard let untilState, fits(event) else { return false }
        return event.item?.state == untilState || (item != nil && event.kind == .disappeared)
    }

    private func fits(_ event: Event) -> Bool {
        (source == nil || source == event.source)
            && (item == nil || item == event.item?.key || item == event.item?.title)
    }

    /// `rule 'x' of source 'y', until 2026-11-21T02:00:00.000Z`
    public var description: String {
        let parts = [("rule", rule), ("source", source), ("item", item)].compactMap { word, name in
            name.map { "\(word) '\($0)'" }
        }
        let end = until.map { ", until \($0.rfc3339)" } ?? untilState.map { ", until '\($0)'" } ?? ""
        return (parts.isEmpty ? "everything" : parts.joined(separator: ", ")) + end
    }
}
