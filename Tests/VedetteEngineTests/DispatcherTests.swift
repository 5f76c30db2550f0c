// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("Dispatcher", .timeLimit(.minutes(10)))
struct DispatcherTests {
    private func pending(
        _ title: String, source: String = "s", sink: String = "k", at created: Timestamp? = nil, in world: World
    ) async -> Delivery {
        let now = created ?? world.clock.now().wall
        let event = Event(
            id: Identifier(title), kind: .appeared, time: now, source: source, sourceKind: "lines", poll: "p")
        let message = Message(id: "msg_" + title, rule: "r", sink: sink, event: event, title: title, text: "")
        return await world.journal.enqueue(Delivery(message: message, created: now, due: now))
    }

    @Test("a retry keeps the order of its lane and ends as sent")
    func retry() async throws {
        let world = World()
        world.sink.answer(.retry(reason: "503", after: nil), .delivered)
        let deliveries = [await pending("1", in: world), await pending("2", in: world)]
        await world.dispatcher.enqueue(deliveries)
        try await until { await world.journal.state(1) == .retry }
        #expect(world.sink.seen == ["1"])
        try await world.advance(.seconds(10)) { await world.journal.state(2) == .sent }
        #expect(world.sink.seen == ["1", "1", "2"])
        await world.dispatcher.stop(by: world.clock.now().boot.advanced(by: .seconds(5)))
    }

    @Test(
        "case 36: the wall clock is set while a delivery waits: it is retried when it would have been, and does not die",
        arguments: [864_000, -7200])
    func wallClock(seconds: Int64) async throws {
        let world = World()
        world.sink.answer(.retry(reason: "503", after: .seconds(60)), .retry(reason: "503", after: nil), .delivered)
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await until { await world.journal.state(1) == .retry }
        world.clock.setWall(by: .seconds(seconds))
        let start = world.clock.now().boot
        for _ in 0..<500 { await Task.yield() }
        #expect(world.sink.seen.count == 1)
        try await world.advance(.seconds(90)) { await world.journal.state(1) == .sent }
        let waited = world.clock.now().boot.duration(since: start)
        #expect(waited >= .seconds(59) && waited <= .seconds(600), "\(waited)")
        // What is committed after it is due at once, too.
        await world.dispatcher.enqueue([await pending("2", in: world)])
        try await until { await world.journal.state(2) == .sent }
    }

    @Test(
        "what ended before it was announced is not attempted, and what was left beside it is",
        arguments: [true, false])
    func endedBeforeAnnounced(isReplaced: Bool) async throws {
        let world = World()
        let (left, ended) = (await pending("1", in: world), await pending("2", in: world))
        let now = world.clock.now().wall
        let end = Attempt(delivery: ended.id, state: .suppressed, attempts: 0, due: now, at: now, reason: "replaced")
        _ = try await world.journal.record([end], within: .none)
        await world.dispatcher.evicted(isReplaced ? Eviction(replaced: [ended.place]) : Eviction(evicted: [ended]))
        await world.dispatcher.enqueue([left, ended])
        await world.dispatcher.enqueue([await pending("3", in: world)])
        try await until { await world.journal.state(3) == .sent }
        #expect(world.sink.seen == ["1", "3"])
    }

    @Test("deliveries that an earlier run left pending are delivered, more than is read ahead, in order, once")
    func restored() async throws {
        let world = World()
        for number in 0..<200 { _ = await pending("\(number)", in: world) }
        try await world.dispatcher.restore()
        await world.dispatcher.enqueue([await pending("200", in: world)])
        try await until { await world.journal.state(201) == .sent }
        #expect(world.sink.seen == (0...200).map { "\($0)" })
    }

    @Test("what was stored while the clock was a day ahead is delivered at once after a restart")
    func storedByAClockAhead() async throws {
        let world = World()
        let ahead = world.clock.now().wall.advanced(by: .seconds(86_400))
        for number in 0..<3 { _ = await pending("\(number)", at: ahead, in: world) }
        try await world.dispatcher.restore()
        try await until { await world.journal.state(3) == .sent }
        #expect(world.sink.seen == ["0", "1", "2"])
    }

    @Test("at most four of one sink are in flight")
    func perSink() async throws {
        let world = World()
        world.sink.hang()
        var deliveries: [Delivery] = []
        for number in 0..<20 { deliveries.append(await pending("\(number)", source: "s\(number)", in: world)) }
        await world.dispatcher.enqueue(deliveries)
        try await until { world.sink.inFlight == 4 }
        world.sink.release()
        try await until { world.sink.seen.count == 20 && world.sink.inFlight == 0 }
        #expect(world.sink.most == 4)
    }

    @Test("a paused sink is not called until a person retries it")
    func paused() async throws {
        let world = World()
        world.sink.answer(.paused(reason: "401"))
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { await world.journal.state(1) == .paused }
        let later = world.clock.now().boot.advanced(by: .seconds(100))
        try await world.advance(.seconds(100)) { world.clock.now().boot >= later }
        #expect(world.sink.seen == ["1"])
        try await world.dispatcher.retry(sink: "k")
        try await until { await world.journal.state(2) == .sent }
        #expect(world.sink.seen == ["1", "1", "2"])
    }

