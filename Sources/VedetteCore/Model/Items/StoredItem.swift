// SPDX-License-Identifier: Apache-2.0

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

    /// Returns whether it is shown with the items of its source.
    /// - Parameter readAt: when the source was last read.
    public func isShown(in mode: ReadingMode, readAt: Timestamp) -> Bool {
        absentSince == nil || mode.showsLeft(since: stateSince, readAt: readAt)
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
