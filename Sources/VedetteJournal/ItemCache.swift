// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The items of sources that changed lately, as their rows are: a poll that finds a new entry compares it with them
/// without a query.
///
/// It is right only where every change of a row passes through it, so only the process that has the journal's lock keeps one.
struct ItemCache {
    /// Bytes for all sources.
    static let standard = 16 << 20
    /// Bytes of a row in memory beside its key and its body, about.
    private static let bytesOfRow = 160
    /// An entry is old when so many readings for each entry came after its last use. Were it the last used one alone that
    /// stays, a cycle over more sources than there is room for would find none of them.
    private static let readingsUntilOld = 8

    /// A reading of rows beside the commits.
    struct Reading {
        fileprivate var source: String
        fileprivate var number: Int
    }

    private struct Entry {
        var items: [String: StoredItem]
        var bytes: Int
        var usedAt: Int

        mutating func replace(_ key: String, with item: StoredItem?) {
            let old = item.map { items.updateValue($0, forKey: key) } ?? items.removeValue(forKey: key)
            bytes += (item.map(ItemCache.bytes(of:)) ?? 0) - (old.map(ItemCache.bytes(of:)) ?? 0)
        }
    }

    private let limit: Int
    private var entries: [String: Entry] = [:]
    /// The sources of the entries, in a circle, and the one that is looked at next for room.
    private var circle: [String] = []
    private var hand = 0
    private(set) var bytes = 0
    private var readings = 0
    /// The last reading of each source whose rows have not changed since it began.
    private var current: [String: Int] = [:]

    init(limit: Int = standard) { self.limit = limit }

    /// The most bytes of one source.
    private var share: Int { limit / 8 }

    /// Returns the rows of a source; nil when they are not here.
    mutating func items(of source: String) -> [String: StoredItem]? {
        readings += 1
        entries[source]?.usedAt = readings
        return entries[source]?.items
    }

    /// To be called before the rows of a source are read.
    mutating func beginReading(_ source: String) -> Reading {
        readings += 1
        current[source] = readings
        return Reading(source: source, number: readings)
    }

    /// Ends a reading.
    /// - Parameter items: what was read; nil when that failed or is not to be kept.
    mutating func end(_ reading: Reading, _ items: [String: StoredItem]?) {
        // A commit came between: the rows may be those before it.
        guard current[reading.source] == reading.number else { return }
        current[reading.source] = nil
        guard let items else { return }
        remove(reading.source)
        let size = items.values.reduce(0) { $0 + ItemCache.bytes(of: $1) }
        guard size <= share, makeRoom(for: size) else { return }
        entries[reading.source] = Entry(items: items, bytes: size, usedAt: readings)
        circle.append(reading.source)
        bytes += size
    }

    /// Takes over what was committed.
    mutating func apply(_ poll: PollRecord) {
        guard let source = poll.record?.name else { return }
        change(source) { entry in
            if poll.isNewBaseline { entry = Entry(items: [:], bytes: 0, usedAt: entry.usedAt) }
            for key in poll.deletions { entry.replace(key, with: nil) }
            for item in poll.writes { entry.replace(item.key, with: item) }
        }
    }

    /// Takes over what was written late.
    mutating func apply(_ write: DeferredWrite) {
        guard !write.items.isEmpty else { return }
        change(write.record.name) { entry in
            for item in write.items { entry.replace(item.key, with: item) }
        }
    }

    /// Forgets a source whose rows nobody knows for certain.
    mutating func forget(_ source: String) {
        current[source] = nil
        remove(source)
    }

    /// Forgets all other sources.
    mutating func keep(_ sources: Set<String>) {
        for source in circle where !sources.contains(source) { forget(source) }
    }

    private mutating func change(_ source: String, _ change: (inout Entry) -> Void) {
        current[source] = nil
        guard var entry = entries.removeValue(forKey: source) else { return }
        bytes -= entry.bytes
        change(&entry)
        bytes += entry.bytes
        entries[source] = entry
        if bytes > limit || entry.bytes > share { remove(source) }
    }

    /// Makes room at the cost of old entries. It looks at as many as are needed, and at no more than two that are not old.
    private mutating func makeRoom(for size: Int) -> Bool {
        var young = 0
        while bytes + size > limit {
            guard young < 2, !circle.isEmpty else { return false }
            hand %= circle.count
            let source = circle[hand]
            let age = readings - (entries[source]?.usedAt ?? 0)
            if age > circle.count * ItemCache.readingsUntilOld {
                remove(source)
            } else {
                (young, hand) = (young + 1, hand + 1)
            }
        }
        return true
    }

    private mutating func remove(_ source: String) {
        guard let entry = entries.removeValue(forKey: source) else { return }
        bytes -= entry.bytes
        if let place = circle.firstIndex(of: source) {
            circle.swapAt(place, circle.count - 1)
            circle.removeLast()
        }
    }

    private static func bytes(of item: StoredItem) -> Int { bytesOfRow + item.key.utf8.count + item.body.count }
}
