// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("I8: which poll gets memory for what it reads")
struct PollMemoryLedgerTests {
    /// Other numbers for each seed.
    private struct Numbers {
        private let dice = SeededRandom()

        init(_ seed: UInt64) { for _ in 0..<seed { _ = dice.next() } }

        func below(_ limit: Int) -> Int { Int(dice.next() % UInt64(limit)) }
    }

    private static let mega = 1 << 20

    @Test("large shares wait for each other, small ones do not; the oldest may pass the limit")
    func sizes() {
        var ledger = PollMemoryLedger(limit: 128 * Self.mega)
        let (first, second, third, feed) = (ledger.open(), ledger.open(), ledger.open(), ledger.open())
        let asked = [(first, 150), (second, 20), (third, 10), (feed, 1)].map { ledger.request($0.0, $0.1 * Self.mega) }
        #expect(asked == [true, false, false, true])
        let grantedEarly = ledger.takeGranted()
        ledger.close(first)
        let granted = ledger.takeGranted()
        #expect(grantedEarly.isEmpty && granted == [second, third] && ledger.used == 31 * Self.mega)
    }

    @Test("a share that waits for the network lets others pass, and few large ones may do so")
    func parked() {
        var ledger = PollMemoryLedger(limit: 128 * Self.mega)
        let (first, second, third) = (ledger.open(), ledger.open(), ledger.open())
        let isFirstGranted = ledger.request(first, 150 * Self.mega)
        let isFirstParked = ledger.park(first)
        #expect(isFirstGranted && isFirstParked)
        let isSecondGranted = ledger.request(second, 50 * Self.mega)
        let isSecondParked = ledger.park(second)
        #expect(isSecondGranted && !isSecondParked)
        let isThirdGranted = ledger.request(third, 50 * Self.mega)
        // The first is the oldest, and no poll may wait for one that goes on only after it.
        let goesOn = ledger.request(first, 160 * Self.mega)
        #expect(!isThirdGranted && goesOn)
        ledger.close(first)
        let granted = ledger.takeGranted()
        // 50 + 50 is more than three quarters of the limit.
        #expect(granted.isEmpty && ledger.isWaiting(third))
    }

    @Test("a cancelled request takes nothing")
    func cancelled() {
        var ledger = PollMemoryLedger(limit: 128 * Self.mega)
        let (first, second) = (ledger.open(), ledger.open())
        let asked = [ledger.request(first, 96 * Self.mega), ledger.request(second, 3 * Self.mega)]
        #expect(asked == [true, false])
        ledger.cancel(second)
        ledger.close(first)
        let granted = ledger.takeGranted()
        #expect(granted.isEmpty && ledger.used == 0 && !ledger.isWaiting(second))
    }

    @Test(
        "whatever polls do, one can always go on, and memory is the limit and one share of each size", .tags(.I8),
        arguments: 1...20
    )
    func model(_ seed: UInt64) {
        let random = Numbers(seed)
        let limit = 64 * Self.mega
        var ledger = PollMemoryLedger(limit: limit)
        var bytes: [PollMemoryLedger.ID: Int] = [:]
        var waiting: [PollMemoryLedger.ID: Int] = [:]
        for _ in 0..<3000 {
            switch random.below(4) {
            case 0: bytes[ledger.open()] = 0
            case 1 where !bytes.isEmpty:
                let id = bytes.keys.sorted()[random.below(bytes.count)]
                ledger.close(id)
                (bytes[id], waiting[id]) = (nil, nil)
            default:
                let idle = bytes.keys.filter { waiting[$0] == nil }.sorted()
                guard !idle.isEmpty else { continue }
                let id = idle[random.below(idle.count)]
                let wanted = (bytes[id] ?? 0) + random.below(random.below(2) == 0 ? Self.mega : 40 * Self.mega)
                guard wanted <= 100 * Self.mega else { continue }
                if ledger.request(id, wanted) { bytes[id] = wanted } else { waiting[id] = wanted }
            }
            for id in ledger.takeGranted() {
                guard let wanted = waiting.removeValue(forKey: id) else { continue }
                bytes[id] = wanted
            }
            #expect(ledger.used == bytes.values.reduce(0, +))
            #expect(ledger.used <= limit + 100 * Self.mega + PollMemoryLedger.maximumSmall)
            #expect(waiting.isEmpty || waiting.count < bytes.count, "every poll waits for another")
        }
    }
}

@Suite("I8: polls wait for memory")
struct PollMemoryTests {
    /// Notes the names of what it reads.
    private struct NotingKind: SourceKind {
        let reads: Reads
        let mode = ReadingMode.list
        let identity: UInt64 = 1
        let fingerprints: [String: UInt64] = [:]
        let fieldNames: [String]? = nil

        final class Reads: Sendable {
            private let all = Mutex<[String]>([])
            var urls: [String] { all.withLock { $0 } }
            func add(_ url: String) { all.withLock { $0.append(url) } }
        }

        func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }

