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
        /// A test message of `vedette send`; never journalled.
        case test = "io.vedette.sink.test"

        public var isAboutItem: Bool {
            switch self {
            case .appeared, .changed, .disappeared: true
            default: false
            }
        }

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

    public struct Problem: Sendable, Hashable {
        public var failure: String
        public var detail: String

        public init(failure: String, detail: String) { (self.failure, self.detail) = (failure, detail) }
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
