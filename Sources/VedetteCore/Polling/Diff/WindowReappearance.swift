// SPDX-License-Identifier: Apache-2.0

/// Finds the unknown keys of a window that are not new: they slid back in because something newer was deleted, or a reading
/// went further back than the last one. An unknown item between the old end and the newest is news: it came late. Behind the
/// known items its publication decides, before them its last change as well. Where dates decide nothing, the place in the
/// document does, and on further pages also at the very time of the old end: whole feeds have one date.
struct WindowReappearance {
    private let new: Observation
    private let stored: [String: StoredItem]
    private let firstPage: Int
    /// The keys that are not new.
    private(set) var keys = Set<String>()
    /// Those among them that are taken for old by their place alone.
    private(set) var undated = Set<String>()
    /// The order of a window whose dates decide nothing.
    private(set) var order: WindowOrder

    /// - Parameter old: the head of the observation before.
    init(_ new: Observation, after old: SnapshotHead, stored: [String: StoredItem], kind: any SourceKind) {
        (self.new, self.stored, order) = (new, stored, old.order)
        firstPage = new.firstPageCount ?? new.items.count
        guard new.mode == .window else { return }
        let lastKnown = new.items.lastIndex { stored[$0.key] != nil }
        // All that is known is announced for the future, as seminars are: a date in the past tells nothing there.
        let isAhead = old.oldestPublication.map { $0 > old.goodAt } ?? false
        var backdated: [String] = []
        var unplaced: [Int] = []
        for i in new.items.indices where stored[new.items[i].key] == nil {
            let item = new.items[i]
            let isBehindKnown = lastKnown.map { i > $0 } ?? false
            let publication = kind.publication(of: item)
            guard let time = item.time, !isAhead || publication.map({ $0 > old.goodAt }) ?? true else {
                unplaced.append(i)
                continue
            }
            guard let oldEnd = old.oldest else { continue }
            let isChangedBefore = time < oldEnd
            let isPublishedBefore = WindowReappearance.isBefore(publication, old.oldestPublication) ?? isChangedBefore
            if isBehindKnown ? isChangedBefore || isPublishedBefore : isChangedBefore && isPublishedBefore {
                keys.insert(item.key)
                if !isBehindKnown, lastKnown != nil { backdated.append(item.key) }
            } else if isBehindKnown, time == oldEnd, i >= firstPage {
                keys.insert(item.key)
            }
        }
        // An old date before a known entry, in a window from which nothing was deleted, is a new entry with an old date.
        if !backdated.isEmpty, !hasDeletion { keys.subtract(backdated) }
        if let lastKnown, !unplaced.isEmpty { place(unplaced, lastKnown) }
    }

    private static func isBefore(_ time: Timestamp?, _ end: Timestamp?) -> Bool? {
        guard let time, let end else { return nil }
        return time < end
    }

    /// Sorts unknown items whose dates decide nothing by their places. What follows the known ones is new when nothing left,
    /// so that nothing could slide in, or when the order ascends: what left stood at the front.
    private mutating func place(_ unplaced: [Int], _ lastKnown: Int) {
        let present = new.keys
        let left = stored.values.lazy.filter { $0.absentSince == nil && !present.contains($0.key) }.map(\.key)
        let behind = unplaced.filter { $0 > lastKnown }
        let isAtEnd = behind.count == unplaced.count && behind[0] < firstPage
        let hasMoved = isAtEnd && order.direction >= 0 && order.isFront(Array(left))
        let isNew = left.isEmpty || hasMoved || (isAtEnd && order.ascends)
        for i in behind where !isNew || i >= firstPage {
            keys.insert(new.items[i].key)
            undated.insert(new.items[i].key)
        }
        if isAtEnd {
            if isNew { order.came(atEnd: true) }
        } else if behind.isEmpty, let first = new.items.firstIndex(where: { stored[$0.key] != nil }),
            unplaced[0] < first
        {
            order.came(atEnd: false)
        }
    }

    /// Whether an entry left a window although an older one stayed: it did not leave at the old end.
    private var hasDeletion: Bool {
        let present = new.keys
        let oldestKept = new.items.lazy.filter { stored[$0.key] != nil }.compactMap(\.time).min()
        return stored.values.contains { before in
            guard before.absentSince == nil, !present.contains(before.key) else { return false }
            guard let time = before.item?.time, let oldestKept else { return true }
            return time > oldestKept
        }
    }
}
