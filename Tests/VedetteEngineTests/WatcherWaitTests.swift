// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

extension Watcher {
    /// When it would poll that source next, had its server sent that Retry-After.
    fileprivate func due(_ name: String, notBefore: Duration, now: Moment) -> BootTime? {
        guard let source = schedule[name] else { return nil }
        source.change { $0.notBefore = now.wall.advanced(by: notBefore) }
        return schedule.due(source, now: now)
    }
}

@Suite("What rules wait for, in the watcher", .timeLimit(.minutes(10)))
struct WatcherWaitTests {
    private func rules(
        _ when: Condition = .field("state", from: nil, to: .oneOf(["down"])), matchesExisting: Bool = false,
        identity: UInt64 = 1,
        _ change: (inout Gates) -> Void
    ) -> RuleSet {
        var gates = Gates()
        change(&gates)
        return RuleSet([
            Rule(
                name: "r", when: when, notify: [Rule.NotificationTarget(sink: "k")], gates: gates,
                matchesExisting: matchesExisting, identity: identity)
        ])
    }

    /// One poll of every source and what became due, as `run --once` makes it.
    private func poll(_ world: World, _ body: String) async {
        world.fetcher.serve(url("a"), body)
        _ = await world.watcher.runOnce(force: true)
    }

    private func titles(_ journal: FakeJournal) async -> [String] {
        await journal.deliveries.sorted { $0.key < $1.key }.filter { $0.value.state != .suppressed }
            .map(\.value.delivery.message.title)
    }

    private func again(_ first: World, _ set: RuleSet, every: Duration = .seconds(600)) -> World {
        let world = World([source("a", every: every)], rules: set, journal: first.journal, clock: first.clock)
        world.fetcher.serve(url("a"), "1=down")
        return world
    }

    @Test("a restart keeps the poll that is pulled forward, and makes the one that was missed at once")
    func pulledAfterRestart() async throws {
        let set = rules { $0.pendingFor = .seconds(60) }
        for asleep in [Duration.seconds(5), .seconds(120)] {
            let first = World([source("a", every: .seconds(600))], rules: set)
            try await first.watcher.restore()
            await poll(first, "1=up")
            await poll(first, "1=down")
            let held = first.clock.now().boot
            first.clock.advance(asleep)
            let second = again(first, set)
            try await second.run {
                try await until { second.clock.sleepers > 0 || !second.fetcher.requests.isEmpty }
                for _ in 0..<160 where await first.journal.memories.count == 1 {
                    second.clock.advance(.milliseconds(500))
                    for _ in 0..<400 { await Task.yield() }
                }
                try await until { await first.journal.memories.isEmpty }
            }
            #expect(second.clock.now().boot.duration(since: held) < .seconds(300), "after \(asleep)")
            #expect(await titles(first.journal) == ["1: up → down"])
        }
    }

    @Test("a rule that a reload brings has what it waits for polled in time")
    func pulledAfterReload() async throws {
        let world = World([source("a", every: .seconds(3600))], rules: RuleSet([]))
        world.fetcher.serve(url("a"), "1=Starting")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await until { await world.watcher.isIdle }
            let stays = Condition.field("state", from: nil, to: .oneOf(["Starting"]))
            let set = rules(stays, matchesExisting: true) { $0.pendingFor = .seconds(60) }
            try await world.watcher.reload(
                WatchConfiguration(sources: [source("a", every: .seconds(3600))], rules: set))
            for _ in 0..<300 where world.sink.seen.isEmpty {
                world.clock.advance(.milliseconds(500))
                for _ in 0..<400 { await Task.yield() }
            }
            try await until { world.sink.seen == ["1: still Starting"] }
            #expect(world.fetcher.requests.count == 2)
        }
    }

    @Test("the server's Retry-After delays a pulled poll only when it reaches beyond it")
    func retryAfter() async throws {
        let set = rules { $0.pendingFor = .seconds(60) }
        let world = World([source("a", every: .seconds(600))], rules: set)
        try await world.watcher.restore()
        await poll(world, "1=up")
        world.fetcher.serve(url("a"), "1=down", [("Retry-After", "30")])
        _ = await world.watcher.runOnce(force: true)
        let now = world.clock.now()
        let soon = await world.watcher.due("a", notBefore: .seconds(30), now: now)
        #expect(soon == now.boot.advanced(by: .seconds(60)))
        let late = await world.watcher.due("a", notBefore: .seconds(90), now: now)
        #expect(late.map { $0 >= now.boot.advanced(by: .seconds(90)) } == true)
    }

    @Test("a poll that misses the item confirms nothing of it")
    func missing() async throws {
        let set = rules { $0.pendingFor = .seconds(60) }
        let world = World([source("a")], rules: set)
        try await world.watcher.restore()
        await poll(world, "1=up\n2=up")
        await poll(world, "1=down\n2=up")
        world.clock.advance(.seconds(60))
        await poll(world, "2=up")
        #expect(await titles(world.journal).isEmpty)
        await poll(world, "2=up")
        #expect(await titles(world.journal).isEmpty)
        #expect(await world.journal.memories.isEmpty)
        #expect(await world.journal.deliveries.values.compactMap(\.delivery.reason) == ["no longer so after 1 min"])
    }

    @Test("a new baseline leaves nothing behind of items that are not in it")
    func baseline() async throws {
        let set = rules { $0.remind = Reminder(every: .seconds(60)) }
        let world = World([source("a")], rules: set)
        try await world.watcher.restore()
        await poll(world, "1=up")
        await poll(world, "1=down")
        #expect(await world.journal.memories.count == 1)
        let other = WatchConfiguration(sources: [source("a", identity: 2)], rules: set)
        try await world.watcher.reload(other)
        await poll(world, "2=up")
        #expect(await world.journal.memories.isEmpty)
    }

    @Test("while polls fail or the machine is offline nobody is reminded of an item")
    func failures() async throws {
        let set = rules { $0.remind = Reminder(every: .seconds(60)) }
        let world = World([source("a")], rules: set)
        try await world.watcher.restore()
        await poll(world, "1=up")
        await poll(world, "1=down")
        world.fetcher.fail(url("a"), FetchError(.timeout, "no answer"))
        for _ in 1...3 {
            _ = await world.watcher.runOnce(force: true)
            world.clock.advance(.seconds(60))
        }
        #expect(await titles(world.journal) == ["1: up → down"])
        await poll(world, "1=down")
        #expect(await titles(world.journal) == ["1: up → down", "1: still down"])
    }

    @Test("a source that was removed is not polled, and what its rules wait for goes with its snapshot")
    func removed() async throws {
        let set = rules { $0.remind = Reminder(every: .seconds(60)) }
        let world = World([source("a"), source("b")], rules: set)
        world.fetcher.serve(url("b"), "1=up")
        try await world.watcher.restore()
        await poll(world, "1=up")
        await poll(world, "1=down")
        try await world.watcher.reload(WatchConfiguration(sources: [source("b")], rules: set))
        world.clock.advance(.seconds(600))
        _ = await world.watcher.runOnce(force: true)
        #expect(await titles(world.journal) == ["1: up → down"], "nobody knows how it is")
        #expect(await world.journal.memories.count == 1)
        await world.journal.forget("a")
        try await world.watcher.reload(WatchConfiguration(sources: [source("b")], rules: set))
        #expect(await world.journal.memories.isEmpty)
    }
}
