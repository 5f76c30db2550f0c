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

    /// The wall clock was set: what is measured from a stored time goes on as if nothing had happened.
    public mutating func wallClockJumped(by jump: Duration) {
        due = due?.advanced(by: jump)
        notBefore = notBefore?.advanced(by: jump)
        health.failingSince = health.failingSince?.advanced(by: jump)
        guard let emptiness = snapshot?.emptiness, emptiness != .accepted else { return }
        snapshot?.emptiness?.since = emptiness.since.advanced(by: jump)
    }
}

/// The head of the last good observation.
public struct SnapshotHead: Sendable, Hashable {
    public var identity: UInt64
    public var fingerprints: [String: UInt64]
    /// Of the response it was read from: they are sent only while this snapshot stands.
    public var validators = Validators()
    /// Of the first page's body as received; nil when the poll had several pages.
    public var digest: UInt64?
    /// Of the request that validators and digest are about: another request is asked without them.
    public var asked: UInt64?
    public var goodAt: Timestamp
    /// Items present, the remembered ones apart.
    public var count = 0
    /// Items of a list that were absent from one good poll: a second one makes them `disappeared`.
    public var pendingAbsences = 0
    /// It was read as a list, also when its kind is a window whose document said that it was whole.
    public var isWhole = false
    /// It began anew because every key had changed; said once.
    public var hasOtherKeys = false
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

/// An item of a snapshot as the journal keeps it: decoded only when one of its digests differs.
public struct StoredItem: Sendable, Hashable {
    public var key: String
    /// Of what is compared.
    public var digest: UInt64
    /// Of what is only shown: a difference is written and is no event.
    public var shown: UInt64
    /// Since when it has been absent; nil while it is present. Of a list: waiting for the second good poll. Of a window:
    /// remembered, so that its return is no news.
    public var absentSince: Timestamp?
    /// Since when it has had its state.
    public var stateSince: Timestamp
    /// `Item.json`.
    public var body: [UInt8]

    public init(
        key: String, digest: UInt64, shown: UInt64, absentSince: Timestamp?, stateSince: Timestamp, body: [UInt8]
    ) {
        (self.key, self.digest, self.shown, self.absentSince) = (key, digest, shown, absentSince)
        (self.stateSince, self.body) = (stateSince, body)
    }

    public init(_ item: Item, digest: UInt64, stateSince: Timestamp) {
        self.init(
            key: item.key, digest: digest, shown: item.shownDigest, absentSince: nil, stateSince: stateSince,
            body: item.json.bytes)
    }

    /// Nil when the row is not what this program wrote.
    public var item: Item? { (try? JSON(parsing: body)).flatMap(Item.init(json:)) }
}

extension Item {
    /// A digest of what is shown and not compared: url, time, notes and measures.
    public var shownDigest: UInt64 {
        var digest = Digest()
        digest.add(url ?? "\u{0}")
        digest.add(UInt64(bitPattern: time?.milliseconds ?? .min))
        for fields in [notes, measures] {
            digest.add(fields)
            digest.add(0)
        }
        return digest.value
    }
}

extension Digest {
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