        func read(_ page: inout PageBody) throws(ReadError) -> Page {
            reads.add(page.url)
            return Page(items: [Item(key: "a")])
        }
    }

    @Test(
        "of many large lists one is read, and the next one after its commit; a small one does not wait for them",
        .tags(.I8))
    func manyLists() async throws {
        let reads = NotingKind.Reads()
        let names = (0..<6).map { "large\($0)" }
        let memory = PollMemory(limit: 1 << 20)
        let world = World((names + ["small"]).map { source($0, NotingKind(reads: reads)) }, memory: memory)
        for name in names { world.fetcher.serve(url(name), String(repeating: "x", count: 500_000)) }
        world.fetcher.serve(url("small"), "x")
        await world.journal.hold()
        try await world.run {
            try await world.advance(.seconds(60)) {
                world.fetcher.requests.count == 7 && reads.urls.contains(url("small")) && reads.urls.count > 1
            }
            for _ in 0..<1000 { await Task.yield() }
            #expect(reads.urls.count == 2 && memory.used > 5_000_000 && memory.used < 5_100_000)
            await world.journal.release()
            try await until { await world.journal.records.count == 7 }
        }
        #expect(reads.urls.count == 7 && memory.used == 0)
    }

    @Test("the keys that left a window take memory when they are loaded, as what it shows does", .tags(.I8))
    func remembered() async throws {
        let memory = PollMemory()
        let world = World([source("a", mode: .window)], memory: memory)
        let now = world.clock.now().wall
        world.fetcher.serve(url("a"), "new=1")
        var record = SourceRecord(name: "a")
        record.snapshot = SnapshotHead(
            identity: source("a", mode: .window).identity, fingerprints: [:], goodAt: now)
        let left = (0..<3000).map { number in
            var row = StoredItem(Item(key: "\(number)"), digest: 0, stateSince: now)
            row.absentSince = now
            return row
        }
        _ = try await world.journal.commit([PollRecord(record: record, writes: left)], within: .none)
        await world.journal.hold()
        try await world.run {
            try await world.advance(.seconds(60)) { await world.journal.held > 0 }
            #expect(memory.used > 3000 << 10)
            await world.journal.release()
            try await until { memory.used == 0 }
        }
    }

    @Test("a poll that waits for memory is cancelled when the watcher stops")
    func stopped() async throws {
        let reads = NotingKind.Reads()
        let world = World(["a", "b"].map { source($0, NotingKind(reads: reads)) }, memory: PollMemory(limit: 1 << 20))
        for name in ["a", "b"] { world.fetcher.serve(url(name), String(repeating: "x", count: 500_000)) }
        await world.journal.hold()
        try await world.restore()
        let running = Task { await world.watcher.run() }
        try await world.advance(.seconds(60)) {
            await world.journal.held == 1 && world.fetcher.requests.count == 2
        }
        #expect(await world.watcher.pollsUnderWay == 2)
        await world.watcher.stop()
        // The commit under way is kept.
        try await until { await world.watcher.pollsUnderWay == 1 }
        await world.journal.release()
        await running.value
        #expect(reads.urls.count == 1)
        #expect(await world.journal.records.count == 1)
    }

    @Test("pages that wait for the network let others read; a second large list that does so fails as memory")
    func pages() async throws {
        let reads = NotingKind.Reads()
        let names = ["a", "b"]
        let world = World(
            names.map { source($0, mode: .window) } + [source("c", NotingKind(reads: reads))],
            memory: PollMemory(limit: 1 << 20))
        let large = (0..<500).map { "k\($0)=\(String(repeating: "x", count: 1000))" }.joined(separator: "\n")
        for name in names {
            world.fetcher.serve(url(name), large, [("Next", url(name + "/2"))])
            world.fetcher.hang(url(name + "/2"))
            world.fetcher.serve(url(name + "/2"), "last=1")
        }
        world.fetcher.serve(url("c"), String(repeating: "x", count: 500_000))
        let known = names.map { name in
            var record = SourceRecord(name: name)
            record.snapshot = SnapshotHead(
                identity: source(name, mode: .window).identity, fingerprints: [:], goodAt: world.clock.now().wall)
            return record
        }
        _ = try await world.journal.commit(known.map { PollRecord(record: $0) }, within: .none)
        try await world.run {
            try await world.advance(.seconds(60)) {
                await world.journal.records["c"]?.snapshot != nil
            }
            try await until {
                let records = await world.journal.records
                return names.contains { records[$0]?.health.problem?.failure == Failure.memory.rawValue }
            }
            for name in names { world.fetcher.release(url(name + "/2")) }
            try await until {
                let records = await world.journal.records
                return names.contains { records[$0]?.snapshot?.count == 501 }
            }
        }
    }

    @Test(
        "what polls have read goes back to the kernel once, when no poll follows soon",
        arguments: [(Duration.seconds(300), 1), (.milliseconds(500), 0)])
    func rest(_ every: Duration, _ returns: Int) async throws {
        let count = Mutex(0)
        let memory = PollMemory(returnFreeMemory: { count.withLock { $0 += 1 } })
        let world = World([source("a", NotingKind(reads: NotingKind.Reads()), every: every)], memory: memory)
        world.fetcher.serve(url("a"), String(repeating: "x", count: 500_000))
        try await world.run {
            try await world.advance(every) {
                await world.watcher.pollsUnderWay == 0 && world.fetcher.requests.count > 0
            }
            for _ in 0..<1000 where count.withLock({ $0 }) == 0 { await Task.yield() }
            #expect(count.withLock { $0 } == returns)
            // The same body is not read again.
            for polls in 2...4 {
                try await world.advance(every) { world.fetcher.requests.count >= polls }
                try await until { await world.watcher.pollsUnderWay == 0 }
            }
            for _ in 0..<1000 { await Task.yield() }
            #expect(count.withLock { $0 } == returns)
        }
    }
}
