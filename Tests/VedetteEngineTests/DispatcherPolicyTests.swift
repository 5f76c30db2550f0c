// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

private func pending(
    _ title: String, source: String = "s", sink: String = "k", priority: Priority = .normal, in world: World
) async -> Delivery {
    let now = world.clock.now().wall
    let event = Event(
        id: Identifier(title), kind: .appeared, time: now, source: source, sourceKind: "lines", poll: "p",
        item: Item(key: title))
    let message = Message(
        id: "msg_\(title)_\(sink)", rule: "r", sink: sink, event: event, title: title, text: "",
        priority: priority)
    return await world.journal.enqueue(Delivery(message: message, created: now, due: now))
}

private func policy(_ change: (inout DeliveryPolicy) -> Void) -> DeliveryPolicy {
    var policy = DeliveryPolicy()
    change(&policy)
    return policy
}

/// Refuses until it is told otherwise; it notes what it took, and when.
private final class Receiver: Sink {
    private struct State {
        var answer: Outcome
        var taken: [(lane: String, title: String, at: BootTime)] = []
        var attempts = 0
    }
    private let state: Mutex<State>
    private let clock: ManualClock

    init(_ clock: ManualClock, _ answer: Outcome = .delivered) {
        self.clock = clock
        state = Mutex(State(answer: answer))
    }

    var taken: [(lane: String, title: String, at: BootTime)] { state.withLock { $0.taken } }
    var attempts: Int { state.withLock { $0.attempts } }
    func answer(_ answer: Outcome) { state.withLock { $0.answer = answer } }

    func deliver(_ message: Message) async -> Outcome {
        let now = clock.now().boot
        return state.withLock { state in
            state.attempts += 1
            if state.answer == .delivered { state.taken.append((message.event.source, message.title, now)) }
            return state.answer
        }
    }
}

@Suite("Dispatcher: fallbacks, bounds, paused sinks", .timeLimit(.minutes(10)))
struct DispatcherPolicyTests {
    @Test("what dies at a sink goes to its fallback, once, as a message of its own")
    func fallback() async throws {
        let clock = ManualClock()
        let mail = Receiver(clock)
        let world = World(
            clock: clock, sinks: ["mail": mail], policy: ["k": policy { $0.fallbacks = ["mail"] }])
        world.sink.answer(.rejected(reason: "400"))
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await until { await world.journal.state(2) == .sent }
        #expect(await world.journal.state(1) == .suppressed)
        #expect(await world.journal.reason(1) == "told by 'mail': 400")
        #expect(await world.dispatcher.died == 0)
        let ids = await world.journal.deliveries.values.map(\.delivery.message.id)
        #expect(Set(ids).count == 2 && mail.taken.map(\.title) == ["1"])
    }

    @Test("a chain is followed to its end, and what dies there is dead")
    func chain() async throws {
        let clock = ManualClock()
        let (mail, chat) = (Receiver(clock, .rejected(reason: "550")), Receiver(clock, .rejected(reason: "404")))
        let world = World(
            clock: clock, sinks: ["mail": mail, "chat": chat],
            policy: ["k": policy { $0.fallbacks = ["mail", "chat"] }])
        world.sink.answer(.rejected(reason: "400"))
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await until { await world.journal.state(3) == .dead }
        #expect(await world.journal.reason(3) == "404")
        #expect(await world.journal.deliveries.count == 3)
    }

    /// A sink that fails goes to `mail` after two minutes.
    private let failing = policy { ($0.fallbacks, $0.elseAfter) = (["mail"], .seconds(120)) }

