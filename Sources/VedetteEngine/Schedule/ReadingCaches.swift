// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What kinds keep of pages that changed, by the number of the source, within a number of bytes. When there is no room,
/// caches that were unused for an hour are evicted, and then no further one is kept.
struct ReadingCaches {
    /// Bytes for all sources.
    static let standard = 16 << 20
    static let idleTime = Duration.seconds(3600)

    private struct Entry {
        var cache: ReadingCache
        var usedAt: BootTime
    }

    private let limit: Int
    private var entries: [Int: Entry] = [:]
    private(set) var bytes = 0

    init(limit: Int = standard) { self.limit = limit }

    subscript(source: Int) -> ReadingCache? { entries[source]?.cache }

    /// Keeps a cache in place of the source's last one.
    mutating func keep(_ cache: ReadingCache, of source: Int, at now: BootTime) {
        remove(source)
        if bytes + cache.bytes > limit { evictIdle(at: now) }
        guard bytes + cache.bytes <= limit else { return }
        entries[source] = Entry(cache: cache, usedAt: now)
        bytes += cache.bytes
    }

    /// Removes the caches of all other sources.
    mutating func keepOnly(_ sources: Set<Int>) {
        for source in entries.keys where !sources.contains(source) { remove(source) }
    }

    private mutating func remove(_ source: Int) { bytes -= entries.removeValue(forKey: source)?.cache.bytes ?? 0 }

    private mutating func evictIdle(at now: BootTime) {
        for (source, entry) in entries where entry.usedAt.advanced(by: ReadingCaches.idleTime) <= now {
            remove(source)
        }
    }
}
