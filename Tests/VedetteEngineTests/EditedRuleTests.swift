// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("A reload ends or keeps what edited rules told", .timeLimit(.minutes(10)))
struct EditedRuleTests {
    private let home = source("home")

    private func rules(_ states: String..., identity: UInt64 = 1) -> RuleSet {
        var gates = Gates()
        gates.resolved = true
        return RuleSet([
            Rule(
                name: "door", when: .field("state", from: nil, to: .oneOf(states)),
                notify: [Rule.NotificationTarget(sink: "k")], gates: gates, identity: identity)
        ])
    }

    private func poll(_ world: World, _ body: String) async {
        world.fetcher.serve(url("home"), body)
        _ = await world.watcher.runOnce(force: true)
    }

    /// A world that told that a door is open, and another one ajar.
    private func world() async throws -> World {
        let world = World([home], rules: rules("open", "ajar"))
        try await world.restore()
        await poll(world, "a=closed\nb=closed")
        await poll(world, "a=open\nb=ajar")
        return world
    }

    private func titles(_ world: World) async -> [String] {
        let made = await world.journal.deliveries.filter { $0.value.delivery.state == .pending }
        return made.sorted { $0.key < $1.key }.map(\.value.delivery.message.title)
    }

    @Test("until the items are read the old rule is in force, and a poll waits")
    func waits() async throws {
        let world = try await world()
        await world.journal.holdReader(of: "home")
        let watch = WatchConfiguration(sources: [home], rules: rules("open", identity: 2))
        let reload = Task { try await world.watcher.reload(watch) }
        try await until { await world.journal.isReaderHeld }
        let polling = Task { await poll(world, "a=closed\nb=open") }
        // Time for a poll that does not wait for the reader.
        for _ in 0..<1000 { await Task.yield() }
        #expect(await titles(world).count == 2)
        await world.journal.releaseReader()
        try await reload.value
        await polling.value
        #expect(await titles(world).dropFirst(2) == ["b: no longer watched", "a: open → closed", "b: ajar → open"])
    }

    @Test("a start with an edited rule does the same, and one after that tells nothing more")
    func restart() async throws {
        let first = try await world()
        for _ in 0..<2 {
            let world = World(
                [home], rules: rules("open", identity: 2), journal: first.journal, clock: first.clock)
            try await world.restore()
            await poll(world, "a=open\nb=ajar")
        }
        #expect(await titles(first).dropFirst(2) == ["b: no longer watched"])
    }

    @Test("what the journal refuses of a reload or of a start is done again later", arguments: [false, true])
    func refused(byRestart: Bool) async throws {
        var world = try await world()
        await world.journal.refuse { !$0.deliveries.isEmpty }
        if byRestart {
            world = World(
                [home], rules: rules("open", identity: 2), journal: world.journal, clock: world.clock, seed: 8)
            try await world.restore()
        } else {
            try await world.watcher.reload(WatchConfiguration(sources: [home], rules: rules("open", identity: 2)))
        }
        #expect(await titles(world).count == 2)
        await world.journal.refuse(nil)
        for _ in 0..<2 { await poll(world, "a=open\nb=ajar") }
        #expect(await titles(world).dropFirst(2) == ["b: no longer watched"])
    }

    @Test("what is done again after a refusal knows what 'unless' asks for")
    func refusedWithCondition() async throws {
        var gates = Gates()
        gates.conditions = [SourceCondition(source: "dc", matcher: .oneOf(["busy"]), isExcluded: true)]
        func rules(_ identity: UInt64) -> RuleSet {
            RuleSet([
                Rule(
                    name: "door", when: .field("state", from: nil, to: .oneOf(["open"])),
                    notify: [Rule.NotificationTarget(sink: "k")], gates: gates, identity: identity)
            ])
        }
        let world = World([home, source("dc")], rules: rules(1))
        world.fetcher.serve(url("dc"), "x=busy")
        try await world.restore()
        await poll(world, "a=closed\nb=closed")
        await poll(world, "a=open\nb=closed")
        await world.journal.refuse { !$0.memories.isEmpty }
        try await world.watcher.reload(
            WatchConfiguration(sources: [home, source("dc")], rules: rules(2)))
        await world.journal.refuse(nil)
        for state in ["closed", "open"] { await poll(world, "a=open\nb=\(state)") }
        #expect(await titles(world).isEmpty)
        world.fetcher.serve(url("dc"), "x=idle")
        await poll(world, "a=open\nb=open")
        #expect(await titles(world) == ["a: closed → open, b: closed → open"])
    }

    @Test("what a removed source ends is told later where the journal refuses it at first")
    func refusedEnds() async throws {
        let world = try await world()
        await world.journal.refuse { !$0.deliveries.isEmpty }
        try await world.watcher.reload(WatchConfiguration(sources: [], rules: rules("open", "ajar")))
        #expect(await titles(world).count == 2)
        await world.journal.refuse(nil)
        _ = await world.watcher.runOnce(force: true)
        #expect(await titles(world).dropFirst(2) == ["a: no longer watched", "b: no longer watched"])
    }

    @Test("a source that is gone ends what was told about it", arguments: [false, true])
    func goneSource(byRestart: Bool) async throws {
        let first = try await world()
        if byRestart {
            let world = World([], rules: rules("open", "ajar"), journal: first.journal, clock: first.clock)
            try await world.restore()
        } else {
            try await first.watcher.reload(WatchConfiguration(sources: [], rules: rules("open", "ajar")))
        }
        #expect(await titles(first).dropFirst(2) == ["a: no longer watched", "b: no longer watched"])
        #expect(await first.journal.memories.isEmpty)
    }
}
