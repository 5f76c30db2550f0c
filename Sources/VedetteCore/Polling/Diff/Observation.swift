// SPDX-License-Identifier: Apache-2.0

/// What a good poll read, whole: every page, repeats taken out.
public struct Observation: Sendable {
    /// In document order; each key once.
    public var items: [Item]
    public var mode: ReadingMode
    public var validators: Validators
    /// Of the only page's body as received; nil when there were several.
    public var digest: UInt64?
    /// Of a window: only what changed after this time was asked for. See `Page.since`.
    public var since: Timestamp?
    /// All that changed after that time was read.
    public var isWholeSince = false
    /// Of a window: the items of its first page, without repeats; nil when it had one page.
    public var firstPageCount: Int?
    /// Values that key nothing; see `Page.sharedKeys`.
    public var sharedKeys = SharedKeys()
    /// Of the request that brought validators and digest.
    public var asked: UInt64?
    /// See `SnapshotHead.hasEndTag`.
    public var hasEndTag = false
    /// See `SnapshotHead.warning`.
    public var warning: String?
    /// See `Page.doubt`.
    public var doubt: Page.Doubt?

    public init(
        items: [Item], mode: ReadingMode, validators: Validators = .init(), digest: UInt64? = nil, asked: UInt64? = nil
    ) {
        (self.items, self.mode, self.validators, self.digest) = (items, mode, validators, digest)
        self.asked = asked
    }

    /// The keys of its items.
    var keys: Set<String> {
        var keys = Set<String>(minimumCapacity: items.count)
        // By its place: an iteration copies each item, with a reference count for each of its values.
        for place in items.indices { keys.insert(items[place].key) }
        return keys
    }
}
