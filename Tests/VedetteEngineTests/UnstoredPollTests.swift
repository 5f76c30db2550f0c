// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("Polls that are not stored", .timeLimit(.minutes(10)))
struct UnstoredPollTests {
    private static let detail = "the journal refused a record (too long)"
    private let meter = FakeMeter()

    /// Polls once more: the world stands between two polls, so nothing runs beside it.
    private func poll(_ world: World) async -> OnceResult? { await world.watcher.runOnce(force: true).first }

    private func world() async throws -> World {
        let world = World([source("a")], meter: meter)
        world.fetcher.serve(url("a"), "1=Ready")
        try await world.watcher.restore()
        #expect(await poll(world) == .good(items: 1, isBaseline: true, events: 0))
        world.fetcher.serve(url("a"), "1=Ready\nbad=Ready")
        return world
    }

    private func told(_ world: World) async -> [String] { await world.journal.events.map(\.kind.word) }

    @Test(
        "I12: a poll that the journal refuses is failed, with class, backoff, event and metric, until one is stored",
        .tags(.I12))
    func refused() async throws {
        let world = try await world()
        await world.journal.refuse { $0.writes.contains { $0.key == "bad" } }
        for failures in 1...3 {
            #expect(await poll(world) == .failed(source: "a", detail: Self.detail))
            let record = await world.journal.records["a"]
            let health = try #require(record?.health)
            #expect(health.failures == failures && health.isFailing == (failures == 3))
            #expect(health.problem == Event.Problem(failure: "not-stored", detail: Self.detail))
            let delay = try #require(record?.due).seconds(since: try #require(health.lastPollAt))
            #expect(delay >= 60, "every, and a random part of the backoff")
            #expect(record?.snapshot?.count == 1)
            #expect(await Set(world.journal.items(of: "a").keys) == ["1"], "I2: the snapshot stands")
            #expect(await told(world) == (failures < 3 ? [] : ["failing"]))
        }
        #expect(meter.sum(.polls, "a", "failed") == 3 && meter.sum(.polls, "a", "read") == 1)
        #expect(world.log.all.contains { $0.hasPrefix("a: not-stored: \(Self.detail) (p-") })
        await world.journal.refuse(nil)
        #expect(await poll(world) == .good(items: 2, isBaseline: false, events: 2))
        #expect(await told(world) == ["failing", "recovered", "appeared"])
        #expect(meter.sum(.polls, "a", "failed") == 3 && meter.sum(.polls, "a", "read") == 2)
    }

    @Test(
        "a failure that is not stored, either, counts in memory, and the next one that can be stored has the event",
        .tags(.I12))
    func refusedFailure() async throws {
        let world = try await world()
        await world.journal.refuse { $0.record?.name == "a" }
        for failures in 1...4 {
            #expect(await poll(world) == .unwritten(Self.detail))
            #expect(await world.journal.records["a"]?.health.isFailing == false)
            #expect(meter.sum(.polls, "a", "failed") == failures)
        }
        #expect(await told(world).isEmpty)
        await world.journal.refuse { $0.writes.contains { $0.key == "bad" } }
        #expect(await poll(world) == .failed(source: "a", detail: Self.detail))
        #expect(await world.journal.records["a"]?.health.failures == 5)
        #expect(await told(world) == ["failing"])
    }

    @Test("an outage of the journal is no failure of the sources, and no poll of it counts as good", .tags(.I12))
    func outage() async throws {
        let world = try await world()
        await world.journal.fail(commits: true)
        for _ in 1...4 { #expect(await poll(world) == .unwritten("the disk is full")) }
        #expect(meter.sum(.polls, "a", "failed") == 4 && meter.sum(.polls, "a", "read") == 1)
        await world.journal.fail()
        #expect(await poll(world) == .good(items: 2, isBaseline: false, events: 1))
        #expect(await told(world) == ["appeared"])
    }

    @Test(
        "I12: a source that alone cannot be stored, for a lock or for want of time, fails while the others are stored",
        .tags(.I12),
        arguments: [JournalError.Reason.busy, .inputOutput])
    func alone(_ reason: JournalError.Reason) async throws {
        let world = World([source("a"), source("b")], meter: meter)
        func poll(_ number: Int) async {
            world.fetcher.serve(url("a"), "1=Ready\n2=Step \(number)")
            world.fetcher.serve(url("b"), "1=Step \(number)")
            _ = await world.watcher.runOnce(force: true)
        }
        try await world.watcher.restore()
        await poll(0)
        await world.journal.refuse(as: reason) { $0.record?.name == "a" && !$0.writes.isEmpty }
        // The first may be an outage. Those after it are none, when the other source was stored in between.
        for number in 1...8 { await poll(number) }
        let records = await world.journal.records
        #expect(records["a"]?.health.problem == Event.Problem(failure: "not-stored", detail: Self.detail))
        #expect(records["a"]?.health.isFailing == true && records["b"]?.health.failures == 0)
        #expect(await told(world).count { $0 == "failing" } == 1)
        #expect(meter.sum(.polls, "a", "failed") == 8 && meter.sum(.polls, "b", "failed") == 0)
        await world.journal.refuse(nil)
        await poll(9)
        #expect(await told(world).contains("recovered"))
        #expect(await world.journal.records["a"]?.health.failures == 0)
    }

    @Test(
        "an item whose key is too long for an index is stored under its beginning and a digest, at each poll the same",
        .tags(.I12))
    func longKeys() async throws {
        let world = World([source("a")])
        let beginning = String(repeating: "k", count: 4000)
        try await world.watcher.restore()
        for state in ["Starting", "Ready"] {
            world.fetcher.serve(url("a"), "\(beginning)1=\(state)\n\(beginning)2=Ready")
            _ = await poll(world)
        }
        let keys = await world.journal.items(of: "a").keys
        #expect(keys.count == 2 && keys.allSatisfy { $0.utf8.count < 200 && $0.hasPrefix("kkk") })
        let events = await world.journal.events
        #expect(events.map(\.kind) == [.changed] && events.allSatisfy { keys.contains($0.item?.key ?? "") })
    }
}
