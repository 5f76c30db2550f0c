// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Sinks that refuse messages, over restarts", .timeLimit(.minutes(10)))
struct StoppedSinkTests {
    private func pending(_ title: String, in world: World) async -> Delivery {
        let now = world.clock.now().wall
        let event = Event(
            id: Identifier("evt-\(title)"), kind: .appeared, time: now, source: "s", sourceKind: "lines", poll: "p")
        let message = Message(id: "msg_\(title)", rule: "r", sink: "k", event: event, title: title, text: "")
        return await world.journal.enqueue(Delivery(message: message, created: now, due: now))
    }

    private func world(_ first: World? = nil, fingerprint: UInt64 = 1) -> World {
        World(
            journal: first?.journal ?? FakeJournal(), clock: first?.clock ?? ManualClock(),
            fingerprints: ["k": fingerprint])
    }

    /// A world whose sink refused its first message and stopped.
    private func refused(_ outcome: Outcome = .paused(reason: "the receiver answered 401")) async throws -> World {
        let first = world()
        first.sink.answer(outcome)
        try await first.run {
            await first.dispatcher.enqueue([await pending("1", in: first)])
            try await until { await first.journal.stopped.count == 1 }
            try await until { await first.journal.state(1) == .paused }
        }
        first.clock.advance(.seconds(3600))
        return first
    }

    @Test(
        "a paused or disabled sink stays so over a restart, and is told once",
        arguments: [Outcome.paused(reason: "401"), .disabled(reason: "410")])
    func restart(outcome: Outcome) async throws {
        let first = try await refused(outcome)
        let second = world(first)
        try await second.run {
            await second.dispatcher.enqueue([await pending("2", in: second)])
            for _ in 0..<50 {
                second.clock.advance(.seconds(60))
                for _ in 0..<40 { await Task.yield() }
            }
            #expect(second.sink.seen.isEmpty)
            try await second.dispatcher.retry(sink: "k")
            try await until { second.sink.seen == ["1", "2"] }
            try await until { await second.journal.stopped.isEmpty }
        }
        #expect(await second.journal.events.count == 1)
        #expect(second.log.all.contains { $0.hasPrefix("the sink 'k' is still paused: 4") })
        let third = world(first)
        try await third.run {
            await third.dispatcher.enqueue([await pending("3", in: third)])
            try await until { third.sink.seen == ["3"] }
        }
    }

    @Test("that a sink was resumed is stored later when the journal refuses it, so it is not paused after a restart")
    func refusedResumption() async throws {
        let first = try await refused()
        let second = world(first)
        try await second.run {
            await first.journal.fail(commits: true)
            try await second.dispatcher.retry(sink: "k")
            try await until { second.sink.seen == ["1"] }
            try await until { second.log.all.contains { $0.contains("that the sink 'k' resumed") } }
            await first.journal.fail()
            try await second.advance(.seconds(10)) { await first.journal.stopped.isEmpty }
        }
        #expect(await first.journal.events.count == 1)
    }

    @Test("with other options it is tried again at the next start")
    func changed() async throws {
        let second = world(try await refused(), fingerprint: 2)
        try await second.run { try await until { second.sink.seen == ["1"] } }
        #expect(await second.journal.stopped.isEmpty)
    }

    @Test("run --once tries it each time, reports it once, and resumes it when it takes the message")
    func once() async throws {
        let first = try await refused()
        let second = world(first)
        second.sink.answer(.paused(reason: "401"))
        try await second.restore()
        await second.dispatcher.drainOnce()
        #expect(second.sink.seen == ["1"])
        #expect(await second.journal.state(1) == .paused)
        #expect(await second.journal.events.count == 1)
        let third = world(first)
        try await third.restore()
        await third.dispatcher.drainOnce()
        #expect(third.sink.seen == ["1"])
        #expect(await third.dispatcher.sent == 1)
        #expect(await first.journal.stopped.isEmpty)
    }

