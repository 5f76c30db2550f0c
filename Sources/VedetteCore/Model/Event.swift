// SPDX-License-Identifier: Apache-2.0

/// One difference between two snapshots, or a change in a source's own health.
public struct Event: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case appeared = "io.vedette.item.appeared"
        case changed = "io.vedette.item.changed"
        case disappeared = "io.vedette.item.disappeared"
        case failing = "io.vedette.source.failing"
        case recovered = "io.vedette.source.recovered"
        case stale = "io.vedette.source.stale"
        case suspect = "io.vedette.source.suspect"
        /// No source can be reached; about the watcher itself.
        case offline = "io.vedette.watcher.offline"
        case online = "io.vedette.watcher.online"
        /// A `stays` rule's time has passed; of a rule, never journalled as an event of its own.
        case elapsed = "io.vedette.rule.elapsed"
        /// Several events in one message; of a rule.
        case digest = "io.vedette.rule.digest"
        /// It is still so; of a rule.
        case reminder = "io.vedette.rule.reminder"
        /// A sink refuses us: it rests until a person acts.
        case paused = "io.vedette.sink.paused"
        /// A sink is gone for good; as paused.
        case disabled = "io.vedette.sink.disabled"
        /// A test message of `vedette send`; never journalled.
        case test = "io.vedette.sink.test"

        public var isAboutItem: Bool {
            switch self {
            case .appeared, .changed, .disappeared: true
            default: false
            }
        }

        /// About the machine that watches: such an event names no configured source.
        public var isAboutWatcher: Bool { self == .offline || self == .online }

        /// About a sink: `source` is its name.
        public var isAboutSink: Bool { self == .paused || self == .disabled }

        /// The last word of the type: `changed`.
        public var word: String { String(rawValue.split(separator: ".").last ?? "") }
    }

    public var id: Identifier
    /// Grows by one per event in one journal; 0 until it is committed.
    public var seq: Int64
    public var kind: Kind
    public var time: Timestamp
    public var source: String
    public var sourceKind: String
    public var poll: String
    /// Of an item event: as it is now, or for `disappeared` as it was last seen.
    public var item: Item?
    public var changes: [FieldChange]
    /// Of a source event: the failure's name and what happened.
    public var error: Problem?
    /// Of a rule's message without one event of its own.
    public var summary: Summary?

    /// What `source` and `sourceKind` of an event about the watcher itself say.
    public static let watcher = "watcher"

    /// What `sourceKind` of an event about a sink says.
    public static let sink = "sink"

    /// What a rule's message speaks of.
    public struct Summary: Sendable, Hashable {
        /// Ids of its events, the first ones.
        public var events: [String]
        /// How many there are.
        public var count: Int
        /// A line on each, the first ones.
        public var lines: [String]
        /// Of `elapsed` and `reminder`: seconds since it became so.
        public var stood: Double?

        public init(events: [String] = [], count: Int = 1, lines: [String] = [], stood: Double? = nil) {
            (self.events, self.count, self.lines, self.stood) = (events, count, lines, stood)
        }
    }

    public struct Problem: Sendable, Hashable {
        public var failure: String
        public var detail: String
        /// The configured server that the source is on, for several sources share one; nil for a source of its own.
        public var server: String?

        public init(failure: String, detail: String, server: String? = nil) {
            (self.failure, self.detail, self.server) = (failure, detail, server)
        }
    }

    public init(
        id: Identifier, seq: Int64 = 0, kind: Kind, time: Timestamp, source: String, sourceKind: String, poll: String,
        item: Item? = nil, changes: [FieldChange] = [], error: Problem? = nil
    ) {
        (self.id, self.seq, self.kind, self.time) = (id, seq, kind, time)
        (self.source, self.sourceKind, self.poll) = (source, sourceKind, poll)
        (self.item, self.changes, self.error) = (item, changes, error)
    }
}