    @Test("a retry fails when the lanes cannot be read, so that its request stays")
    func retryWithoutJournal() async throws {
        let world = World()
        _ = await pending("1", in: world)
        await world.journal.fail(lanes: true)
        await #expect(throws: JournalError.self) { try await world.dispatcher.retry(sink: "k") }
        #expect(world.sink.seen.isEmpty)
        await world.journal.fail()
        try await world.dispatcher.retry(sink: "k")
        try await until { await world.journal.state(1) == .sent }
    }

    @Test("that a sink was paused is stored later when the journal refuses it now")
    func pausedWhileDiskIsFull() async throws {
        let world = World()
        world.sink.hang()
        world.sink.answer(.paused(reason: "401"))
        try await world.run {
            await world.dispatcher.enqueue([await pending("1", in: world)])
            try await until { world.sink.inFlight == 1 }
            await world.journal.fail(commits: true)
            world.sink.release()
            try await until { world.log.all.contains { $0.contains("failed to store that the sink 'k' stopped") } }
            await world.journal.fail()
            try await world.advance(.seconds(10)) { await world.journal.events.map(\.kind) == [.paused] }
        }
    }

    @Test("pending deliveries of a removed sink die with that reason; the old sink is closed after its last attempt")
    func removed() async throws {
        let world = World()
        world.sink.hang()
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { world.sink.inFlight == 1 }
        await world.dispatcher.reload(sinks: [:])
        #expect(world.sink.closed == 0)
        world.sink.release()
        try await until { await world.journal.state(2) == .dead }
        #expect(await world.journal.reason(2)?.contains("no longer configured") == true)
        #expect(await world.journal.state(1) == .sent)
        try await until { world.sink.closed == 1 }
    }

    @Test("once: every pending delivery is attempted one time, whatever its time, and it returns")
    func drainOnce() async throws {
        let world = World()
        world.sink.answer(.retry(reason: "503", after: nil), .delivered)
        var late = await pending("late", source: "l", in: world)
        late.due = late.due.advanced(by: .seconds(500))
        await world.dispatcher.enqueue([late, await pending("now", in: world)])
        try await until { await world.journal.state(2) == .retry }
        await world.dispatcher.drainOnce()
        #expect(world.sink.seen == ["now", "late"])
        #expect(await world.journal.state(1) == .sent)
        #expect(await world.dispatcher.sent == 1)
        #expect(await world.dispatcher.died == 0)
    }

    @Test("once: a message that was tried several times is counted once, as sent or as not", arguments: [2, 1])
    func countedOnce(failures: Int) async throws {
        let world = World()
        let failure = Outcome.retry(reason: "503", after: nil)
        if failures == 2 { world.sink.answer(failure, failure) } else { world.sink.answer(failure) }
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await world.advance(.seconds(10)) { world.sink.seen.count == 2 }
        await world.dispatcher.drainOnce()
        #expect(world.sink.seen.count == 2)
        #expect(await world.journal.state(1) == (failures == 2 ? .retry : .sent))
        #expect(await world.dispatcher.sent == 2 - failures)
    }

    @Test("stop leaves hanging deliveries pending and writes what was delivered")
    func stop() async throws {
        let world = World()
        world.sink.hang()
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await until { world.sink.inFlight == 1 }
        let (dispatcher, clock) = (world.dispatcher, world.clock)
        let deadline = clock.now().boot.advanced(by: .seconds(5))
        #expect(await world.journal.state(1) == .pending)
        let ticking = Task {
            while !Task.isCancelled {
                clock.advance(.milliseconds(500))
                await Task.yield()
            }
        }
        await dispatcher.stop(by: deadline)
        ticking.cancel()
        #expect(await world.journal.state(1) == .pending)
        world.sink.release()
    }

    @Test("while outcomes cannot be written, no new attempt starts beyond the bound, and nothing is sent twice")
    func backlog() async throws {
        let world = World()
        await world.journal.fail(recording: true)
        var deliveries: [Delivery] = []
        for number in 0..<700 { deliveries.append(await pending("\(number)", source: "s\(number)", in: world)) }
        await world.dispatcher.enqueue(deliveries)
        try await until { world.sink.seen.count >= OutcomeWriter.maximum && world.sink.inFlight == 0 }
        for _ in 0..<2000 { await Task.yield() }
        #expect(world.sink.seen.count <= OutcomeWriter.maximum + DeliveryPolicy.maximumConcurrency)
        try await world.dispatcher.retry(sink: "k")
        await world.journal.fail()
        try await world.advance(.seconds(60)) { world.sink.seen.count == 700 }
        try await until { await world.journal.state(700) == .sent }
        #expect(Set(world.sink.seen).count == 700)
    }
}