    @Test("since when a sink with fallbacks fails is kept over a restart, until it takes a message")
    func failing() async throws {
        let clock = ManualClock()
        var policy = DeliveryPolicy()
        (policy.fallbacks, policy.elseAfter) = (["mail"], .seconds(300))
        func world(_ journal: FakeJournal, _ mail: FakeSink) -> World {
            World(journal: journal, clock: clock, sinks: ["mail": mail], policy: ["k": policy], fingerprints: ["k": 1])
        }
        let first = world(FakeJournal(), FakeSink())
        first.sink.answer(.retry(reason: "503", after: nil), .retry(reason: "503", after: nil))
        try await first.run {
            await first.dispatcher.enqueue([await pending("1", in: first)])
            try await until { await first.journal.stopped["k"]?.kind == .failing }
        }
        await first.dispatcher.stop(by: clock.now().boot)
        clock.advance(.seconds(301))
        let mail = FakeSink()
        let second = world(first.journal, mail)
        // If it is tested with the first message, that goes over, too.
        second.sink.answer(.retry(reason: "503", after: nil))
        try await second.run {
            try await second.advance(.seconds(2)) { mail.seen == ["1"] }
            #expect(second.sink.seen.count <= 1)
            for number in 2...20 {
                await second.dispatcher.enqueue([await pending("\(number)", in: second)])
                try await second.advance(.seconds(6)) {
                    await second.journal.deliveries.values.allSatisfy { !$0.state.isPending }
                }
            }
            try await until { await second.journal.stopped.isEmpty }
        }
        #expect(second.log.all.contains { $0.contains("its messages go to 'mail'") })
        #expect(second.log.all.contains { $0.contains("gets its messages itself again") })
        #expect(await second.journal.events.isEmpty)
    }

    @Test("a quick restart between two polls leaves nothing out of the time for which a sink has failed")
    func quickRestart() async throws {
        let (clock, mail) = (ManualClock(), FakeSink())
        var policy = DeliveryPolicy()
        (policy.fallbacks, policy.elseAfter) = (["mail"], .seconds(300))
        let first = World(clock: clock)
        var record = SourceRecord(name: "s")
        record.health.lastPollAt = clock.now().wall
        let delivery = await pending("1", in: first)
        _ = try await first.journal.commit([PollRecord(record: record)], within: .none)
        clock.advance(.seconds(1200))
        let stop = StoppedSink(sink: "k", kind: .failing, reason: "503", since: clock.now().wall, fingerprint: 1)
        _ = try await first.journal.commit([PollRecord(record: nil, sinkChange: .stopped(stop))], within: .none)
        clock.advance(.seconds(700))
        // No poll started lately.
        let report: PollLateness.Report? = await first.watcher.lateness()
        await first.journal.store(try #require(report))
        clock.advance(.seconds(30))
        let second = World(
            journal: first.journal, clock: clock, sinks: ["mail": mail], policy: ["k": policy], fingerprints: ["k": 1])
        // If it is tested with the message, that goes over, too.
        second.sink.answer(.retry(reason: "503", after: nil))
        try await second.restore()
        #expect(await second.journal.deliveries[1]?.delivery.created == delivery.created)
        try await second.advance(.seconds(2)) { mail.seen == ["1"] }
    }

    @Test("time in which the watcher did not run does not count towards give_up")
    func downtime() async throws {
        let first = world()
        first.sink.answer(.retry(reason: "refused", after: nil))
        var record = SourceRecord(name: "s")
        record.health.lastPollAt = first.clock.now().wall
        _ = try await first.journal.commit([PollRecord(record: record)], within: .none)
        _ = await pending("1", in: first)
        let created = first.clock.now().wall
        first.clock.advance(.seconds(4 * 86_400))
        let second = world(first)
        second.sink.hang()
        try await second.restore()
        let age = await second.journal.deliveries[1]?.delivery.created.seconds(since: created)
        #expect(age == 4.0 * 86_400)
        second.clock.suspend(.seconds(86_400))
        await second.dispatcher.excludeSuspend()
        #expect(await second.journal.deliveries[1]?.delivery.created.seconds(since: created) == 5 * 86_400)
        second.sink.release()
    }

    @Test("a poll of a clock that was ahead hides no time in which the watcher did not run")
    func clockAhead() async throws {
        let first = world()
        var record = SourceRecord(name: "s")
        record.health.lastPollAt = first.clock.now().wall.advanced(by: .seconds(30 * 86_400))
        _ = try await first.journal.commit([PollRecord(record: record)], within: .none)
        let delivery = await pending("1", in: first)
        let report: PollLateness.Report? = await first.watcher.lateness()
        await first.journal.store(try #require(report))
        first.clock.advance(.seconds(4 * 86_400))
        let second = world(first)
        second.sink.hang()
        try await second.restore()
        let age = await second.journal.deliveries[1]?.delivery.created.seconds(since: delivery.created)
        #expect(age == 4.0 * 86_400)
        second.sink.release()
    }

    @Test("no message of a paused sink expires in a suspend, also when the dispatcher wakes before the watcher")
    func suspend() async throws {
        let world = world()
        world.sink.answer(.paused(reason: "401"))
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { await world.journal.state(1) == .paused }
        try await world.advance(.seconds(70)) { world.clock.sleepers > 0 }
        world.clock.suspend(.seconds(4 * 86_400))
        for _ in 0..<10 {
            for _ in 0..<500 { await Task.yield() }
            world.clock.advance(.seconds(61))
        }
        #expect(await world.journal.state(1) == .paused)
        #expect(await world.journal.state(2)?.isPending == true)
    }
}
