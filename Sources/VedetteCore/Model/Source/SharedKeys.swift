// SPDX-License-Identifier: Apache-2.0

/// Values that would be keys, but that several items of one document had, so that they tell none apart. They are remembered
/// by their digests: such a value may be an address with a secret in it.
public struct SharedKeys: Sendable, Hashable {
    /// More values than these are not stored; of one that is not, a document must show again that it is shared.
    static let most = 500

    /// Digests of the values.
    public internal(set) var digests: Set<UInt64> = []
    /// The value that was found last, to show; nil for none.
    public var last: String?

    /// Creates an empty collection.
    public init() {}

    /// Returns whether several items had that value.
    public func contains(_ value: String) -> Bool {
        !digests.isEmpty && digests.contains(StableHash.of([value]))
    }

    /// Adds a value.
    /// - Parameter isShown: whether it means something to a person.
    public mutating func insert(_ value: String, isShown: Bool = true) {
        if digests.insert(StableHash.of([value])).inserted, isShown { last = value }
    }

    /// As many of them as are stored.
    var bounded: SharedKeys {
        guard digests.count > SharedKeys.most else { return self }
        var bounded = self
        bounded.digests = Set(digests.sorted().prefix(SharedKeys.most))
        return bounded
    }
}
