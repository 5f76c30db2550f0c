// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("A reload looks for what a new rule matches already", .timeLimit(.minutes(10)))
struct ExistingMatchTests {
    private let home = source("home")

    /// A rule about a door that is open for a minute.
    private let stays: RuleSet = {
        var gates = Gates()
        gates.pendingFor = .seconds(60)
        return RuleSet([
            Rule(
                name: "open", when: .stays("state", .oneOf(["open"])), notify: [Rule.NotificationTarget(sink: "k")],
                gates: gates, matchesExisting: true, identity: 1)
        ])
    }()

    private func world() async throws -> World {
        let world = World([home], rules: RuleSet([]))
        try await world.restore()
        return world
    }

    private func poll(_ world: World, _ body: String) async {
        world.fetcher.serve(url("home"), body)
        _ = await world.watcher.runOnce(force: true)
    }

    private func reload(_ world: World) -> Task<Void, any Error> {
        let watch = WatchConfiguration(sources: [home], rules: stays)
        return Task { try await world.watcher.reload(watch) }
    }

    /// The titles of the messages after two more polls, both after the time that the rule asks for.
    private func messages(_ world: World, _ body: String) async -> [String] {
        for _ in 0..<2 {
            world.clock.advance(.seconds(120))
            await poll(world, body)
        }
        // A match that ended before its time is stored, too, as suppressed.
        let sent = await world.journal.deliveries.filter { $0.value.delivery.state == .pending }
        return sent.sorted { $0.key < $1.key }.map(\.value.delivery.message.title)
    }

    @Test("an item that a poll changes while the stored items are read is not told with its old state")
    func changedMeanwhile() async throws {
        let world = try await world()
        await poll(world, "door=open")
        await world.journal.holdReader(of: "home")
        let reload = reload(world)
        try await until { await world.journal.isReaderHeld }
        let polling = Task { await poll(world, "door=closed") }
        try await until { world.fetcher.requests.count == 2 }
        // Time for a poll that does not wait for the reader.
        for _ in 0..<1000 { await Task.yield() }
        await world.journal.releaseReader()
        try await reload.value
        await polling.value
        #expect(await messages(world, "door=closed") == [])
    }

    @Test(
        "an item that a poll brought under the old rules is found, although its commit is under way",
        arguments: [["door=closed"], []])
    func unwritten(before: [String]) async throws {
        let world = try await world()
        // Without an earlier poll it is the source's first one.
        for body in before { await poll(world, body) }
        await world.journal.hold()
        let polling = Task { await poll(world, "door=open") }
        try await until { await world.journal.held == 1 }
        let reload = reload(world)
        // Time for a reload that does not wait for the commit.
        for _ in 0..<1000 { await Task.yield() }
        await world.journal.release()
        await polling.value
        try await reload.value
        #expect(await messages(world, "door=open") == ["door: still open"])
    }

    /// A rule about fewer than three open doors.
    private let few = RuleSet([
        Rule(
            name: "few",
            when: .howMany(
                ItemCount(SourceCondition(source: "home", matcher: .oneOf(["open"])), bound: .below(3))),
            notify: [Rule.NotificationTarget(sink: "k")], identity: 2)
    ])

    @Test("a count that is beyond the bound of a new rule is told at the next good poll, although nothing changes")
    func counted() async throws {
        let world = try await world()
        await poll(world, "door=open")
        try await world.watcher.reload(WatchConfiguration(sources: [home], rules: few))
        for _ in 0..<2 { await poll(world, "door=open") }
        #expect(await world.journal.deliveries.values.map(\.delivery.message.rule) == ["few"])
    }

    @Test("so is one that is beyond the bound of a rule that is new at the start, and a restart does not tell it again")
    func countedAtStart() async throws {
        let first = try await world()
        await poll(first, "door=open")
        for _ in 0..<2 {
            let world = World([home], rules: few, journal: first.journal, clock: first.clock)
            try await world.restore()
            await poll(world, "door=open")
        }
        #expect(await first.journal.deliveries.values.map(\.delivery.message.rule) == ["few"])
    }

    @Test("a count whose commit fails is told at the next good poll")
    func countedAgain() async throws {
        let world = try await world()
        await poll(world, "door=open")
        try await world.watcher.reload(WatchConfiguration(sources: [home], rules: few))
        await world.journal.fail(commits: true)
        await poll(world, "door=open")
        #expect(await world.journal.deliveries.isEmpty)
        await world.journal.fail()
        await poll(world, "door=open")
        #expect(await world.journal.deliveries.values.map(\.delivery.message.rule) == ["few"])
    }

    @Test("an item that another version reads otherwise, without an event, ends what was held of it or begins to match")
    func reread() async throws {
        let world = try await world()
        await poll(world, "door=closed\ngate=open")
        try await reload(world).value
        await poll(world, "door=closed\ngate=open")
        var kind = LineKind()
        kind.fingerprints = [SnapshotHead.everyField: 2]
        try await world.watcher.reload(WatchConfiguration(sources: [source("home", kind)], rules: stays))
        await poll(world, "door=open\ngate=Open")
        #expect(await messages(world, "door=open\ngate=Open") == ["door: still open"])
    }
}
