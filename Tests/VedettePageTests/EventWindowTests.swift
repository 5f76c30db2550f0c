// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedettePage

@Suite("The events that streams share", .timeLimit(.minutes(10)))
struct EventWindowTests {
    private let clock = TestClock()

    private func event(_ number: Int, of journal: Int = 0, title: String = "prod", source: String = "lab") -> Event {
        Event(
            id: Identifier("\(journal)-\(number)"), kind: .changed, time: TestClock.start, source: source,
            sourceKind: "json", poll: "p", item: Item(key: "59", title: title))
    }

    /// What an event takes of the limit.
    private var size: Int {
        var event = event(1)
        event.seq = 1
        return EventStream.bytes(of: event).count + 128
    }

    private func hub(_ journal: ReplaceableJournal) -> ChangeHub {
        ChangeHub({ () throws(JournalError) in journal.changes() }, clock: clock, log: LogLines())
    }

    private func stream(
        after last: Int64, _ shared: EventWindow, _ hub: ChangeHub, _ filter: EventFilter = EventFilter()
    ) async -> EventStream {
        let stream = EventStream(after: last, filter, hub, shared: shared, clock: clock)
        _ = await stream.next()
        return stream
    }

    /// Returns the ids of the events in a part of a stream.
    private func ids(_ bytes: [UInt8]?) -> [String] {
        String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("data: ") }
            .compactMap { try? JSON(parsing: Array($0.dropFirst(6).utf8))["id"]?.string }
    }

    private func part(_ shared: EventWindow, after seq: Int64, signal: Int) async -> EventWindow.Part? {
        await shared.events(after: EventWindow.Place(position: .init(seq: seq)), signal: signal)
    }

    @Test("streams that have caught up share one reading of the journal, and one that is behind reads for itself")
    func shared() async throws {
        let journal = ReplaceableJournal()
        try journal.commit((1...4).map { event($0) })
        let shared = EventWindow(journal)
        let member = await shared.join()
        func ids(after seq: Int64, signal: Int) async -> [String]? {
            guard let part = await part(shared, after: seq, signal: signal) else { return nil }
            #expect(part.isLast)
            let ids = self.ids(part.bytes)
            #expect(part.end.position.seq == ids.last.flatMap { Int64($0.dropFirst(2)) } ?? seq)
            return ids
        }
        #expect(await ids(after: 2, signal: 1) == ["0-3", "0-4"])
        #expect(await ids(after: 3, signal: 1) == ["0-4"])
        #expect(await ids(after: 1, signal: 1) == nil)
        try journal.commit([event(5)])
        // Nobody knows of a change, so the journal is not read.
        #expect(await ids(after: 4, signal: 1) == [])
        #expect(await ids(after: 4, signal: 2) == ["0-5"])
        #expect(await ids(after: 2, signal: 2) == ["0-3", "0-4", "0-5"])
        #expect(await ids(after: 6, signal: 2) == nil)
        #expect(journal.use.reads == 2 && journal.use.opened == 1)
        withExtendedLifetime(member) {}
    }

    @Test("what streams share is bounded, the oldest events leave it first, and it is sent in parts")
    func bound() async throws {
        let journal = ReplaceableJournal()
        let limit = 2 * size + size / 2
        let shared = EventWindow(journal, limit: limit)
        let member = await shared.join()
        try journal.commit((1...3).map { event($0) })
        #expect(await part(shared, after: 0, signal: 1) == nil)
        #expect(await part(shared, after: 2, signal: 1)?.end.position.seq == 3)
        for number in 4...9 {
            try journal.commit([event(number)])
            #expect(await part(shared, after: Int64(number) - 1, signal: number)?.end.position.seq == Int64(number))
            // The one before the newest stays, whatever leaves.
            #expect(await part(shared, after: Int64(number) - 2, signal: number)?.end.position.seq == Int64(number))
            #expect(await part(shared, after: Int64(number) - 3, signal: number) == nil)
            #expect(await shared.size <= limit)
        }

        let tiny = EventWindow(journal, limit: size / 2)
        let other = await tiny.join()
        #expect(
            await part(tiny, after: 8, signal: 1)?.end.position.seq == 9, "one event that is larger than the bound")

        try journal.commit([10, 11].map { event($0, title: String(repeating: "x", count: 40_000)) })
        let all = EventWindow(journal)
        let third = await all.join()
        let first = try #require(await part(all, after: 9, signal: 1))
        #expect(first.end.position.seq == 10 && !first.isLast)
        #expect(await part(all, after: 10, signal: 1)?.end.position.seq == 11)
        withExtendedLifetime((member, other, third)) {}
    }

    @Test("a stream that fell behind the window returns to it, over the reader of all streams")
    func returns() async throws {
        let journal = ReplaceableJournal()
        let shared = EventWindow(journal, limit: 3 * size)
        let hub = hub(journal)
        try journal.commit([event(1)])
        let (fast, slow) = (await stream(after: 0, shared, hub), await stream(after: 0, shared, hub))
        #expect(ids(await fast.next()) == ["0-1"])
        #expect(ids(await slow.next()) == ["0-1"])
        for number in 2...20 {
            try journal.commit([event(number)])
            #expect(ids(await fast.next()) == ["0-\(number)"])
        }
        #expect(ids(await slow.next()) == (2...20).map { "0-\($0)" })
        try journal.commit([event(21)])
        #expect(ids(await fast.next()) == ["0-21"])
        let reads = journal.use.reads
        #expect(ids(await slow.next()) == ["0-21"])
        #expect(journal.use.reads == reads && journal.use.opened == 1)
        await hub.stop()
    }

    @Test("a filter that few events pass reads each of the others once")
    func seldom() async throws {
        let journal = ReplaceableJournal()
        var cursor = JournalCursor(journal, after: 0, EventFilter(source: "blog"), limit: 2)
        func read() async throws -> [Int64] { try await cursor.next().map(\.seq) }
        try journal.commit([event(1, source: "blog")] + (2...5).map { event($0) })
        #expect(try await read() == [1])
        for number in 6...8 {
            try journal.commit([event(number)])
            #expect(try await read() == [])
        }
        #expect(journal.use.filtered == [0, 5, 6, 7])
        #expect(try await read() == [])
        #expect(journal.use.filtered.count == 4, "nothing was committed")
        try journal.commit((9...13).map { event($0, source: "blog") })
        #expect(try await read() == [9, 10])
        #expect(try await read() == [11, 12])
        #expect(try await read() == [13])
        #expect(try await read() == [])
    }

    @Test("a filter begins again with a database that was restored, however many events it has by then")
    func restored() async throws {
        for count in [1, 5, 9] {
            let journal = ReplaceableJournal(isFile: false)
            var cursor = JournalCursor(journal, after: 0, EventFilter(source: "blog"))
            try journal.commit([event(1, source: "blog")] + (2...5).map { event($0) })
            #expect(try await cursor.next().map(\.seq) == [1])
            journal.replace()
            try journal.commit((1...count).map { event($0, of: 1, source: "blog") })
            #expect(try await cursor.next().map(\.seq) == (1...Int64(count)).map { $0 })
        }
    }

    @Test("a stream gets what is committed right after its last part without a pause")
    func latency() async throws {
        let journal = ReplaceableJournal()
        let (shared, hub) = (EventWindow(journal), hub(journal))
        let stream = await stream(after: 0, shared, hub)
        let start = clock.now().boot
        for number in 1...5 {
            try journal.commit([event(number)])
            #expect(ids(await stream.next()) == ["0-\(number)"])
        }
        #expect(clock.now().boot == start)
        await hub.stop()
    }

    @Test("the last stream gives back the window and the reader")
    func givesBack() async throws {
        let journal = ReplaceableJournal()
        let (shared, hub) = (EventWindow(journal), hub(journal))
        try journal.commit([event(1), event(2)])
        var first: EventStream? = await stream(after: 0, shared, hub)
        var second: EventStream? = await stream(after: 1, shared, hub, EventFilter(source: "lab"))
        #expect(ids(await first?.next()) == ["0-1", "0-2"])
        #expect(ids(await second?.next()) == ["0-2"])
        #expect(await shared.readers == 2)
        #expect(await shared.size == 2 * size)
        #expect(journal.use.open == 1)
        first = nil
        try await until { await shared.readers == 1 }
        #expect(await shared.size == 2 * size)
        second = nil
        try await until { await shared.readers == 0 }
        #expect(await shared.size == 0)
        try await until { journal.use.open == 0 }
        await hub.stop()
    }

    @Test("a stream that reads late gets its sign of life, also when a change came at the same time")
    func signOfLife() async throws {
        let journal = ReplaceableJournal()
        try journal.commit([event(1)])
        let (shared, hub) = (EventWindow(journal), hub(journal))
        let stream = await stream(after: 1, shared, hub)
        try await until { clock.sleepers > 0 }
        clock.advance(ChangeHub.keepAlive)
        try journal.commit([event(2)])
        // Of all signals until now, a late reader gets the last one.
        for await signal in await hub.signals() where signal.changes > 0 && signal.signsOfLife > 0 { break }
        #expect(ids(await stream.next()) == ["0-2"])
        let filtered = await self.stream(after: 2, shared, hub, EventFilter(source: "blog"))
        clock.advance(ChangeHub.keepAlive)
        try journal.commit([event(3)])
        for await signal in await hub.signals() where signal.changes > 1 && signal.signsOfLife > 1 { break }
        #expect(await filtered.next() == Array(":\n\n".utf8))
        await hub.stop()
    }

    @Test("a watch of the journal that cannot be started is tried again, later each time, and the log has it")
    func watchFails() async throws {
        let (journal, lines) = (ReplaceableJournal(), LogLines())
        let (attempts, attempt) = AsyncStream<Void>.makeStream()
        let failures = Failures(2)
        let hub = ChangeHub(
            { () throws(JournalError) in
                attempt.yield()
                if failures.next() { throw JournalError(.inputOutput, "too many open files") }
                return journal.changes()
            }, clock: clock, log: lines)
        var signals = await hub.signals().makeAsyncIterator()
        #expect(await signals.next()?.changes == 0)
        var tried = attempts.makeAsyncIterator()
        // The first second is over at once; then the keep-alive and the next attempt wait.
        for _ in 0..<2 { _ = await tried.next() }
        try await until { clock.sleepers == 2 }
        clock.advance(.seconds(2))
        _ = await tried.next()
        #expect(await signals.next()?.changes == 1, "what was committed meanwhile may be read")
        try journal.commit([event(1)])
        #expect(await signals.next()?.changes == 2)
        #expect(lines.all.count == 3)
        #expect(lines.all.first?.contains("in 1 s: too many open files") == true)
        #expect(lines.all.dropFirst().first?.contains("in 2 s: too many open files") == true)
        await hub.stop()
    }

    /// Streams of any speed beside a writer whose journal is replaced now and then, as the journals have them.
    @Test(
        "whatever readers do, each gets every event of the journal once and in order, also of one that takes its place",
        arguments: 0..<20)
    func model(seed: Int) async throws {
        var random = SplitMix64(UInt64(seed))
        let journal = ReplaceableJournal(isFile: seed % 2 == 0)
        let shared = EventWindow(journal, limit: Int.random(in: 1...40, using: &random) * size)
        let hub = hub(journal)
        /// The numbers of events that each journal has.
        var counts = [0]
        var readers: [(stream: EventStream, got: [String])] = []
        for _ in 0..<4 { readers.append((await stream(after: 0, shared, hub), [])) }
        func isComplete(_ got: [String]) -> Bool {
            counts[counts.count - 1] == 0 || got.last == "\(counts.count - 1)-\(counts[counts.count - 1])"
        }
        func advance(_ index: Int) async {
            guard !isComplete(readers[index].got) else { return }
            readers[index].got += ids(await readers[index].stream.next())
        }
        for _ in 0..<60 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                let added = Int.random(in: 0..<10, using: &random) == 0 ? 300 : Int.random(in: 1...9, using: &random)
                let (last, number) = (counts[counts.count - 1], counts.count - 1)
                try journal.commit((last + 1...last + added).map { event($0, of: number) })
                counts[number] += added
            case 6 where counts.count < 4:
                journal.replace()
                counts.append(0)
            case 7:
                let index = Int.random(in: readers.indices, using: &random)
                readers[index] = (await stream(after: 0, shared, hub), [])
            default: await advance(Int.random(in: readers.indices, using: &random))
            }
        }
        for index in readers.indices {
            for _ in 0..<2000 where !isComplete(readers[index].got) { await advance(index) }
            #expect(isComplete(readers[index].got))
            var last = (journal: -1, number: 0)
            for id in readers[index].got {
                let parts = id.split(separator: "-").compactMap { Int($0) }
                let isNext =
                    parts[0] == last.journal ? parts[1] == last.number + 1 : parts[0] > last.journal && parts[1] == 1
                #expect(isNext, "\(id) after \(last)")
                last = (parts[0], parts[1])
            }
        }
        await hub.stop()
    }
}
