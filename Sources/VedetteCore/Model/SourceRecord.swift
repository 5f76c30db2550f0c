// SPDX-License-Identifier: Apache-2.0

/// The state of a source between polls: the head of its snapshot, its health, and when it is due. Its items are separate
/// rows (`StoredItem`).
public struct SourceRecord: Sendable, Hashable {
    /// The source's name.
    public var name: String
    /// The head of the last good observation; nil before the first.
    public var snapshot: SnapshotHead?
    /// Consecutive failures and their causes.
    public var health = Health()
    /// When the next poll is due, as wall time.
    public var due: Timestamp?
    /// The wall time before which the server wants no request (Retry-After).
    public var notBefore: Timestamp?
    /// The digest of the URL that both times belong to; nil before the first poll and in rows of earlier versions.
    public var urlDigest: UInt64?
    /// How a source with a stream is read at present; nil for a source without one, and between two connections.
    public var connection: Connection?

    /// How a source with a stream is read.
    public enum Connection: Sendable, Hashable {
        /// Over a kept connection; it has no due time.
        case open
        /// By polls, for this reason.
        case polled(String)
    }

    /// The record of a source that was never polled.
    public init(name: String) { self.name = name }

    /// Moves the stored times after the wall clock was set, so that intervals keep their length.
    public mutating func wallClockJumped(by jump: Duration) {
        due = due?.advanced(by: jump)
        notBefore = notBefore?.advanced(by: jump)
        health.failingSince = health.failingSince?.advanced(by: jump)
        health.lastPollAt = health.lastPollAt?.advanced(by: jump)
        guard let emptiness = snapshot?.emptiness, emptiness != .accepted else { return }
        snapshot?.emptiness?.since = emptiness.since.advanced(by: jump)
    }
}

/// The head of the last good observation.
public struct SnapshotHead: Sendable, Hashable {
    /// `Source.identity` when it was read.
    public var identity: UInt64
    /// `SourceKind.fingerprints` when it was read.
    public var fingerprints: [String: UInt64]
    /// The validators of the response that it was read from.
    public var validators = Validators()
    /// The digest of the body as received; nil when the poll had several pages.
    public var digest: UInt64?
    /// The digest of the request that `validators` and `digest` belong to; they are not used with another request.
    public var asked: UInt64?
    /// When the last good poll ended.
    public var goodAt: Timestamp
    /// Items present, without those that are only remembered.
    public var count = 0
    /// Items of a list that were absent from one good poll. A second one makes them `disappeared`.
    public var pendingAbsences = 0
    /// Whether it was read as a list: also a window whose document says that it is complete.
    public var isWhole = false
    /// Whether it is a new baseline because every key had changed; reported once.
    public var hasOtherKeys = false
    /// The newest item time ever seen.
    public var newest: Timestamp?
    /// The oldest item time of the observation. An unknown item before it is old: it reappeared in the window.
    public var oldest: Timestamp?
    /// Entries of a window that were not announced because they lie before its old end; nil when there were none.
    public var unannounced: Unannounced?
    /// Set while a list that turned empty awaits confirmation.
    public var emptiness: Emptiness?
    /// The number of present items by state, for `while` and `status`.
    public var states: [String: Int] = [:]
    /// The id with which a stream resumes behind what was read of it; nil for none.
    public var resume: String?

    /// Entries that were seen for the first time and taken for old.
    public struct Unannounced: Sendable, Hashable {
        /// How many there were since the baseline.
        public var count: Int
        /// The title of the last, or its key.
        public var last: String
        /// When the last was seen.
        public var at: Timestamp

        /// Creates a count.
        public init(count: Int, last: String, at: Timestamp) { (self.count, self.last, self.at) = (count, last, at) }
    }

    /// The polls that found a list empty.
    public struct Emptiness: Sendable, Hashable {
        /// Consecutive polls.
        public var polls: Int
        /// The time of the first of them.
        public var since: Timestamp

        /// Creates a count.
        public init(polls: Int, since: Timestamp) { (self.polls, self.since) = (polls, since) }

        /// A person accepted the empty list.
        public static let accepted = Emptiness(polls: .max / 2, since: Timestamp(milliseconds: 0))
    }

    /// Creates the head of a snapshot without items.
    public init(identity: UInt64, fingerprints: [String: UInt64], goodAt: Timestamp) {
        (self.identity, self.fingerprints, self.goodAt) = (identity, fingerprints, goodAt)
    }
}

/// An item of a snapshot as the journal keeps it. It is decoded only when one of its digests differs.
public struct StoredItem: Sendable, Hashable {
    /// `Item.key`.
    public var key: String
    /// `Item.digest`, of what is compared.
    public var digest: UInt64
    /// `Item.shownDigest`, of what is only shown. A difference is stored and makes no event.
    public var shown: UInt64
    /// When it was first absent; nil while it is present. An absent item of a list awaits the second good poll; one of a
    /// window is remembered, so that its return makes no event.
    public var absentSince: Timestamp?
    /// When it got its state.
    public var stateSince: Timestamp
    /// `Item.json`.
    public var body: [UInt8]

    /// Creates a row.
    public init(
        key: String, digest: UInt64, shown: UInt64, absentSince: Timestamp?, stateSince: Timestamp, body: [UInt8]
    ) {
        (self.key, self.digest, self.shown, self.absentSince) = (key, digest, shown, absentSince)
        (self.stateSince, self.body) = (stateSince, body)
    }

    /// Encodes a present item.
    public init(_ item: Item, digest: UInt64, stateSince: Timestamp) {
        self.init(
            key: item.key, digest: digest, shown: item.shownDigest, absentSince: nil, stateSince: stateSince,
            body: item.json.bytes)
    }

    /// The decoded item; nil when this program did not write the row.
    public var item: Item? { (try? JSON(parsing: body)).flatMap(Item.init(json:)) }
}

extension Item {
    /// A digest of what is shown but not compared: url, time, notes and measures.
    public var shownDigest: UInt64 {
        var digest = StableHash()
        digest.add(url ?? "\u{0}")
        digest.add(UInt64(bitPattern: time?.milliseconds ?? .min))
        for fields in [notes, measures] {
            digest.add(fields)
            digest.add(0)
        }
        return digest.value
    }
}

extension StableHash {
    private mutating func add(_ value: Value) {
        switch value {
        case .text(let text): add(text)
        case .list(let list):
            add(UInt64(list.count))
            for text in list { add(text) }
        }
    }

    fileprivate mutating func add(_ fields: Fields) {
        for field in fields {
            add(field.name)
            add(field.value)
        }
    }
}
