// SPDX-License-Identifier: Apache-2.0

/// What is remembered of a source between polls: the head of its snapshot, its health and when it is due. Its items are
/// `StoredItem`s of their own.
public struct SourceRecord: Sendable, Hashable {
    public var name: String
    public var snapshot: SnapshotHead?
    public var health = Health()
    /// When the next poll is due, as wall time.
    public var due: Timestamp?
    /// The server asked for silence until then (Retry-After).
    public var notBefore: Timestamp?

    public init(name: String) { self.name = name }
}

/// The head of the last good observation.
public struct SnapshotHead: Sendable, Hashable {
    public var identity: UInt64
    public var fingerprints: [String: UInt64]
    /// Of the response it was read from: they are sent only while this snapshot stands.
    public var validators = Validators()
    /// Of the first page's body as received; nil when the poll had several pages.
    public var digest: UInt64?
    public var goodAt: Timestamp
    /// Items present, the remembered ones apart.
    public var count = 0
    /// Items of a list that were absent from one good poll: a second one makes them `disappeared`.
    public var pendingAbsences = 0
    /// The newest item time ever seen.
    public var newest: Timestamp?
    /// The oldest item time of the observation: what lies before it slid back into a window.
    public var oldest: Timestamp?
    /// A list that turned empty, not believed yet.
    public var emptiness: Emptiness?
    /// How many present items are in each state: what `while` and `status` ask for.
    public var states: [String: Int] = [:]

    public struct Emptiness: Sendable, Hashable {
        public var polls: Int
        public var since: Timestamp

        public init(polls: Int, since: Timestamp) { (self.polls, self.since) = (polls, since) }

        /// A person has said that it is true.
        public static let accepted = Emptiness(polls: .max / 2, since: Timestamp(milliseconds: 0))
    }

    public init(identity: UInt64, fingerprints: [String: UInt64], goodAt: Timestamp) {
        (self.identity, self.fingerprints, self.goodAt) = (identity, fingerprints, goodAt)
    }
}

/// An item of a snapshot as the journal keeps it: decoded only when its digest differs.
public struct StoredItem: Sendable, Hashable {
    public var key: String
    public var digest: UInt64
    /// Since when it has been absent; nil while it is present. Of a list: waiting for the second good poll. Of a window:
    /// remembered, so that its return is no news.
    public var absentSince: Timestamp?
    /// Since when it has had its state.
    public var stateSince: Timestamp
    /// `Item.json`.
    public var body: [UInt8]

    public init(key: String, digest: UInt64, absentSince: Timestamp?, stateSince: Timestamp, body: [UInt8]) {
        (self.key, self.digest, self.absentSince) = (key, digest, absentSince)
        (self.stateSince, self.body) = (stateSince, body)
    }

    public init(_ item: Item, digest: UInt64, stateSince: Timestamp) {
        self.init(key: item.key, digest: digest, absentSince: nil, stateSince: stateSince, body: item.json.bytes)
    }

    /// Nil when the row is not what this program wrote.
    public var item: Item? { (try? JSON(parsing: body)).flatMap(Item.init(json:)) }
}
