// SPDX-License-Identifier: Apache-2.0

/// Finds the unknown keys of a window that are not new: they slid back in because something newer was deleted, or a reading
/// went further back than the last one. An unknown item between the old end and the newest is news: it came late. Without a
/// time the place in the document decides, and on further pages also at the very time of the old end: whole feeds have one
/// date.
struct WindowReappearance {
    private let new: Observation
    private let stored: [String: StoredItem]
    /// The keys that are not new.
    private(set) var keys = Set<String>()

    /// - Parameter oldEnd: the time of the oldest item that the window showed before.
    init(_ new: Observation, oldEnd: Timestamp?, stored: [String: StoredItem]) {
        (self.new, self.stored) = (new, stored)
        guard new.mode == .window else { return }
        let lastKnown = new.items.lastIndex { stored[$0.key] != nil }
        let firstPage = new.firstPageCount ?? new.items.count
        var backdated: [String] = []
        for (i, item) in new.items.enumerated() where stored[item.key] == nil {
            let isBehindKnown = lastKnown.map { i > $0 } ?? false
            if let time = item.time, let oldEnd, time != oldEnd {
                guard time < oldEnd else { continue }
                keys.insert(item.key)
                if !isBehindKnown, lastKnown != nil { backdated.append(item.key) }
            } else if isBehindKnown, item.time == nil || (oldEnd != nil && i >= firstPage) {
                keys.insert(item.key)
            }
        }
        // An old date before a known entry, in a window from which nothing was deleted, is a new entry with an old date.
        if !backdated.isEmpty, !hasDeletion { keys.subtract(backdated) }
    }

    /// Whether an entry left a window although an older one stayed: it did not leave at the old end.
    private var hasDeletion: Bool {
        let present = Set(new.items.lazy.map(\.key))
        let oldestKept = new.items.lazy.filter { stored[$0.key] != nil }.compactMap(\.time).min()
        return stored.values.contains { before in
            guard before.absentSince == nil, !present.contains(before.key) else { return false }
            guard let time = before.item?.time, let oldestKept else { return true }
            return time > oldestKept
        }
    }
}
