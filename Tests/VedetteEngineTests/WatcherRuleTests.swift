// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("Rules in the watcher")
struct WatcherRuleTests {
    private func rule(_ change: (inout Gates) -> Void) -> RuleSet {
        var gates = Gates()
        change(&gates)
        return RuleSet([
            Rule(
                name: "r", when: .field("state", from: nil, to: .oneOf(["down"])),
                notify: [Rule.NotificationTarget(sink: "k")],
                gates: gates, identity: 1)
        ])
    }

    @Test("for pulls a poll forward, and the good poll at its time lets the message go")
    func hold() async throws {
        let world = World([source("a", every: .seconds(600))], rules: rule { $0.pendingFor = .seconds(60) })
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "1=down")
            try await world.advance(.seconds(660)) { await world.journal.memories.count == 1 }
            let held = world.clock.now().boot
            #expect(world.sink.seen.isEmpty)
            try await world.advance(.seconds(60)) { world.sink.seen.count == 1 }
            #expect(world.fetcher.requests.count == 3, "a poll of its own, long before the next one was due")
            // The clock may have gone on for a while before the hold was noticed.
            #expect(world.clock.now().boot.duration(since: held) >= .seconds(40))
            #expect(await world.journal.memories.isEmpty)
        }
    }

    @Test("a held message is sent by the next run, at its first good poll after the time")
    func restart() async throws {
        let set = rule { $0.pendingFor = .seconds(60) }
        let (journal, clock) = (FakeJournal(), ManualClock())
        let first = World([source("a")], rules: set, journal: journal, clock: clock)
        first.fetcher.serve(url("a"), "1=up")
        try await first.watcher.restore()
        _ = await first.watcher.runOnce(force: true)
        first.fetcher.serve(url("a"), "1=down")
        _ = await first.watcher.runOnce(force: true)
        #expect(await journal.memories.count == 1)
        clock.advance(.seconds(3600))
        let second = World([source("a")], rules: set, journal: journal, clock: clock)
        second.fetcher.serve(url("a"), "1=down")
        try await second.dispatcher.restore()
        try await second.watcher.restore()
        _ = await second.watcher.runOnce(force: true)
        try await until { second.sink.seen.count == 1 }
        #expect(await journal.memories.isEmpty)
    }

    @Test("time alone lets a reminder go, committed before it is attempted")
    func remind() async throws {
        let world = World(
            [source("a", every: .seconds(600))], rules: rule { $0.remind = Reminder(every: .seconds(30)) })
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            world.fetcher.serve(url("a"), "1=down")
            try await world.advance(.seconds(660)) { world.sink.seen.count == 1 }
            try await world.advance(.seconds(60)) { world.sink.seen.count >= 3 }
            #expect(world.fetcher.requests.count == 2)
        }
        #expect(await world.journal.deliveries.count >= 3)
    }

    @Test("a commit that fails leaves no memory; the repeated poll makes it again")
    func failedCommit() async throws {
        let world = World(
            [source("a", every: .seconds(30))], rules: rule { $0.limit = Limit(count: 1, per: .seconds(3600)) })
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            await world.journal.fail(commits: true)
            world.fetcher.serve(url("a"), "1=down")
            try await world.advance(.seconds(70)) { world.fetcher.requests.count >= 3 }
            await world.journal.fail(commits: false)
            try await world.advance(.seconds(40)) { world.sink.seen.count == 1 }
        }
        #expect(await world.journal.deliveries.values.allSatisfy { $0.delivery.state == .pending })
    }

    @Test("an item that is in a value already, when its source is first seen, counts for stays")
    func stays() async throws {
        var gates = Gates()
        gates.pendingFor = .seconds(60)
        let set = RuleSet([
            Rule(
                name: "stuck", when: .field("state", from: nil, to: .oneOf(["Starting"])),
                notify: [Rule.NotificationTarget(sink: "k")], gates: gates, matchesExisting: true, identity: 1)
        ])
        let world = World([source("a", every: .seconds(600))], rules: set)
        world.fetcher.serve(url("a"), "1=Starting\n2=Started")
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await world.advance(.seconds(61)) { world.sink.seen.count == 1 }
            #expect(await world.journal.memories.count == 1)
            try await world.advance(.seconds(1200)) { world.fetcher.requests.count >= 4 }
        }
        #expect(await world.journal.deliveries.values.map(\.delivery.message.title) == ["1: still Starting"])
    }

    @Test("of a large poll the matched events and the first 10,000 others are stored, the rest as one burst")
    func burst() async throws {
        let world = World([source("a")], rules: rule { _ in })
        world.fetcher.serve(url("a"), "x=up")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        let lines = ["x=up", "y=down"] + (0..<10_100).map { "\($0)=up" } + ["z=down"]
        world.fetcher.serve(url("a"), lines.joined(separator: "\n"))
        _ = await world.watcher.runOnce(force: true)
        let events = await world.journal.events
        #expect(events.count == 10_003)
        #expect(events.last?.kind == .burst && events.last?.summary?.count == 100)
        #expect(Set(events.compactMap(\.item?.key)).isSuperset(of: ["y", "z"]))
    }

    /// Silences the rule once its source has a baseline, and waits until a message is withheld.
    private func withhold(in world: World) async throws {
        try await until { await world.journal.records.count == 1 }
        await world.journal.add(Silence(id: 1, rule: "r", created: world.clock.now().wall))
        await world.watcher.silencesChanged()
        world.fetcher.serve(url("a"), "1=down")
        try await world.advance(.seconds(40)) { await world.journal.deliveries.count == 1 }
    }

    @Test("a silence that is asked for while it runs holds from then on")
    func silence() async throws {
        let world = World([source("a", every: .seconds(30))], rules: rule { _ in })
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await withhold(in: world)
        }
        #expect(await world.journal.deliveries.values.first?.delivery.state == .suppressed)
        #expect(world.sink.seen.isEmpty)
    }

    @Test(
        "what a silence withheld is sent later when the journal cannot read its end, or refuses the messages",
        arguments: [false, true])
    func endOfSilence(isRead: Bool) async throws {
        let world = World([source("a", every: .seconds(30))], rules: rule { _ in })
        world.fetcher.serve(url("a"), "1=up")
        try await world.run {
            try await withhold(in: world)
            await world.journal.end(1)
            if isRead {
                await world.journal.refuse { !$0.deliveries.isEmpty }
            } else {
                await world.journal.failSilences(true)
            }
            await world.watcher.silencesChanged()
            await world.journal.refuse(nil)
            await world.journal.failSilences(false)
            try await world.advance(.seconds(10)) { world.sink.seen.count == 1 }
        }
        #expect(await world.journal.deliveries.count == 2)
    }
}