    @Test("after its time all that a failing sink has pending is told by the fallback, each message once")
    func diverted() async throws {
        let clock = ManualClock()
        let (primary, mail) = (Receiver(clock, .retry(reason: "refused", after: nil)), Receiver(clock))
        let world = World(clock: clock, sinks: ["p": primary, "mail": mail], policy: ["p": failing])
        var deliveries: [Delivery] = []
        for number in 1...30 {
            deliveries.append(await pending("\(number)", source: "s\(number % 3)", sink: "p", in: world))
        }
        let start = clock.now().boot
        await world.dispatcher.enqueue(deliveries)
        try await until { primary.attempts >= 3 }
        #expect(mail.taken.isEmpty)
        try await world.advance(.seconds(150)) { mail.taken.count == 30 }
        #expect(Set(mail.taken.map(\.title)).count == 30)
        #expect(mail.taken.allSatisfy { $0.at >= start.advanced(by: .seconds(119)) })
        try await until { await world.journal.state(30) == .suppressed }
        #expect(await world.journal.reason(30)?.hasPrefix("told by 'mail': ") == true)
        #expect(await world.journal.deliveries.values.count { $0.state == .suppressed } == 30)
        #expect(!world.log.all.contains { $0.contains("gave up") })
    }

    @Test(
        "of what comes later one message at a time tests the sink, and goes over when that fails; one that succeeds ends it"
    )
    func tested() async throws {
        let clock = ManualClock()
        let (primary, mail) = (Receiver(clock, .retry(reason: "refused", after: nil)), Receiver(clock))
        let world = World(clock: clock, sinks: ["p": primary, "mail": mail], policy: ["p": failing])
        await world.dispatcher.enqueue([await pending("first", sink: "p", in: world)])
        try await world.advance(.seconds(150)) { mail.taken.count == 1 }
        let before = primary.attempts
        for number in 1...20 {
            await world.dispatcher.enqueue([await pending("\(number)", sink: "p", in: world)])
            try await world.advance(.seconds(5)) { mail.taken.count == number + 1 }
        }
        #expect(primary.attempts > before && primary.attempts < before + 10, "\(primary.attempts - before) tests of 20")
        primary.answer(.delivered)
        var number = 20
        while primary.taken.isEmpty {
            number += 1
            await world.dispatcher.enqueue([await pending("\(number)", sink: "p", in: world)])
            try await world.advance(.seconds(30)) { primary.taken.count + mail.taken.count == number + 1 }
        }
        await world.dispatcher.enqueue([await pending("last", sink: "p", in: world)])
        try await until { primary.taken.count == 2 }
        #expect(mail.taken.count + primary.taken.count == number + 2)
    }

    @Test(
        "a paused sink goes to its fallback at once; without one it waits for a person",
        arguments: [true, false])
    func pausedFallback(hasFallback: Bool) async throws {
        let clock = ManualClock()
        let (primary, mail) = (Receiver(clock, .paused(reason: "401")), Receiver(clock))
        let world = World(
            clock: clock, sinks: ["p": primary, "mail": mail], policy: ["p": hasFallback ? failing : DeliveryPolicy()])
        for title in ["1", "2", "3"] {
            await world.dispatcher.enqueue([await pending(title, sink: "p", in: world)])
            if hasFallback {
                try await until { mail.taken.last?.title == title }
            } else {
                try await until { primary.attempts == 1 }
            }
        }
        #expect(primary.attempts == 1 && mail.taken.count == (hasFallback ? 3 : 0))
        let states = await Set(world.journal.deliveries.values.filter { $0.delivery.message.sink == "p" }.map(\.state))
        #expect(hasFallback ? states == [.suppressed] : states.allSatisfy(\.isPending))
    }

    @Test("a sink whose fallbacks are not configured keeps its messages")
    func noFallback() async throws {
        let clock = ManualClock()
        let primary = Receiver(clock, .retry(reason: "refused", after: nil))
        let world = World(clock: clock, sinks: ["p": primary], policy: ["p": failing])
        await world.dispatcher.enqueue([await pending("1", sink: "p", in: world)])
        try await world.advance(.seconds(600)) { primary.attempts > 8 }
        #expect(await world.journal.deliveries.count == 1)
        #expect(await world.journal.state(1)?.isPending == true)
    }

