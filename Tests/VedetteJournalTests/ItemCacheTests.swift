// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteJournal

@Suite("Items kept in memory")
struct ItemCacheTests {
    /// Adds rows as a reading does.
    private func fill(_ cache: inout ItemCache, _ source: String, _ keys: [String] = ["1", "2"]) {
        let reading = cache.beginReading(source)
        cache.end(reading, Dictionary(uniqueKeysWithValues: keys.map { ($0, item($0)) }))
    }

    @Test("what was read is found again, and follows each commit")
    func commits() {
        var cache = ItemCache()
        #expect(cache.items(of: "lab") == nil)
        fill(&cache, "lab")
        #expect(cache.items(of: "lab") == ["1": item("1"), "2": item("2")])
        cache.apply(poll(writes: [item("2", digest: 7), item("3")], deletions: ["1"]))
        #expect(cache.items(of: "lab") == ["2": item("2", digest: 7), "3": item("3")])
        cache.apply(DeferredWrite(poll().record ?? SourceRecord(name: "lab"), items: [item("3", digest: 8)]))
        #expect(cache.items(of: "lab") == ["2": item("2", digest: 7), "3": item("3", digest: 8)])
        cache.apply(poll(newBaseline: true, writes: [item("9")]))
        #expect(cache.items(of: "lab") == ["9": item("9")])
        cache.apply(poll("other", writes: [item("1")]))
        #expect(cache.items(of: "other") == nil)
    }

    @Test("it counts the bytes of its rows, whatever was committed, and none when all is forgotten")
    func bytes() {
        var (cache, again) = (ItemCache(), ItemCache())
        fill(&cache, "lab")
        cache.apply(poll(writes: [item("2", digest: 7), item("long key")], deletions: ["1", "unknown"]))
        fill(&again, "lab", ["2", "long key"])
        #expect(cache.bytes == again.bytes)
        cache.forget("lab")
        #expect(cache.bytes == 0)
    }

    @Test("rows that were read while a commit changed them are not kept")
    func overtaken() {
        var cache = ItemCache()
        let reading = cache.beginReading("lab")
        cache.apply(poll(writes: [item("3")]))
        cache.end(reading, ["1": item("1")])
        #expect(cache.items(of: "lab") == nil)
        let second = cache.beginReading("lab")
        cache.forget("lab")
        cache.end(second, ["1": item("1")])
        #expect(cache.items(of: "lab") == nil)
    }

    @Test("a reading that failed keeps nothing")
    func failed() {
        var cache = ItemCache()
        cache.end(cache.beginReading("lab"), nil)
        #expect(cache.items(of: "lab") == nil)
    }

    @Test("sources that are configured no longer are forgotten")
    func keep() {
        var cache = ItemCache()
        for source in ["lab", "blog"] { fill(&cache, source) }
        cache.keep(["blog"])
        #expect(cache.items(of: "lab") == nil)
        #expect(cache.items(of: "blog") != nil)
    }

    /// A cache with room for so many sources of one row.
    private func cache(of count: Int) -> (cache: ItemCache, limit: Int) {
        var one = ItemCache()
        fill(&one, "s00", ["1"])
        let limit = one.bytes * count
        return (ItemCache(limit: limit), limit)
    }

    @Test("it stays within its bytes, and a round over more sources than fit finds those that are there", .tags(.I8))
    func budget() {
        var (cache, limit) = cache(of: 10)
        var found = 0
        for _ in 0..<5 {
            found = 0
            for number in 10..<40 {
                if cache.items(of: "s\(number)") != nil { found += 1 } else { fill(&cache, "s\(number)", ["1"]) }
                #expect(cache.bytes <= limit)
            }
        }
        #expect(found == 10)
    }

    @Test("a source that is polled no more makes room for another")
    func old() {
        var (cache, _) = cache(of: 10)
        for number in 10..<20 { fill(&cache, "s\(number)", ["1"]) }
        for _ in 0..<20 {
            for number in 20..<30 where cache.items(of: "s\(number)") == nil { fill(&cache, "s\(number)", ["1"]) }
        }
        for number in 20..<30 { #expect(cache.items(of: "s\(number)") != nil) }
        #expect(cache.items(of: "s10") == nil)
    }

    @Test("a source too large for its share is not kept, nor is one that a commit made too large")
    func large() {
        var (cache, _) = cache(of: 16)
        fill(&cache, "big", ["1", "2", "3"])
        #expect(cache.items(of: "big") == nil)
        fill(&cache, "lab", ["1"])
        cache.apply(poll(writes: [item("2"), item("3")]))
        #expect(cache.items(of: "lab") == nil)
        fill(&cache, "lab", ["1"])
        cache.apply(poll(writes: (10..<99).map { item(String($0)) }))
        #expect(cache.items(of: "lab") == nil)
        #expect(cache.bytes == 0)
    }

    @Test("a journal's items equal the items of its file after each of many commits")
    func journal() async throws {
        let scratch = Scratch()
        let journal = try scratch.open()
        var random = SplitMix64(5)
        for step in 0..<200 {
            let source = ["lab", "blog"][Int(random.next() % 2)]
            let writes = (0..<random.next() % 4).map { _ in item(String(random.next() % 6), digest: random.next()) }
            let kept = Set(writes.map(\.key))
            let deletions = (0..<random.next() % 3).map { _ in String(random.next() % 6) }.filter { !kept.contains($0) }
            if random.next() % 5 == 0 {
                try await journal.write(deferred: [DeferredWrite(SourceRecord(name: source), items: writes)])
            } else {
                let isNew = random.next() % 20 == 0
                _ = try await journal.commit([
                    poll(source, newBaseline: isNew, writes: writes, deletions: deletions)
                ])
            }
            if random.next() % 8 == 0 { await journal.releaseMemory() }
            for source in ["lab", "blog"] {
                let stored = try await scratch.reader().items(of: source)
                #expect(try await journal.items(of: source) == stored, "step \(step)")
            }
        }
        try journal.close()
        // A watcher may come to rest while it ends.
        await journal.releaseMemory()
    }

    @Test("a commit that fails leaves no row that was not stored")
    func refused() async throws {
        let scratch = Scratch()
        let journal = try scratch.open()
        _ = try await journal.commit([poll(writes: [item("1")])])
        #expect(try await journal.items(of: "lab") == ["1": item("1")])
        try journal.tamper("create trigger refuse before insert on item begin select raise(abort, 'no'); end")
        await #expect(throws: JournalError.self) { _ = try await journal.commit([poll(writes: [item("2")])]) }
        #expect(try await journal.items(of: "lab") == ["1": item("1")])
        try journal.close()
    }
}
