// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

/// What a server sends first over a connection: its past, or everything that exists.
extension StreamTests {
    @Test("what a server sends of its past at the first connection is the baseline, which a pause of a second ends")
    func past() async throws {
        let streams = [FakeRecords(), FakeRecords()]
        let world = World([Self.streaming(first: .baseline)])
        world.fetcher.serve(url("a"), streams[0])
        try await world.run {
            streams[0].push("1=a", "2=x", "1=b", id: "3")
            try await until { streams[0].isIdle }
            world.clock.advance(.milliseconds(900))
            // A cut connection has stored nothing of its past, so the next one begins anew.
            streams[0].fail(FetchError(.timeout, "cut"))
            world.fetcher.serve(url("a"), streams[1])
            try await world.advance(.seconds(60)) { streams[1].isIdle }
            streams[1].push("1=a", "2=x", "1=b")
            try await until { streams[1].isIdle }
            world.clock.advance(.milliseconds(900))
            streams[1].push("3=y", id: "4")
            try await until { streams[1].isIdle }
            world.clock.advance(.milliseconds(1100))
            try await until { await world.journal.records["a"]?.snapshot?.count == 3 }
            #expect(await world.journal.records["a"]?.snapshot?.resume == "4")
            streams[1].push("1=c", "4=z")
            try await until { await world.journal.events.count == 2 }
        }
        #expect(await Self.short(world) == ["changed 1=c", "appeared 4=z"])
    }

    @Test("a stream that never pauses has its past behind it after ten seconds")
    func neverPauses() async throws {
        let (world, stream) = (World([Self.streaming(first: .baseline)]), FakeRecords())
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            for number in 1...30 {
                stream.push("\(number)=a")
                try await until { stream.isIdle }
                world.clock.advance(.milliseconds(500))
            }
            try await until { await world.journal.events.count >= 8 }
        }
        #expect(await Self.short(world).last == "appeared 30=a")
        #expect(await world.journal.events.count <= 11)
    }

    @Test("an item of the first connection that says it is newer than that is news")
    func newerThanConnection() async throws {
        let (world, stream) = (World([Self.streaming(first: .baseline)]), FakeRecords())
        world.fetcher.serve(url("a"), stream)
        try await world.run {
            let now = world.clock.now().wall
            let times = [-1, 1].map { now.advanced(by: .seconds($0)).milliseconds / 1000 }
            stream.push("1@\(times[0])=a", "2@\(times[1])=b")
            try await until { stream.isIdle }
            world.clock.advance(.milliseconds(1100))
            try await until { await world.journal.records["a"]?.snapshot?.count == 2 }
        }
        #expect(await Self.short(world) == ["appeared 2=b"])
    }

    @Test("a source that is polled by brief connections tells nothing of what the first one brings")
    func briefPast() async throws {
        let sources = (0..<9).map { Self.streaming("s\($0)", host: "h", first: .baseline) }
        let world = World(sources)
        let streams = (0..<10).map { _ in FakeRecords() }
        for number in 0..<8 { world.fetcher.serve(sources[number].url, streams[number]) }
        world.fetcher.serve(sources[8].url, streams[8], streams[9])
        try await world.run {
            streams[8].push("1=a")
            try await world.advance(.seconds(60)) { await world.journal.records["s8"]?.snapshot?.count == 1 }
            streams[9].push("1=a", "2=b")
            try await world.advance(.seconds(120)) { await world.journal.records["s8"]?.snapshot?.count == 2 }
        }
        #expect(await Self.short(world) == ["appeared 2=b"])
    }

    @Test("a server that lists what exists gives the baseline first, and in a list what a later listing lacks is gone")
    func initial() async throws {
        let world = World([Self.streaming(mode: .list, first: .baseline) { $0.initial = .seconds(2) }])
        let streams = [FakeRecords(), FakeRecords()]
        world.fetcher.serve(url("a"), streams[0], streams[1])
        try await world.run {
            streams[0].push("1=a", "2=b")
            streams[0].push("3=c")
            try await world.advance(.seconds(2)) { await world.journal.records["a"]?.snapshot?.count == 3 }
            #expect(await world.journal.events.isEmpty)
            try await until { streams[0].isIdle }
            streams[0].push("2=B")
            try await until { await Self.short(world) == ["changed 2=B"] }
            streams[0].fail(FetchError(.closed, "the server closed the connection"))
            try await until { streams[0].isClosed }
            streams[1].push("1=a", "2=B", "4=d")
            try await world.advance(.seconds(60)) { await world.journal.events.count == 2 }
            try await until { streams[1].isIdle }
            // The connection is alive: item 3 has not come back.
            world.clock.advance(.seconds(2))
            streams[1].push()
            try await until { await world.journal.events.count == 3 }
        }
        #expect(await Self.short(world) == ["changed 2=B", "appeared 4=d", "disappeared 3=c"])
    }
}
