// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Streams", .timeLimit(.minutes(10)))
struct StreamTests {
    /// - Parameter first: what begins with the first record, where a test is not about a server's past.
    static func streaming(
        _ name: String = "a", mode: ReadingMode = .window, identity: UInt64 = 1, host: String? = nil,
        first: Source.First = .announce, _ change: (inout StreamSettings) -> Void = { _ in }
    ) -> Source {
        var settings = StreamSettings()
        change(&settings)
        var streaming = source(name, mode: mode, identity: identity, host: host)
        (streaming.stream, streaming.first) = (settings, first)
        return streaming
    }

    static func short(_ world: World) async -> [String] {
        await world.journal.events.map {
            "\($0.kind.word) \($0.item?.key ?? "")\($0.item?.state.map { "=" + $0 } ?? "")"
        }
    }

    @Test("what is pushed over the first connection is news, is delivered at once, and the source has no due time")
    func news() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            try await until { stream.isIdle }
            let opened = await world.journal.records["a"]
            #expect(opened?.connection == .open && opened?.due == nil && opened?.snapshot?.count == 0)
            #expect(await world.watcher.isNothingScheduled)
            stream.push("1=Starting")
            // Nothing but the commit stands between the record and the sink: no clock moves.
            try await until { world.sink.seen.count == 1 }
            stream.push("1=Ready", "2=Starting")
            try await until { await world.journal.events.count == 3 }
        }
        #expect(await Self.short(world) == ["appeared 1=Starting", "changed 1=Ready", "appeared 2=Starting"])
        #expect(world.fetcher.requests.count == 1 && stream.isClosed)
        // What the journal keeps after the end is no open connection.
        let record = await world.journal.records["a"]
        #expect(record?.connection == nil && record?.due != nil && record?.snapshot?.count == 2)
    }

    @Test("states of one item that come in one batch are events each, in order")
    func intermediate() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            stream.push("1=a", "2=x", "1=b", "1=b", "1=c")
            try await until { await world.journal.events.count == 4 }
        }
        #expect(await Self.short(world) == ["appeared 1=a", "appeared 2=x", "changed 1=b", "changed 1=c"])
    }

    @Test(
        "items, events and resume id are one commit; after a kill reading goes on behind it without gap or repeat",
        .tags(.I1))
    func resume() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        let (first, second) = (FakeRecords(), FakeRecords())
        let world = World([Self.streaming()], journal: journal, clock: clock)
        world.fetcher.serve(url("a"), first)
        try await world.run {
            first.push("1=a", id: "10")
            try await until { await journal.events.count == 1 }
            #expect(await journal.records["a"]?.snapshot?.resume == "10")
            // This commit fails, as if the process were killed before it.
            await journal.fail(commits: true)
            first.push("2=b", id: "11")
            try await until { first.isClosed }
            #expect(await journal.records["a"]?.snapshot?.resume == "10")
        }
        await journal.fail()
        let next = World([Self.streaming()], journal: journal, clock: clock)
        next.fetcher.serve(url("a"), second)
        try await next.run {
            try await next.advance(.seconds(5)) { second.isIdle }
            second.push("2=b", id: "11")
            second.push("1=a", "3=c", id: "12")
            try await until { await journal.records["a"]?.snapshot?.resume == "12" }
        }
        let request = next.fetcher.requests.first
        #expect(request?.headers.first { $0.name == "Last-Event-ID" }?.value == "10")
        #expect(await Self.short(next) == ["appeared 1=a", "appeared 2=b", "appeared 3=c"])
    }

    @Test("the resume id goes back as the parameter that takes it")
    func parameter() async throws {
        let streams = [FakeRecords(), FakeRecords()]
        let world = World([Self.streaming { $0.parameter = "since" }])
        world.fetcher.serve(url("a"), streams[0])
        world.fetcher.serve(url("a") + "?since=x%2F1", streams[1])
        try await world.run {
            streams[0].push("1=a", id: "x/1")
            try await until { streams[0].isIdle }
            streams[0].end()
            try await world.advance(.seconds(61)) { streams[1].isIdle }
        }
        #expect(world.fetcher.requests.last?.headers.contains { $0.name == "Last-Event-ID" } == false)
    }

    @Test("an id is not sent back after an edit of how it is sent or where it is read: it is no such id")
    func editedResume() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        let edits: [(inout StreamSettings) -> Void] = [
            { _ in }, { _ in }, { $0.resume = "time" },
            {
                $0.resume = "time"
                $0.parameter = "since"
            },
        ]
        var sent: [String?] = []
        for (number, edit) in edits.enumerated() {
            let stream = FakeRecords()
            let world = World([Self.streaming("a", edit)], journal: journal, clock: clock, seed: UInt64(number + 7))
            world.fetcher.serve(url("a"), stream)
            try await world.run {
                try await world.advance(.seconds(60)) { stream.isIdle }
                stream.push("1=a", id: "9")
                try await until { stream.isIdle }
            }
            sent.append(world.fetcher.requests.first?.headers.first { $0.name == "Last-Event-ID" }?.value)
            #expect(world.fetcher.requests.allSatisfy { $0.url == url("a") })
        }
        #expect(sent == [nil, "9", nil, nil])
    }

    @Test("an orderly end is no failure; the stream is opened again after the server's retry time")
    func ended() async throws {
        let streams = [FakeRecords(retry: .seconds(2)), FakeRecords()]
        let world = World([Self.streaming()])
        world.fetcher.serve(url("a"), streams[0], streams[1])
        try await world.run {
            streams[0].push("1=a")
            try await until { streams[0].isIdle }
            streams[0].end()
            try await world.advance(.seconds(3)) { streams[1].isIdle }
        }
        let health = await world.journal.records["a"]?.health
        #expect(health?.failures == 0 && health?.problem == nil)
    }

    @Test(
        "a silent connection is a failed poll; reconnects back off as polls do, and one that lasts ten seconds is a recovery"
    )
    func silent() async throws {
        let world = World([Self.streaming()])
        let streams = (0..<2).map { _ in FakeRecords() }
        world.fetcher.serve(url("a"), streams[0])
        try await world.run {
            try await until { streams[0].isIdle }
            streams[0].fail(FetchError(.timeout, "nothing came for 90 s"))
            try await until { await world.journal.records["a"]?.health.failures == 1 }
            #expect(await world.journal.records["a"]?.connection == nil)
            try await world.advance(.seconds(60)) { await Self.short(world) == ["failing "] }
            let attempts = world.fetcher.requests.count
            #expect(attempts == 3)
            world.fetcher.serve(url("a"), streams[1])
            try await world.advance(.seconds(60)) { streams[1].isIdle }
            // A status line is no success.
            #expect(await Self.short(world) == ["failing "])
            try await world.advance(.seconds(10)) { await Self.short(world) == ["failing ", "recovered "] }
            #expect(await world.journal.records["a"]?.connection == .open)
        }
    }

    @Test(
        "a stored record is a recovery at once where none was unreadable, and keep-alive bytes confirm it then",
        .tags(.I12))
    func stored() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        world.fetcher.fail(url("a"), FetchError(.refused, "nobody listens"))
        try await world.run {
            try await world.advance(.seconds(60)) { await Self.short(world) == ["failing "] }
            world.fetcher.serve(url("a"), stream)
            try await world.advance(.seconds(60)) { stream.isIdle }
            world.clock.advance(.seconds(2))
            // So early, bytes that keep the connection alive prove nothing.
            stream.push()
            try await until { stream.isIdle }
            #expect(await Self.short(world) == ["failing "])
            stream.push("1=a")
            try await until { await Self.short(world) == ["failing ", "recovered ", "appeared 1=a"] }
            try await until { stream.isIdle }
            let good = await world.journal.records["a"]?.health.lastPollAt
            world.clock.advance(.seconds(2))
            stream.push()
            try await until { stream.isIdle }
            #expect(await world.watcher.record(of: "a")?.health.lastPollAt != good)
        }
    }

    /// Opens connections one after the other, of which each pushes an unreadable record.
    /// - Parameter use: called with each connection once its reader waits.
    private static func spoil(
        _ world: World, _ count: Int, _ use: (FakeRecords) async throws -> Void
    ) async throws {
        for number in 1...count {
            let stream = FakeRecords()
            world.fetcher.serve(url("a"), stream)
            try await world.advance(.seconds(600)) { stream.isIdle }
            try await use(stream)
            stream.push("<html>")
            try await until { await world.journal.records["a"]?.health.failures == number }
        }
    }

    @Test(
        "a server whose records cannot be read is failing however often it is connected to, with growing pauses",
        .tags(.I12))
    func unreadableOnly() async throws {
        let world = World([Self.streaming()])
        try await world.run {
            try await Self.spoil(world, 8) { _ in }
            #expect(await Self.short(world) == ["failing "])
            let record = await world.journal.records["a"]
            #expect(record?.health.isUnreadable == true && record?.health.problem?.failure == "wrong-type")
            // The seventh pause is up to 3 s and 384 s.
            let longest = PollInterval(every: .seconds(3)).delay(failures: 8, random: 1)
            let next = record?.due.map { $0.seconds(since: world.clock.now().wall) } ?? 0
            #expect(next > 3 && next <= longest.inSeconds)
        }
        #expect(!world.log.all.contains { $0.contains("answers again") })
    }

    @Test(
        "a server with one unreadable record every eleven seconds is failing, and only a stored record ends that",
        .tags(.I12))
    func unreadableLater() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        let world = World([Self.streaming()], journal: journal, clock: clock)
        try await world.run {
            try await Self.spoil(world, 4) { stream in
                for _ in 0..<11 {
                    world.clock.advance(.seconds(1))
                    stream.push()
                    try await until { stream.isIdle }
                }
            }
            #expect(await Self.short(world) == ["failing "])
        }
        // A restart does not forget it.
        let (next, stream) = (World([Self.streaming()], journal: journal, clock: clock), FakeRecords())
        next.fetcher.serve(url("a"), stream)
        try await next.run {
            try await next.advance(.seconds(600)) { stream.isIdle }
            next.clock.advance(.seconds(20))
            stream.push()
            try await until { stream.isIdle }
            #expect(await Self.short(next) == ["failing "])
            stream.push("1=a")
            try await until { await Self.short(next) == ["failing ", "recovered ", "appeared 1=a"] }
        }
    }

    @Test("good records before an unreadable one are stored and announced, and end no failure while that goes on")
    func unreadableAfterGood() async throws {
        let world = World([Self.streaming()])
        try await world.run {
            try await Self.spoil(world, 4) { stream in
                // Every connection begins with what is there already.
                stream.push("1=a")
                try await until { stream.isIdle }
            }
            #expect(await Self.short(world) == ["appeared 1=a", "failing "])
            let stream = FakeRecords()
            world.fetcher.serve(url("a"), stream)
            try await world.advance(.seconds(600)) { stream.isIdle }
            stream.push("1=a", "2=b")
            try await until { stream.isIdle }
            #expect(await Self.short(world) == ["appeared 1=a", "failing ", "appeared 2=b"])
            try await world.advance(.seconds(10)) { await world.journal.events.count == 4 }
            #expect(await Self.short(world).last == "recovered ")
        }
    }

    @Test("a server that sends a good record first and an unreadable one after eleven seconds is failing, too")
    func unreadableLongAfterGood() async throws {
        let world = World([Self.streaming()])
        try await world.run {
            try await Self.spoil(world, 4) { stream in
                stream.push("1=a")
                try await until { stream.isIdle }
                for _ in 0..<11 {
                    world.clock.advance(.seconds(1))
                    stream.push()
                    try await until { stream.isIdle }
                }
            }
            #expect(await Self.short(world) == ["appeared 1=a", "failing "])
        }
    }

    @Test("an orderly end behind a stored record ends a failure, without one it ends none")
    func orderlyEnd() async throws {
        let world = World([Self.streaming()])
        try await world.run {
            try await Self.spoil(world, 3) { _ in }
            for record in [nil, "1=a"] {
                #expect(await Self.short(world) == ["failing "])
                let stream = FakeRecords()
                world.fetcher.serve(url("a"), stream)
                if let record { stream.push(record) }
                stream.end()
                try await world.advance(.seconds(600)) { stream.isClosed }
            }
            try await until { await Self.short(world) == ["failing ", "appeared 1=a", "recovered "] }
        }
    }

    @Test("a source that fails while its connection is open and brings nothing becomes stale")
    func staleWhileOpen() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        try await world.run {
            try await Self.spoil(world, 1) { _ in }
            world.fetcher.serve(url("a"), stream)
            try await world.advance(.seconds(60)) { stream.isIdle }
            world.clock.advance(.seconds(3700))
            stream.push()
            try await until { await Self.short(world) == ["stale "] }
        }
    }

    @Test("a record that cannot be read fails the connection, and what came before it is committed")
    func unreadable() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            stream.push("1=a", "<html>", "2=b", id: "5")
            try await until { await world.journal.records["a"]?.health.failures == 1 }
        }
        #expect(await Self.short(world) == ["appeared 1=a"])
        #expect(stream.isClosed)
        #expect(await world.journal.records["a"]?.health.problem?.detail.contains("a record of the stream") == true)
    }

    @Test("an id that the server no longer has is dropped, and where it lists nothing a gap is announced")
    func expired() async throws {
        let stream = FakeRecords()
        let world = World([Self.streaming()])
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            stream.push("1=a", id: "9")
            try await until { stream.isIdle }
            world.fetcher.answer(url("a")) { request in
                let isOld = request.headers.contains { $0.name == "Last-Event-ID" }
                return .success(FakeFetcher.response(request.url, "", status: isOld ? 410 : 503))
            }
            stream.end()
            try await world.advance(.seconds(70)) { await world.journal.events.count == 2 }
        }
        #expect(await Self.short(world) == ["appeared 1=a", "suspect "])
        #expect(await world.journal.records["a"]?.snapshot?.resume == nil)
    }

    @Test("a server that answers with a complete body is polled at its interval, and the record says so")
    func complete() async throws {
        let world = World([Self.streaming()])
        world.fetcher.serve(url("a"), "1=a")
        try await world.run {
            try await until { await world.journal.records["a"] != nil }
            let record = await world.journal.records["a"]
            #expect(record?.connection == .polled("the server answers with a complete body"))
            #expect(record?.due.map { $0 > world.clock.now().wall.advanced(by: .seconds(50)) } == true)
            // A window shows its newest first.
            world.fetcher.serve(url("a"), "2=b\n1=a")
            try await world.advance(.seconds(70)) { await world.journal.events.count == 1 }
        }
    }

    @Test("beyond eight streams of a server the last source is polled by brief connections that lose nothing")
    func lane() async throws {
        let kept = (0..<8).map { _ in FakeRecords() }
        let sources = (0..<9).map { Self.streaming("s\($0)", host: "h") }
        let world = World(sources)
        for (i, stream) in kept.enumerated() { world.fetcher.serve(url("s\(i)", host: "h"), stream) }
        let brief = [FakeRecords(), FakeRecords()]
        world.fetcher.serve(url("s8", host: "h"), brief[0], brief[1])
        brief[0].push("1=a", id: "1")
        try await world.run {
            try await until { kept.allSatisfy(\.isIdle) && brief[0].isIdle }
            try await world.advance(.seconds(10)) { brief[0].isClosed }
            let record = await world.journal.records["s8"]
            #expect(record?.connection == .polled("8 streams of its server are open already"))
            brief[1].push("2=b", id: "2")
            try await world.advance(.seconds(70)) { brief[1].isClosed }
            let request = world.fetcher.requests.last { $0.url == url("s8", host: "h") }
            #expect(request?.headers.first { $0.name == "Last-Event-ID" }?.value == "1")
            #expect(kept.allSatisfy { !$0.isClosed })
        }
        #expect(await Self.short(world) == ["appeared 1=a", "appeared 2=b"])
    }

    @Test("64 open streams hold no slot of polls, and the 65th source is polled", .tags(.I7))
    func lanes() async throws {
        let streams = (0..<65).map { _ in FakeRecords() }
        let world = World((0..<65).map { Self.streaming("s\($0)") } + [source("p")])
        for (i, stream) in streams.enumerated() { world.fetcher.serve(url("s\(i)"), stream) }
        world.fetcher.serve(url("p"), "1=a")
        try await world.run {
            try await until { await world.journal.records["p"] != nil }
            try await until { streams.count(where: \.isIdle) == 65 }
            try await world.advance(.seconds(5)) { streams.contains(where: \.isClosed) }
            #expect(streams.firstIndex(where: \.isClosed) == 64 && streams.count(where: \.isClosed) == 1)
        }
    }

    @Test("a reload closes the stream of a source that was removed or has another request, and opens the new one")
    func reload() async throws {
        let (first, second) = (FakeRecords(), FakeRecords())
        let world = World([Self.streaming()])
        world.fetcher.serve(url("a"), first, second)
        try await world.run {
            first.push("1=a", id: "1")
            try await until { first.isIdle }
            try await world.watcher.reload(WatchConfiguration(sources: [Self.streaming()], rules: RuleSet([])))
            #expect(!first.isClosed)
            let changed = Self.streaming { $0.keepAlive = .seconds(5) }
            try await world.watcher.reload(WatchConfiguration(sources: [changed], rules: RuleSet([])))
            try await until { second.isIdle }
            #expect(first.isClosed)
            try await world.watcher.reload(WatchConfiguration(sources: [], rules: RuleSet([])))
            try await until { second.isClosed }
        }
        #expect(world.fetcher.requests.map { $0.headers.first { $0.name == "Last-Event-ID" }?.value } == [nil, "1"])
    }

    @Test("bytes that only keep the connection alive confirm what a rule waits for")
    func alive() async throws {
        let stream = FakeRecords()
        var gates = Gates()
        gates.pendingFor = .seconds(600)
        let rule = Rule(name: "stuck", when: .appears, notify: [Rule.NotificationTarget(sink: "k")], gates: gates)
        let world = World([Self.streaming()], rules: RuleSet([rule]))
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            stream.push("1=Starting")
            try await until { stream.isIdle }
            world.clock.advance(.seconds(601))
            for _ in 0..<200 { await Task.yield() }
            #expect(world.sink.seen.isEmpty)
            stream.push()
            try await until { world.sink.seen.count == 1 }
        }
    }

    @Test("after a suspend each stream is opened again")
    func suspend() async throws {
        let streams = [FakeRecords(), FakeRecords()]
        let world = World([Self.streaming(), source("p", every: .seconds(5))])
        world.fetcher.serve(url("a"), streams[0], streams[1])
        world.fetcher.serve(url("p"), "1=a")
        try await world.run {
            try await until { streams[0].isIdle }
            try await until { world.clock.untilNext != nil }
            world.clock.suspend(.seconds(3600))
            try await world.advance(.seconds(10)) { streams[1].isIdle }
            #expect(streams[0].isClosed)
        }
    }

    @Test("one poll on demand reads what a server sends at once")
    func oneShot() async throws {
        let (fetcher, clock, stream) = (FakeFetcher(), ManualClock(), FakeRecords())
        fetcher.serve(url("a"), stream)
        stream.push("1=a", "2=b", "1=c")
        let poll = OneShotPoll(fetcher: fetcher, clock: clock, userAgent: "test/1")
        let reading = Task { try await poll.items(of: Self.streaming()) }
        try await until { stream.isIdle && clock.sleepers > 0 }
        clock.advance(.seconds(2))
        let items = try await reading.value
        #expect(items.map { "\($0.key)=\($0.state ?? "")" } == ["1=c", "2=b"])
        #expect(stream.isClosed)
    }
}
