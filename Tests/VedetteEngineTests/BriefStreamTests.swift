// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

/// Brief connections: of `run --once`, and of sources beyond the number of streams.
extension StreamTests {
    /// Polls every source once, over brief connections.
    private static func pollOnce(_ world: World, _ stream: FakeRecords) async throws -> [OnceResult] {
        world.fetcher.serve(url("a"), stream)
        let polling = Task { await world.watcher.runOnce(force: true) }
        try await world.advance(.seconds(2)) { stream.isClosed }
        return await polling.value
    }

    @Test("states of one item that wait for a brief connection are events each, in order, and its result counts them")
    func briefBurst() async throws {
        let (world, streams) = (World([Self.streaming()]), [FakeRecords(), FakeRecords()])
        try await world.restore()
        streams[0].push("1=Up", id: "1")
        _ = try await Self.pollOnce(world, streams[0])
        streams[1].push("1=Failed", id: "2")
        streams[1].push("1=Up", "2=Up", id: "3")
        let result = try await Self.pollOnce(world, streams[1])
        #expect(result == [.good(items: 2, isBaseline: false, events: 3)])
        #expect(
            await Self.short(world) == ["appeared 1=Up", "changed 1=Failed", "changed 1=Up", "appeared 2=Up"])
        #expect(await world.watcher.record(of: "a")?.snapshot?.resume == "3")
    }

    @Test("what came over a brief connection before a record that cannot be read is stored; the poll has failed")
    func briefUnreadable() async throws {
        let (world, stream) = (World([Self.streaming()]), FakeRecords())
        try await world.restore()
        stream.push("1=a", id: "1")
        stream.push("2=b", id: "2")
        stream.push("<html>", id: "3")
        guard case .failed? = try await Self.pollOnce(world, stream).first else {
            Issue.record("the poll must fail")
            return
        }
        #expect(await Self.short(world) == ["appeared 1=a", "appeared 2=b"])
        let record = await world.journal.records["a"]
        #expect(record?.snapshot?.resume == "2" && record?.health.failures == 1)
    }

    @Test(
        "a report of an expired id where none was sent is a failed poll, with and without a list",
        arguments: [nil, Duration.seconds(2)])
    func expiredUnasked(initial: Duration?) async throws {
        let world = World([
            Self.streaming(mode: initial == nil ? .window : .list) {
                $0.initial = initial
                $0.expired = [RecordCondition(RecordCondition.event, ["expired"])]
            }
        ])
        try await world.run {
            for number in 1...3 {
                let stream = FakeRecords()
                world.fetcher.serve(url("a"), stream)
                try await world.advance(.seconds(600)) { stream.isIdle }
                stream.push("1=a", event: "expired")
                try await until { await world.journal.records["a"]?.health.failures == number }
            }
        }
        #expect(await Self.short(world) == ["failing "])
        let problem = await world.journal.records["a"]?.health.problem
        #expect(problem?.detail == "the server reports an expired id, though none was sent")
    }
}
