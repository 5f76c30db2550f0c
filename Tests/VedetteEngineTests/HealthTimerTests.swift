// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Failing and stale are told by time", .timeLimit(.minutes(10)))
struct HealthTimerTests {
    private func told(_ world: World) async -> [String] { await world.journal.events.map(\.kind.word) }

    private func busy(_ journal: FakeJournal = FakeJournal(), _ clock: ManualClock = ManualClock()) -> World {
        let rules = RuleSet([
            Rule(
                name: "health", when: .sourceState([.failing, .stale]),
                notify: [Rule.NotificationTarget(sink: "k")])
        ])
        let world = World([source("a")], rules: rules, journal: journal, clock: clock)
        world.fetcher.serve(url("a"), "busy", status: 503, [("Retry-After", "86400")])
        return world
    }

    @Test("under a Retry-After of a day: failing when three polls would have failed, stale after an hour")
    func retryAfter() async throws {
        let world = busy()
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            let start = world.clock.now().boot
            #expect(await told(world).isEmpty)
            try await world.advance(.seconds(600)) { await told(world).contains("failing") }
            let failing = world.clock.now().boot.duration(since: start)
            #expect(failing >= .seconds(480), "two delays of a minute, and backoff of two and four")
            try await world.advance(.seconds(3600)) { await told(world).contains("stale") }
            #expect(world.clock.now().boot.duration(since: start) >= .seconds(3600))
            try await until { world.sink.seen == ["a is failing", "a has not answered for long"] }
        }
        #expect(world.fetcher.requests.count == 1)
        #expect(await told(world) == ["failing", "stale"])
        let record = try #require(await world.journal.records["a"])
        #expect(record.health.isFailing && record.health.isStale && record.health.failures == 1)
        #expect(world.log.all.contains("a: the server wants no request for 1 d (Retry-After)"), "\(world.log.all)")
    }

    @Test("over a restart the times stay the same")
    func restart() async throws {
        let first = busy()
        try await first.run { try await until { await first.journal.records.count == 1 } }
        first.clock.advance(.seconds(300))
        let second = busy(first.journal, first.clock)
        try await second.run {
            try await until { second.clock.sleepers > 0 }
            #expect(await told(second).isEmpty)
            try await second.advance(.seconds(300)) { await told(second) == ["failing"] }
            // The outcome follows the message; without it the next run would send it again.
            try await until { await second.journal.deliveries.values.allSatisfy { !$0.state.isPending } }
        }
        first.clock.advance(.seconds(10 * 3600))
        let third = busy(first.journal, first.clock)
        try await third.run {
            try await until { await told(third) == ["failing", "stale"] }
        }
        #expect(second.fetcher.requests.isEmpty && third.fetcher.requests.isEmpty)
    }

    @Test("a poll that is due decides, not the time that passed while nothing ran")
    func due() async throws {
        let first = World([source("a")])
        first.fetcher.serve(url("a"), "", status: 500)
        try await first.watcher.restore()
        _ = await first.watcher.runOnce(force: true)
        first.clock.advance(.seconds(86_400))
        let second = World([source("a")], journal: first.journal, clock: first.clock)
        second.fetcher.serve(url("a"), "1=Ready")
        try await second.run {
            try await second.advance(.seconds(60)) { await second.journal.records["a"]?.snapshot != nil }
        }
        #expect(await told(second).isEmpty)
    }

    @Test("a change of health that the journal refuses is tried again, and told once")
    func refused() async throws {
        let world = busy()
        try await world.run {
            try await until { await world.journal.records.count == 1 }
            try await until { await world.watcher.isIdle }
            await world.journal.fail(commits: true)
            try await world.advance(.seconds(600)) {
                world.log.all.contains { $0.hasPrefix("failed to store the health of a") }
            }
            await world.journal.fail()
            try await world.advance(.seconds(120)) { await told(world) == ["failing"] }
        }
        #expect(world.log.all.count { $0.hasPrefix("failed to store the health") } < 12)
    }

    @Test("a clock that was ahead and was put right: the first poll of the next run comes at once")
    func clockAhead() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        clock.setWall(by: .seconds(40 * 86_400))
        let first = World([source("a")], journal: journal, clock: clock)
        first.fetcher.serve(url("a"), "1=Ready")
        try await first.watcher.restore()
        _ = await first.watcher.runOnce(force: true)
        clock.setWall(by: .seconds(-40 * 86_400))
        let second = World([source("a")], journal: journal, clock: clock)
        second.fetcher.serve(url("a"), "1=Ready")
        try await second.run {
            // No time passes.
            try await until { second.fetcher.requests.count == 1 }
        }
    }

    @Test("a source that failed while the clock was ahead is polled at once in the next run")
    func failedWhileClockAhead() async throws {
        let (journal, clock) = (FakeJournal(), ManualClock())
        clock.setWall(by: .seconds(40 * 86_400))
        let first = World([source("a")], journal: journal, clock: clock)
        first.fetcher.serve(url("a"), "", status: 500)
        try await first.watcher.restore()
        for _ in 0..<4 { _ = await first.watcher.runOnce(force: true) }
        clock.setWall(by: .seconds(-40 * 86_400))
        let second = World([source("a")], journal: journal, clock: clock)
        second.fetcher.serve(url("a"), "1=Ready")
        try await second.run {
            // No time passes.
            try await until { second.fetcher.requests.count == 1 }
        }
    }

    @Test("after a restart with another URL neither the Retry-After nor the backoff of the old one holds")
    func movedWhileStopped() async throws {
        let first = World([source("a"), source("b")])
        first.fetcher.serve(url("a"), "", status: 429, [("Retry-After", "86400")])
        first.fetcher.serve(url("b"), "", status: 429, [("Retry-After", "86400")])
        try await first.watcher.restore()
        _ = await first.watcher.runOnce(force: true)
        let sources = [source("a", host: "other"), source("b")]
        let second = World(sources, journal: first.journal, clock: first.clock)
        second.fetcher.serve(url("a", host: "other"), "1=Ready")
        try await second.run {
            // No time passes.
            try await until { second.fetcher.requests.count == 1 }
            try await until { await second.watcher.isIdle }
        }
        #expect(second.fetcher.requests.map(\.url) == [url("a", host: "other")])
    }
}
