// SPDX-License-Identifier: Apache-2.0

/// One difference between two snapshots, or a change in a source's own health.
public struct Event: Sendable, Hashable {
    /// The type of an event, as CloudEvents have it. The raw values never change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An item is new.
        case appeared = "io.vedette.item.appeared"
        /// Fields of an item changed.
        case changed = "io.vedette.item.changed"
        /// An item is gone from a list.
        case disappeared = "io.vedette.item.disappeared"
        /// Polls of a source fail.
        case failing = "io.vedette.source.failing"
        /// A poll was good after `failing` or `stale`.
        case recovered = "io.vedette.source.recovered"
        /// A source had no good poll for long.
        case stale = "io.vedette.source.stale"
        /// A source's list is implausible, and its snapshot is kept.
        case suspect = "io.vedette.source.suspect"
        /// Events of one poll beyond the first 10,000, with counts and samples. Their items are stored.
        case burst = "io.vedette.source.burst"
        /// No source can be reached.
        case offline = "io.vedette.watcher.offline"
        /// A source can be reached again.
        case online = "io.vedette.watcher.online"
        /// Watchers that share a journal have different configurations.
        case unequal = "io.vedette.watcher.unequal"
        /// They have the same configuration again.
        case equal = "io.vedette.watcher.equal"
        /// The time of a `stays` rule has passed. Made by a rule, never stored as an event of its own.
        case elapsed = "io.vedette.rule.elapsed"
        /// Several events in one message. Made by a rule.
        case digest = "io.vedette.rule.digest"
        /// A match is still true. Made by a rule.
        case reminder = "io.vedette.rule.reminder"
        /// A match that a rule announced is over. Made by a rule.
        case resolved = "io.vedette.rule.resolved"
        /// A rule could not be evaluated against events of a poll. Made by the rule.
        case ruleFailed = "io.vedette.rule.failed"
        /// A sink refuses our messages, and is paused until a person acts.
        case paused = "io.vedette.sink.paused"
        /// A sink is gone for good, and is paused until a person acts.
        case disabled = "io.vedette.sink.disabled"
        /// A test message of `vedette send`; never stored.
        case test = "io.vedette.sink.test"
        /// A type that this version does not know: a newer one stored the event. No rule matches it; see
        /// `Event.unknownType`.
        case unknown = "io.vedette.unknown"

        /// The types that a journal's events have, as far as this version knows them.
        public static let stored = allCases.filter { !$0.isMadeForMessage && $0 != .unknown }

        /// Whether a rule or a command makes it for a message, so that no event of the journal has it.
        public var isMadeForMessage: Bool {
            switch self {
            case .elapsed, .digest, .reminder, .resolved, .ruleFailed, .test: true
            default: false
            }
        }

        /// Whether the event is about the watcher itself, so that it names no configured source.
        public var isAboutWatcher: Bool { [.offline, .online, .unequal, .equal].contains(self) }

        /// Whether the event is about a sink; then `source` is the sink's name.
        public var isAboutSink: Bool { self == .paused || self == .disabled }

