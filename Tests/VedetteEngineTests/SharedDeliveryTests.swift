// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Dispatcher: one of several watchers", .timeLimit(.minutes(5)))
struct SharedDeliveryTests {
    /// Two watchers. The first one holds the sink, and the other one polls.
    private struct Pair {
        let journal = SharedMemory()
        let clock = ManualClock()
        let chat = FakeSink()
        let holder: Dispatcher
        let poller: Dispatcher
        let holding: SharedPart
        let polling: SharedPart

        /// - Parameter bound: the most messages that are pending for the sink.
        init(bound: Int = 100) async throws {
            var policy = DeliveryPolicy()
            (policy.isTextSink, policy.queue.count) = (true, bound)
            (holding, polling) = (journal.join("holder"), journal.join("poller"))
            let dispatchers = [holding, polling].map { [clock, chat] part in
                let dependencies = Dependencies(
                    fetcher: FakeFetcher(), journal: part, clock: clock,
                    random: SeededRandom(StableHash.of([part.name])), log: LogLines(), userAgent: "",
                    civil: Greenwich())
                return Dispatcher(dependencies, on: QueueExecutor(), sinks: ["chat": chat], policy: ["chat": policy])
            }
            (holder, poller) = (dispatchers[0], dispatchers[1])
            try await holder.hold(["chat"])
        }

        /// The poller commits a message about an item.
        func tell(_ title: String, _ kind: Event.Kind = .changed, key: String = "1") async throws {
            let now = clock.now().wall
            let event = Event(
                id: Identifier("\(now.milliseconds) \(title)"), kind: kind, time: now, source: "web",
                sourceKind: "lines", poll: "p", item: Item(key: key))
            let message = Message(
                id: "msg_\(title)", rule: "down", sink: "chat", event: event, title: title, text: "")
            let poll = PollRecord(record: nil, deliveries: [Delivery(message: message, created: now, due: now)])
            let result = try polling.commit([poll], within: poller.queueBounds.limits())
            await poller.committed(result.polls.flatMap(\.deliveries).filter(\.state.isPending), result.eviction)
        }

        func renew() { journal.renew(holding.writer, at: clock.now().boot) }

        var states: [DeliveryState] {
            journal.memory.deliveries(DeliveryFilter(), after: 0, limit: .max).map(\.state)
        }
    }

    @Test(
        "once its leases may have ended or are lost a watcher begins no send, and after a renewal it goes on",
        arguments: [false, true])
    func late(isLost: Bool) async throws {
        let pair = try await Pair()
        pair.renew()
        pair.chat.hang()
        for title in ["1", "2", "3"] { try await pair.tell(title) }
        try await pair.holder.lookForDeliveries()
        try await until { pair.chat.inFlight == 1 }
        if isLost {
            pair.journal.renew(pair.holding.writer, at: nil)
        } else {
            pair.clock.advance(.seconds(14))
        }
        pair.chat.release()
        try await until { pair.states == [.sent, .pending, .pending] }
        #expect(await !pair.holder.isSending)
        #expect(pair.chat.seen == ["1"])
        guard !isLost else { return }
        pair.renew()
        pair.clock.advance(.seconds(1))
        try await until { pair.states == [.sent, .sent, .sent] }
        #expect(pair.chat.seen == ["1", "2", "3"])
    }

    @Test("a watcher that stands still between its look at the clock and a send does not send when it goes on")
    func paused() async throws {
        let pair = try await Pair()
        pair.renew()
        let end = pair.clock.now().boot.advanced(by: .seconds(60))
        pair.journal.whenRead { [clock = pair.clock] in clock.advance(.seconds(60)) }
        try await pair.tell("up", .resolved)
        try await pair.holder.lookForDeliveries()
        try await until {
            let isSending = await pair.holder.isSending
            return pair.clock.now().boot >= end && !isSending
        }
        #expect(pair.chat.seen.isEmpty && pair.states == [.pending])
        pair.renew()
        pair.clock.advance(.seconds(1))
        try await until { pair.states == [.sent] }
        #expect(pair.chat.seen == ["up"])
    }

    @Test("a message that waits for a retry is not sent once another watcher has stored its end", .tags(.I6))
    func over() async throws {
        let pair = try await Pair()
        pair.chat.answer(.retry(reason: "refused", after: nil))
        try await pair.tell("down")
        try await pair.holder.lookForDeliveries()
        try await until { pair.states == [.retry] }
        try await pair.tell("up", .resolved)
        #expect(pair.states == [.suppressed, .pending])
        try await pair.holder.lookForDeliveries()
        try await until { pair.states[1] == .sent }
        #expect(pair.chat.seen == ["down", "up"] && pair.states[0] == .suppressed)
    }

    @Test("a message that another watcher's commit evicts from a full queue is not sent, and none waits behind it")
    func evicted() async throws {
        let pair = try await Pair(bound: 1)
        pair.chat.answer(.retry(reason: "refused", after: nil))
        try await pair.tell("first")
        try await pair.holder.lookForDeliveries()
        try await until { pair.states == [.retry] }
        try await pair.tell("second", key: "2")
        #expect(pair.states == [.dead, .pending])
        try await pair.holder.lookForDeliveries()
        try await until { pair.states[1] == .sent }
        #expect(pair.chat.seen == ["first", "second"] && pair.states[0] == .dead)
    }
}

extension Dispatcher {
    fileprivate var isSending: Bool { !attempts.isEmpty }
}
