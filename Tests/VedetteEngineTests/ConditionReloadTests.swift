// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("A reload reads what if and unless ask for", .timeLimit(.minutes(10)))
struct ConditionReloadTests {
    private let sources = [source("home"), source("heating")]

    /// Tells that the heating is on, unless the door is open.
    private let guarded: RuleSet = {
        var gates = Gates()
        gates.conditions = [
            SourceCondition(
                source: "home", items: [(name: "key", matcher: .oneOf(["door"]))], matcher: .oneOf(["open"]),
                isExcluded: true)
        ]
        return RuleSet([
            Rule(
                name: "heating", when: .field("state", from: nil, to: .oneOf(["on"])),
                notify: [Rule.NotificationTarget(sink: "k")], gates: gates, identity: 1)
        ])
    }()

    /// A world without rules that has seen an open door.
    private func world() async throws -> World {
        let world = World(sources, rules: RuleSet([]))
        world.fetcher.serve(url("home"), "door=open")
        world.fetcher.serve(url("heating"), "1=off")
        try await world.restore()
        _ = await world.watcher.runOnce(force: true)
        return world
    }

    private func poll(_ world: World, _ name: String, _ body: String) async {
        world.fetcher.serve(url(name), body)
        _ = await world.watcher.runOnce(force: true)
    }

    /// The states that messages were committed with.
    private func messages(_ world: World) async -> [DeliveryState] {
        await world.journal.deliveries.sorted { $0.key < $1.key }.map(\.value.delivery.state)
    }

    @Test("what a poll showed counts for nothing when its commit fails")
    func refused() async throws {
        let world = World(sources, rules: guarded)
        world.fetcher.serve(url("home"), "door=closed")
        world.fetcher.serve(url("heating"), "1=off")
        try await world.restore()
        _ = await world.watcher.runOnce(force: true)
        await world.journal.fail(commits: true)
        await poll(world, "home", "door=open")
        await world.journal.fail()
        // As the journal has it, so this poll brings no event.
        await poll(world, "home", "door=closed")
        await poll(world, "heating", "1=on")
        #expect(await messages(world) == [.pending])
    }

    @Test("until the items are read the old rules are in force, so that no message passes unchecked")
    func unchecked() async throws {
        let world = try await world()
        await world.journal.holdReader(of: "home")
        let watch = WatchConfiguration(sources: sources, rules: guarded)
        let reload = Task { try await world.watcher.reload(watch) }
        try await until { await world.journal.isReaderHeld }
        await poll(world, "heating", "1=on")
        await world.journal.releaseReader()
        try await reload.value
        #expect(await messages(world) == [])
        await poll(world, "heating", "1=off")
        await poll(world, "heating", "1=on")
        #expect(await messages(world) == [.suppressed])
    }

    @Test("a poll while the items are read is not replaced by the older ones of the journal")
    func replaced() async throws {
        let world = try await world()
        await world.journal.holdReader(of: "home")
        let watch = WatchConfiguration(sources: sources, rules: guarded)
        let reload = Task { try await world.watcher.reload(watch) }
        try await until { await world.journal.isReaderHeld }
        await poll(world, "home", "door=closed")
        await world.journal.releaseReader()
        try await reload.value
        await poll(world, "heating", "1=on")
        #expect(await messages(world) == [.pending])
    }

    @Test("a poll that is evaluated but not yet written counts")
    func unwritten() async throws {
        let world = try await world()
        await world.journal.hold()
        let polling = Task { await poll(world, "home", "door=closed") }
        try await until { await world.journal.held == 1 }
        let watch = WatchConfiguration(sources: sources, rules: guarded)
        let reload = Task { try await world.watcher.reload(watch) }
        // Time for a reload that does not wait for the commit.
        for _ in 0..<1000 { await Task.yield() }
        await world.journal.release()
        await polling.value
        try await reload.value
        await poll(world, "heating", "1=on")
        #expect(await messages(world) == [.pending])
    }
}
