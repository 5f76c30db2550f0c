// SPDX-License-Identifier: Apache-2.0

/// Every key is another than before: a site moved, or a server renumbers its answers. Hundreds of items that nobody
/// touched are no news.
extension Differ {
    /// Fewer than these say nothing: they may well have come and gone.
    static let fewestForKeys = 3

    /// Nothing is known by its key, not even what left a window.
    func haveOtherKeys(_ new: Observation, _ stored: [String: StoredItem]) -> Bool {
        guard new.items.count >= Differ.fewestForKeys, !new.items.contains(where: { stored[$0.key] != nil }) else {
            return false
        }
        return stored.values.count { $0.absentSince == nil } >= Differ.fewestForKeys
    }

    struct Rekeyed {
        /// What is stored, under the new keys where an item was found again.
        var stored: [String: StoredItem]
        var gone: [String]
        /// As they were before, so that what changed of them is still found.
        var moved: [StoredItem]
    }

    /// The items found again by what else is their own: the link, else the content. Nil when that is less than half of
    /// them.
    func rekeyed(_ new: Observation, _ old: SnapshotHead, _ stored: [String: StoredItem]) -> Rekeyed? {
        let before = stored.values.filter { $0.absentSince == nil }.compactMap(\.item)
        let pairs = Differ.pairs(before, Differ.perhapsKnown(new, old), mode: new.mode)
        guard pairs.count * 2 >= min(before.count, new.items.count), !pairs.isEmpty else { return nil }
        return Differ.rekeyed(pairs, stored)
    }

    private static func rekeyed(_ pairs: [(from: Item, to: Item)], _ stored: [String: StoredItem]) -> Rekeyed {
        var rekeyed = Rekeyed(stored: stored, gone: [], moved: [])
        for (from, to) in pairs.sorted(by: { $0.to.key < $1.to.key }) {
            guard let row = stored[from.key] else { continue }
            var item = from
            item.key = to.key
            let moved = StoredItem(item, digest: row.digest, stateSince: row.stateSince)
            rekeyed.stored[from.key] = nil
            rekeyed.stored[to.key] = moved
            rekeyed.gone.append(from.key)
            rekeyed.moved.append(moved)
        }
        return rekeyed
    }

    /// The items of a window found again by their marks, where the known key is gone and no other item has the mark. An item
    /// under a value that turned out to be shared is found again even when it had left, and by its content, too.
    func partlyRekeyed(_ new: Observation, _ old: SnapshotHead, _ stored: [String: StoredItem]) -> Rekeyed? {
        guard new.mode == .window else { return nil }
        var unknown = new.items.indices.filter { stored[new.items[$0].key] == nil }.map { new.items[$0] }
        guard let first = unknown.first else { return nil }
        let present = new.keys
        let shared = new.sharedKeys.digests == old.sharedKeys.digests ? SharedKeys() : new.sharedKeys
        /// The kind's own marks, and behind them the content where an id is none.
        func allMarks(of item: Item) -> [String?] {
            let isContentMark = shared.contains(item.key) || (!shared.digests.isEmpty && present.contains(item.key))
            return self.marks(of: item, new) + [isContentMark ? String(item.digest) : nil]
        }
        let places = self.marks(of: first, new).count
        if places == 0 { return nil }
        var gone = stored.values.filter { row in
            !present.contains(row.key) && (row.absentSince == nil || shared.contains(row.key))
        }.compactMap(\.item)
        var marks = Dictionary((gone + unknown).map { ($0.key, allMarks(of: $0)) }) { first, _ in first }
        func mark(_ item: Item, _ place: Int) -> String? { marks[item.key]?[place] ?? nil }
        // Mostly an entry came and the oldest left, which have nothing in common: then no other item needs a look.
        let haveCommonMark = (0...places).contains { place in
            let left = Set(gone.lazy.compactMap { mark($0, place) })
            return !left.isEmpty && unknown.contains { mark($0, place).map(left.contains) ?? false }
        }
        guard haveCommonMark else { return nil }
        for item in new.items where marks[item.key] == nil { marks[item.key] = allMarks(of: item) }
        let others = new.items.filter { stored[$0.key] != nil }
        let haveOneAddress = [new.items, others + gone].contains { items in
            Set(items.lazy.map { mark($0, 0) }).count < items.count
        }
        let lookalikes = Lookalikes(new, old, stored, source.kind) { haveOneAddress && mark($0, 0) == mark($1, 0) }
        var found: [(from: Item, to: Item)] = []
        for place in 0...places {
            let taken = Set(others.lazy.compactMap { mark($0, place) })
            let pairs = Differ.pairs(gone, unknown) { item in
                mark(item, place).flatMap { taken.contains($0) ? nil : $0 }
            }
            .filter { !lookalikes.isOther($0.to, than: $0.from) }
            let (from, to) = (Set(pairs.map(\.from.key)), Set(pairs.map(\.to.key)))
            gone.removeAll { from.contains($0.key) }
            unknown.removeAll { to.contains($0.key) }
            found += pairs
        }
        return found.isEmpty ? nil : Differ.rekeyed(found, stored)
    }

    private func marks(of item: Item, _ new: Observation) -> [String?] {
        source.kind.marks(of: item, besides: new.sharedKeys)
    }

    /// What is newer than all that was seen is news, whatever it links to.
    private static func perhapsKnown(_ new: Observation, _ old: SnapshotHead) -> [Item] {
        guard new.mode == .window, let newest = old.newest else { return new.items }
        return new.items.filter { $0.time.map { $0 <= newest } ?? true }
    }

