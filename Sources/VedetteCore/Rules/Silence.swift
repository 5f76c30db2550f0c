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
    /// A source's name, or a glob of names; nil for every source.
    public var source: String?
    /// An item's key or title; nil for every item.
    public var item: String?
    /// Patterns of the item's values, all of which must match.
    public var fields: [FieldPattern] = []
    /// When it begins, as wall time; nil where it was in force at once.
    public var from: Timestamp?
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

    /// `--where`: a field, measure or note of an item, or `key`, `title`, `state` or `url`, whose value matches a glob.
    public struct FieldPattern: Sendable, Hashable {
        /// The name as in `item.NAME`.
        public var name: String
        /// The glob as it was written.
        public var glob: String

        /// Reads `NAME=GLOB`; returns nil without a name.
        public init?(_ text: String) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            (name, glob) = (String(parts[0]), String(parts[1]))
        }

        /// `NAME=GLOB`.
        public var text: String { "\(name)=\(glob)" }

        /// Returns whether an item has the value.
        public func matches(_ item: Item) -> Bool {
            // A glob has no match limit.
            item[name].map { (try? ValueMatcher.glob(Glob(glob)).matches($0)) ?? false } ?? false
        }
    }

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

    /// Returns whether it has begun.
    public func hasBegun(at wall: Timestamp) -> Bool { from.map { $0 <= wall } ?? true }

    /// Returns whether it suppresses the messages of this rule about this event, for its sink.
    public func covers(_ rule: Rule, _ event: Event, at wall: Timestamp) -> Bool {
        hasBegun(at: wall) && !isOver(at: wall) && covers(rule) && matches(event)
    }

    /// Returns whether it names a rule, by its name or its former one, or names none.
    public func covers(_ rule: Rule) -> Bool {
        self.rule == nil || self.rule == rule.name || self.rule == rule.formerName
    }

    /// Returns whether the event ends the silence: the item reached the state, or it is gone and never will.
    public func isEnded(by event: Event) -> Bool {
        guard let untilState, hasBegun(at: event.time), matches(event) else { return false }
        return event.item?.state == untilState || (item != nil && event.kind == .disappeared)
    }

    /// Returns whether it names a source, or names none.
    public func covers(source name: String) -> Bool {
        source.map { $0 == name || (Glob.isGlob($0) && Glob($0).matches(name)) } ?? true
    }

    private func matches(_ event: Event) -> Bool {
        (source == nil || event.isOnly(of: covers))
            && (item == nil || item == event.item?.key || item == event.item?.title)
            && fields.allSatisfy { pattern in event.item.map(pattern.matches) ?? false }
    }

    /// The silence as `silences` and `explain` print it: `rule 'x', source 'y', until 2026-11-21T02:00:00.000Z`.
    public var description: String {
        let parts =
            [("rule", rule), ("source", source), ("item", item), ("sink", sink)].compactMap { word, name in
                name.map { "\(word) '\($0)'" }
            } + fields.map { "where '\($0.text)'" }
        let start = from.map { ", from \($0.rfc3339)" } ?? ""
        let end = until.map { ", until \($0.rfc3339)" } ?? untilState.map { ", until '\($0)'" } ?? ""
        return (parts.isEmpty ? "everything" : parts.joined(separator: ", ")) + start + end
    }
}

extension Event {
    /// Whether it is about these sources alone. A digest is in the lane of one source, and can list others.
    fileprivate func isOnly(of isNamed: (String) -> Bool) -> Bool {
        guard kind == .digest, let parts = summary?.parts, !parts.isEmpty else { return isNamed(source) }
        return parts.allSatisfy { isNamed($0.source) }
    }
}