        /// The last word of the type: `changed`.
        public var word: String { String(rawValue.split(separator: ".").last ?? "") }
    }

    /// Never changes, not over retries or restarts (I4).
    public var id: Identifier
    /// The number of the event in its journal, one higher than the event before; 0 until it is committed.
    public var seq: Int64
    /// The type.
    public var kind: Kind
    /// The type as it is stored, where `kind` is `unknown`; nil otherwise.
    public var unknownType: String?
    /// When the poll that found it ended.
    public var time: Timestamp
    /// The name of the source, or of a sink.
    public var source: String
    /// The name of the source's kind.
    public var sourceKind: String
    /// The id of the poll; empty when no poll found it.
    public var poll: String
    /// The item as it is now, or for `disappeared` as it was last seen; nil when the event is not about an item.
    public var item: Item?
    /// The fields that changed.
    public var changes: [FieldChange]
    /// The failure; nil when the event is not about one.
    public var error: Problem?
    /// What a rule's message is about when it has no event of its own.
    public var summary: Summary?

    /// The type, as CloudEvents have it.
    public var type: String { unknownType ?? kind.rawValue }

    /// `source` and `sourceKind` of an event about the watcher itself.
    public static let watcher = "watcher"

    /// `sourceKind` of an event about a sink.
    public static let sink = "sink"

    /// The events that a rule's message is about.
    public struct Summary: Sendable, Hashable {
        /// The ids of the first events.
        public var events: [String]
        /// The number of all events.
        public var count: Int
        /// A line for each of the first events.
        public var lines: [String]
        /// A web address for each line, empty where its item has none.
        public var links: [String] = []
        /// Seconds since the match became true, for `elapsed`, `reminder` and `resolved`.
        public var stood: Double?
        /// The kind of the event that a reminder repeats.
        public var cause: Kind?
        /// The title of a message about several subjects, or about the end of a match; nil for the usual one.
        public var title: String?
        /// The value of the field by which a message about several is grouped; nil for none.
        public var group: String?
        /// What was said of the match that is over; nil for nothing.
        @Indirect public var acknowledgement: Acknowledgement?
        /// The subjects of a message about several: at most 1,000, each at its latest state.
        public var parts: [Part] = []

        /// The events that the message is about, each with the text to show where it is not stored any more.
        public var subjects: [(event: String, text: String)] {
            guard parts.isEmpty else {
                return parts.map { part in
                    let name = part.title ?? part.key ?? part.source
                    return (part.event, "\(part.source)  \(name)  \(part.state ?? part.kind)")
                }
            }
            return events.indices.map { (events[$0], $0 < lines.count ? lines[$0] : events[$0]) }
        }

        /// One subject of several.
        public struct Part: Sendable, Hashable {
            /// The id of the event; of an end, the id of the one that began the match.
            public var event: String
            /// The last word of the event's type.
            public var kind: String
            /// The source.
            public var source: String
            /// The key of the item; nil for the source itself.
            public var key: String?
            /// The title of the item.
            public var title: String?
            /// The state of the item, or why the source fails.
            public var state: String?
            /// Whether the match was over before it was told.
            public var isOver = false

            /// Whether it is over, told before or not.
            public var tellsEnd: Bool { isOver || kind == Kind.resolved.word }

            /// Whether it tells the end of a match that was told before.
            public var announcesEnd: Bool { Kind.ends.contains { $0.word == kind } }

            /// Creates a part.
            public init(
                event: String, kind: String, source: String, key: String? = nil, title: String? = nil,
                state: String? = nil
            ) {
                (self.event, self.kind, self.source) = (event, kind, source)
                (self.key, self.title, self.state) = (key, title, state)
            }
        }

        /// Creates a summary.
        public init(
            events: [String] = [], count: Int = 1, lines: [String] = [], stood: Double? = nil, cause: Kind? = nil
        ) {
            (self.events, self.count, self.lines) = (events, count, lines)
            (self.stood, self.cause) = (stood, cause)
        }
    }

    /// A failure.
    public struct Problem: Sendable, Hashable {
        /// The name of its class: a raw value of `Failure` for a source.
        public var failure: String
        /// What happened, in one sentence.
        public var detail: String
        /// The configured server of the source; nil when the source has a URL of its own.
        public var server: String?
        /// How long it lasted in seconds, once it is over.
        public var lasted: Double?

        /// Creates a problem.
        public init(failure: String, detail: String, server: String? = nil) {
            (self.failure, self.detail, self.server) = (failure, detail, server)
        }
    }

    /// Creates an event.
    public init(
        id: Identifier, seq: Int64 = 0, kind: Kind, time: Timestamp, source: String, sourceKind: String, poll: String,
        item: Item? = nil, changes: [FieldChange] = [], error: Problem? = nil
    ) {
        (self.id, self.seq, self.kind, self.time) = (id, seq, kind, time)
        (self.source, self.sourceKind, self.poll) = (source, sourceKind, poll)
        (self.item, self.changes, self.error) = (item, changes, error)
    }
}

extension Event.Kind {
    /// Whether it announces the end of what was announced before: a match is over, a source or the network is back.
    var isEnd: Bool { Event.Kind.ends.contains(self) }

    fileprivate static let ends: [Event.Kind] = [.resolved, .recovered, .online]
}

extension [Event.Summary.Part] {
    /// The last part of each subject, in the order of the first ones.
    public var latest: [Event.Summary.Part] {
        var places: [[String?]: Int] = [:]
        return reduce(into: []) { latest, part in
            if let place = places[[part.source, part.key]] {
                latest[place] = part
            } else {
                places[[part.source, part.key]] = latest.count
                latest.append(part)
            }
        }
    }
}

extension Event {
    /// Whether it announces the end of what was announced before, of all its subjects where it has several.
    public var isEnd: Bool {
        let parts = kind == .digest ? summary?.parts ?? [] : []
        return kind.isEnd || !parts.isEmpty && parts.allSatisfy(\.announcesEnd)
    }

    /// The id of the event that began the match which it tells; nil for an end, and for several matches.
    public var toldMatch: String? {
        if kind == .reminder, summary?.parts.isEmpty == true { return summary?.events.first }
        return isEnd || [.reminder, .digest, .ruleFailed, .test].contains(kind) ? nil : id.description
    }

    /// Returns the change of a field, else of the state, else the first.
    public func mainChange(of field: String? = nil) -> FieldChange? {
        field.flatMap(change) ?? changes.first { $0.field == "state" } ?? changes.first
    }
}