    @Test("while outcomes cannot be written nothing is passed on twice")
    func fallbackWithoutJournal() async throws {
        let clock = ManualClock()
        let mail = Receiver(clock)
        let world = World(
            clock: clock, sinks: ["mail": mail], policy: ["k": policy { $0.fallbacks = ["mail"] }])
        world.sink.answer(.rejected(reason: "400"))
        let delivery = await pending("1", in: world)
        await world.journal.fail(recording: true)
        await world.dispatcher.enqueue([delivery])
        try await until { clock.sleepers == 2 }
        await world.journal.fail()
        try await world.advance(.seconds(6)) { mail.attempts == 1 }
        for _ in 0..<500 { await Task.yield() }
        #expect(await world.journal.deliveries.count == 2 && mail.attempts == 1)
    }

    @Test(
        "beyond a queue's bound the oldest are passed on with the reason; one whose attempt succeeds is sent")
    func eviction() async throws {
        let clock = ManualClock()
        let mail = Receiver(clock)
        let down = policy { ($0.queue.count, $0.fallbacks) = (10, ["mail"]) }
        let world = World(clock: clock, sinks: ["mail": mail], policy: ["k": down])
        world.sink.hang()
        var deliveries: [Delivery] = []
        for number in 1...30 { deliveries.append(await pending("\(number)", in: world)) }
        await world.dispatcher.enqueue(deliveries)
        try await until { world.sink.inFlight == 1 }
        try await world.advance(.seconds(70)) { mail.taken.count == 20 }
        #expect(mail.taken.map(\.title) == (1...20).map(String.init))
        #expect(
            await world.journal.reason(5)
                == "told by 'mail': queue full: more than 10 messages were pending for the sink, the oldest is dropped"
        )
        world.sink.release()
        try await until { world.sink.seen.count == 11 && world.sink.inFlight == 0 }
        #expect(world.sink.seen == ["1"] + (21...30).map(String.init))
        try await until { await world.journal.state(1) == .sent }
    }

    @Test("a delivery that is evicted in flight is not attempted again when its attempt fails")
    func evictedInFlight() async throws {
        let clock = ManualClock()
        let world = World(clock: clock, policy: ["k": policy { $0.queue.count = 1 }])
        world.sink.hang()
        world.sink.answer(.retry(reason: "503", after: nil))
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { world.sink.inFlight == 1 }
        try await world.advance(.seconds(70)) { await world.journal.state(1) == .dead }
        world.sink.release()
        try await world.advance(.seconds(70)) { await world.journal.state(2) == .sent }
        #expect(world.sink.seen == ["1", "2"])
        #expect(await world.journal.state(1) == .dead)
    }

    @Test("a bound that was lowered by a reload is reached at once, step by step, and nobody spins meanwhile")
    func farBeyond() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        world.sink.hang()
        var deliveries: [Delivery] = []
        for number in 1...5000 { deliveries.append(await pending("\(number)", in: world)) }
        await world.dispatcher.enqueue(deliveries)
        await world.dispatcher.reload(
            sinks: ["k": world.sink], policy: ["k": policy { $0.queue.count = 10 }], keeping: ["k"])
        // No time passes.
        try await until { await world.journal.deliveries.values.count { $0.state == .dead } == 4990 }
        world.sink.release()
        try await until { world.sink.seen.count == 11 && world.sink.inFlight == 0 }
        let lines = world.log.all.filter { $0.contains("beyond the bounds") }
        #expect(lines.count == 1 && lines[0].contains("gave up 2000 messages"))
    }

    @Test("once: the bound is kept, and an audit that is due keeps nobody awake")
    func once() async throws {
        let clock = ManualClock()
        let down = Receiver(clock, .retry(reason: "503", after: nil))
        let world = World(clock: clock, sinks: ["k": down], policy: ["k": policy { $0.queue.count = 10 }])
        for number in 1...1200 { _ = await pending("\(number)", in: world) }
        try await world.dispatcher.restore()
        await world.dispatcher.drainOnce()
        #expect(await world.journal.deliveries.values.count { $0.state == .dead } == 1190)
        #expect(await world.dispatcher.died == 1190)
        clock.advance(.seconds(100))
        var before = -1
        for _ in 0..<100 where clock.sleeps != before {
            before = clock.sleeps
            for _ in 0..<2000 { await Task.yield() }
        }
        #expect(clock.sleeps == before)
    }

    @Test("the wall clock is set back after an hour of waiting: nothing dies of an age that it does not have")
    func ageAgainstTheClock() async throws {
        let clock = ManualClock()
        let world = World(clock: clock, policy: ["k": policy { $0.giveUp = .seconds(3600) }])
        world.sink.answer(.paused(reason: "401"))
        clock.setWall(by: .seconds(-400_000))
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { await world.journal.state(1) == .paused }
        for _ in 0..<40 {
            clock.advance(.seconds(5))
            for _ in 0..<40 { await Task.yield() }
        }
        #expect(await world.journal.state(2) == .pending)
    }

    @Test("what the sink of before a reload refused does not pause the one of after")
    func replaced() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        world.sink.hang()
        world.sink.answer(.paused(reason: "401"))
        await world.dispatcher.enqueue([await pending("1", in: world)])
        try await until { world.sink.inFlight == 1 }
        let fresh = Receiver(clock)
        await world.dispatcher.reload(sinks: ["k": fresh])
        world.sink.release()
        try await world.advance(.seconds(10)) { fresh.taken.count == 1 }
        try await until { await world.journal.state(1) == .sent }
    }

    @Test("pending deliveries of a paused sink die of age; deliveries of a working sink do not")
    func age() async throws {
        let clock = ManualClock()
        let world = World(clock: clock, policy: ["k": policy { $0.giveUp = .seconds(600) }])
        world.sink.answer(.paused(reason: "401"))
        await world.dispatcher.enqueue([await pending("1", in: world), await pending("2", in: world)])
        try await until { await world.journal.state(1) == .paused }
        try await world.advance(.seconds(800)) { await world.journal.state(2) == .dead }
        #expect(await world.journal.reason(1) == "gave up after 10 min: 401")
        #expect(world.sink.seen == ["1"])
    }

    @Test("a sink that refuses us is one event, and rules tell other sinks of it")
    func paused() async throws {
        let clock = ManualClock()
        let other = Receiver(clock)
        let rule = Rule(
            name: "refused", when: .sourceState([.paused, .disabled]),
            notify: ["k", "other"].map { Rule.NotificationTarget(sink: $0) })
        let world = World(rules: RuleSet([rule]), clock: clock, sinks: ["other": other])
        try await world.run {
            world.sink.hang()
            world.sink.answer(.paused(reason: "the receiver answered 401"), .paused(reason: "401"))
            await world.dispatcher.enqueue([
                await pending("1", source: "a", in: world), await pending("2", source: "b", in: world),
            ])
            try await until { world.sink.inFlight == 2 }
            world.sink.release()
            // The receiver has the message before its outcome is stored.
            try await until {
                let told = await world.journal.deliveries.values.filter { $0.delivery.message.rule == "refused" }
                return Set(told.map(\.state)) == [.suppressed, .sent]
            }
            for _ in 0..<500 { await Task.yield() }
            let events = await world.journal.events
            #expect(events.map(\.kind) == [.paused] && events.first?.source == "k")
            #expect(events.first?.error?.detail == "the receiver answered 401")
            #expect(other.taken.map(\.title) == ["The sink k refuses messages"])
        }
    }

    @Test("behind thirty messages to a chat with a rate, one of a higher priority goes next")
    func priority() async throws {
        let clock = ManualClock()
        let chat = Receiver(clock)
        let world = World(
            clock: clock, sinks: ["chat": chat], policy: ["chat": policy { $0.interval = .seconds(3) }])
        var queued: [Delivery] = []
        for i in 1...30 { queued.append(await pending("\(i)", source: "s\(i % 2)", sink: "chat", in: world)) }
        await world.dispatcher.enqueue(queued)
        try await world.advance(.seconds(3)) { chat.taken.count == 2 }
        await world.dispatcher.enqueue([
            await pending("recovered", source: "s1", sink: "chat", priority: .low, in: world),
            await pending("critical", source: "s1", sink: "chat", priority: .high, in: world),
        ])
        let most = chat.taken.count + 1  // One may have started meanwhile.
        try await world.advance(.seconds(120)) { chat.taken.count == 32 }
        let titles = chat.taken.map(\.title)
        #expect(titles.prefix(most + 1).contains("critical") && titles.last == "recovered")
    }

    @Test("after a night's outage a chat gets one message about each item, and a webhook all of them in order")
    func outage() async throws {
        let clock = ManualClock()
        let journal = MemoryJournal()
        let down = Outcome.retry(reason: "refused", after: nil)
        let (chat, hook) = (Receiver(clock, down), Receiver(clock, down))
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: journal, clock: clock, random: SeededRandom(), log: LogLines(),
            userAgent: "test/1", transformer: FakeShaper(), civil: Greenwich(), memory: PollMemory(), meter: NoMeter())
        let dispatcher = Dispatcher(
            dependencies, on: QueueExecutor(), sinks: ["chat": chat, "hook": hook],
            policy: ["chat": policy { $0.isTextSink = true }])
        func tell(_ title: String, _ kind: Event.Kind, _ key: String) async throws {
            let now = clock.now().wall
            let event = Event(
                id: Identifier("\(title) \(now.milliseconds)"), kind: kind, time: now, source: "s", sourceKind: "lines",
                poll: "p", item: Item(key: key))
            let deliveries = ["chat", "hook"].map { sink in
                let message = Message(
                    id: "msg_\(event.id)_\(sink)", rule: "down", sink: sink, event: event, title: title, text: "")
                return Delivery(message: message, created: now, due: now)
            }
            var poll = PollRecord(record: nil, events: kind == .changed ? [event] : [])
            poll.deliveries = deliveries
            let result = try journal.commit([poll], within: dispatcher.queueBounds.limits())
            await dispatcher.committed(result.polls.flatMap(\.deliveries).filter(\.state.isPending), result.eviction)
            for _ in 0..<30 {
                clock.advance(.seconds(60))
                for _ in 0..<4 { await Task.yield() }
            }
        }
        try await tell("web down", .changed, "web")
        try await tell("db down", .changed, "db")
        for _ in 0..<6 { try await tell("web still down", .reminder, "web") }
        try await tell("web up", .resolved, "web")
        for _ in 0..<3 {
            try await tell("db up", .resolved, "db")
            try await tell("db down", .changed, "db")
        }
        chat.answer(.delivered)
        hook.answer(.delivered)
        var turns = 0
        try await until {
            turns += 1
            if turns.isMultiple(of: 40) { clock.advance(.seconds(10)) }
            return hook.taken.count >= 9 && chat.taken.count >= 2
        }
        #expect(chat.taken.map(\.title) == ["web up", "db down"])
        #expect(
            hook.taken.map(\.title)
                == ["web down", "db down", "web up"] + Array(repeating: ["db up", "db down"], count: 3).flatMap { $0 })
        await dispatcher.stop(by: clock.now().boot)
    }

    @Test("a sink is down for a day: others never wait, afterwards all arrives in order, and the day cost few attempts")
    func day() async throws {
        let clock = ManualClock()
        let (down, well) = (Receiver(clock, .retry(reason: "refused", after: nil)), Receiver(clock))
        let world = World(clock: clock, sinks: ["down": down, "well": well])
        let lanes = (0..<10).map { "s\($0)" }
        for hour in 0..<24 {
            for lane in lanes {
                var deliveries: [Delivery] = []
                for sink in ["down", "well"] {
                    deliveries.append(await pending("\(lane) \(hour)", source: lane, sink: sink, in: world))
                }
                await world.dispatcher.enqueue(deliveries)
            }
            // Nobody waits for a deadline here: no time passes.
            try await until { well.taken.count == (hour + 1) * lanes.count }
            for _ in 0..<720 {
                clock.advance(.seconds(5))
                for _ in 0..<4 { await Task.yield() }
            }
        }
        #expect(down.taken.isEmpty)
        #expect(down.attempts < 24 * 60, "\(down.attempts)")
        down.answer(.delivered)
        try await world.advance(.seconds(4000)) { down.taken.count == 24 * lanes.count }
        for lane in lanes {
            #expect(down.taken.filter { $0.lane == lane }.map(\.title) == (0..<24).map { "\(lane) \($0)" })
        }
    }
}
