// SPDX-License-Identifier: Apache-2.0

/// What some records of a stream change, each key once. A record about a key that is there already begins the next changes,
/// so that no state between two others is lost.
public struct RecordChanges: Sendable {
    /// Items as they are now, in the order of their records.
    public private(set) var items: [Item] = []
    /// Keys of items that are gone.
    public private(set) var deletions: [String] = []
    /// With which id reading resumes behind these records; nil leaves it as it was.
    public var resume: String?
    private var keys = Set<String>()

    /// Creates changes without any.
    public init() {}

    /// Whether the records change no item.
    public var isEmpty: Bool { items.isEmpty && deletions.isEmpty }

    /// The keys of all items and deletions.
    public var allKeys: Set<String> { keys }

    /// Adds the items of one record, unless one of their keys is there already.
    /// - Returns: whether they were added.
    public mutating func add(_ items: [Item], isDeletion: Bool) -> Bool {
        guard keys.isDisjoint(with: items.lazy.map(\.key)) else { return false }
        for item in items where keys.insert(item.key).inserted {
            if isDeletion { deletions.append(item.key) } else { self.items.append(item) }
        }
        return true
    }
}