    /// Of a window by link, then, of those that are left, by content: a move to another host changes every link as well.
    /// Of a list by link and content together: jobs of a queue are replaced by others that look just like them.
    private static func pairs(_ old: [Item], _ new: [Item], mode: ReadingMode) -> [(from: Item, to: Item)] {
        let byLink = pairs(old, new) { $0.url }
        if mode == .list { return byLink.filter { $0.from.digest == $0.to.digest } }
        let (from, to) = (Set(byLink.map(\.from.key)), Set(byLink.map(\.to.key)))
        return byLink
            + pairs(old.filter { !from.contains($0.key) }, new.filter { !to.contains($0.key) }) { String($0.digest) }
    }

    /// Those whose mark is their own on both sides.
    private static func pairs(
        _ old: [Item], _ new: [Item], by mark: (Item) -> String?
    ) -> [(from: Item, to: Item)] {
        let (old, new) = (unique(old, by: mark), unique(new, by: mark))
        return old.compactMap { mark, item in new[mark].map { (item, $0) } }
    }

    private static func unique(_ items: [Item], by mark: (Item) -> String?) -> [String: Item] {
        Dictionary(grouping: items) { mark($0) ?? "" }.filter { $0.key != "" && $0.value.count == 1 }
            .compactMapValues(\.first)
    }

    /// A window of unknown keys without anything newer than what was seen: that is no burst. Without times, the titles
    /// decide. A list is believed: what is wholly replaced between two polls (jobs of a queue, pods of a deployment)
    /// looks just so.
    func isOldNews(_ new: Observation, _ old: SnapshotHead, _ stored: [String: StoredItem]) -> Bool {
        guard new.mode == .window else { return false }
        let times = new.items.compactMap(\.time)
        if let newest = old.newest, !times.isEmpty {
            return times.allSatisfy { $0 <= newest }
        }
        let known = Set(stored.values.lazy.filter { $0.absentSince == nil }.compactMap(\.item?.title))
        return new.items.count { $0.title.map(known.contains) ?? false } * 2 >= new.items.count
    }

    /// A new baseline, announced once: where keys differ at every poll, the next ones are silent.
    func newBaseline(_ new: Observation, _ old: SnapshotHead) -> Difference {
        var difference = baseline(new, replaces: true)
        difference.head.newest = [old.newest, difference.head.newest].compactMap { $0 }.max()
        difference.head.hasOtherKeys = true
        guard !old.hasOtherKeys else { return difference }
        let problem = Event.Problem(
            failure: Failure.keysChanged.rawValue,
            detail: "all \(new.items.count) items have other keys than before and none is newer; "
                + "they are taken as known")
        difference.events = [DraftEvent(.suspect, error: problem)]
        return difference
    }
}

/// Tells whether an unknown item of a window is another one than an item that is gone, although they have a mark in common:
/// alerts about one host have one page, comments on a page differ in the fragment, and the next backup fails as the last did.
private struct Lookalikes {
    private let stored: [String: StoredItem]
    private let kind: any SourceKind
    private let newest: Timestamp?
    /// The oldest publication of the known items that stay.
    private let oldestKept: Timestamp?
    /// The unknown items before all known ones, and behind them.
    private let (front, end): (Set<String>, Set<String>)
    /// Where the first and the last known item stood.
    private let (firstKept, lastKept): (Int, Int)
    private let order: WindowOrder
    /// Whether the keys of two items are parts of one address.
    private let areParts: (Item, Item) -> Bool

    init(
        _ new: Observation, _ old: SnapshotHead, _ stored: [String: StoredItem], _ kind: any SourceKind,
        areParts: @escaping (Item, Item) -> Bool
    ) {
        (self.stored, self.kind, self.areParts, newest, order) = (stored, kind, areParts, old.newest, old.order)
        let kept = new.items.filter { stored[$0.key] != nil }
        oldestKept = kept.compactMap(kind.publication).min()
        front = Set(new.items.prefix { stored[$0.key] == nil }.map(\.key))
        end = Set(new.items.reversed().prefix { stored[$0.key] == nil }.map(\.key))
        firstKept = kept.first.flatMap { stored[$0.key] }.map { old.order.place(of: $0.key) } ?? .max
        lastKept = kept.last.flatMap { stored[$0.key] }.map { old.order.place(of: $0.key) } ?? .min
    }

    func isOther(_ new: Item, than before: Item) -> Bool {
        func withoutScheme(_ key: String) -> Substring {
            key.firstRange(of: "://").map { key[$0.upperBound...] } ?? key[...]
        }
        let (date, dateBefore) = (kind.publication(of: new), kind.publication(of: before))
        if withoutScheme(new.key) == withoutScheme(before.key) || (date != nil && date == dateBefore) { return false }
        let fragments = [new, before].compactMap { item in item.url?.firstIndex(of: "#").map { item.url?[$0...] } }
        if fragments.count == 2 && fragments[0] != fragments[1] || areParts(new, before) { return true }
        guard let date, let dateBefore else { return hasOtherPlace(new, than: before) }
        if date < dateBefore { return false }
        // What changes its key in its place has older ones behind it; what does not slid out, and the new one is newer.
        if oldestKept.map({ $0 >= dateBefore }) ?? true { return true }
        return new.title != before.title && newest.map { new.time ?? date > $0 } ?? false
    }

    /// Whether an undated item stands on the other side of the known ones than the item that is gone.
    private func hasOtherPlace(_ new: Item, than before: Item) -> Bool {
        guard stored[before.key]?.absentSince == nil else { return false }
        let place = order.place(of: before.key)
        return front.contains(new.key) && place > firstKept || end.contains(new.key) && place < lastKept
    }
}
