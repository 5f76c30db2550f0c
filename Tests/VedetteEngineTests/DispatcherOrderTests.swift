// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

/// A dispatcher with a journal that has all of the contract.
struct DeliveryRun {
    let clock = ManualClock()
    let journal: MemoryJournal
    let dispatcher: Dispatcher

    init(
        _ sinks: [String: any Sink], policy: [String: DeliveryPolicy] = [:], journal: MemoryJournal = MemoryJournal()
    ) {
        self.journal = journal
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: journal, clock: clock, random: SeededRandom(), log: LogLines(),
            userAgent: "test/1", transformer: FakeShaper(), civil: Greenwich(), memory: PollMemory(), meter: NoMeter())
        dispatcher = Dispatcher(dependencies, on: QueueExecutor(), sinks: sinks, policy: policy)
    }

    /// Commits a message about an item of a source; without a key it is one about several.
    func tell(
        _ title: String, _ kind: Event.Kind = .changed, source: String = "s", key: String?, sink: String,
        parts: [Event.Summary.Part] = []
    ) async throws {
        let now = clock.now().wall
        var event = Event(
            id: Identifier("\(now.milliseconds) \(title)"), kind: kind, time: now, source: source, sourceKind: "lines",
            poll: "p", item: key.map { Item(key: $0) })
        if !parts.isEmpty {
            event.summary = Event.Summary(count: parts.count)
            event.summary?.parts = parts
        }
        let message = Message(id: "msg_\(title)", rule: "down", sink: sink, event: event, title: title, text: "")
        var poll = PollRecord(record: nil, events: kind == .changed ? [event] : [])
        poll.deliveries = [Delivery(message: message, created: now, due: now)]
        let result = try journal.commit([poll], within: dispatcher.queueBounds.limits())
        await dispatcher.committed(result.polls.flatMap(\.deliveries).filter(\.state.isPending), result.eviction)
        clock.advance(.seconds(1))
    }

    func advance(until isReached: () -> Bool) async {
        for _ in 0..<600 where !isReached() {
            clock.advance(.seconds(5))
            for _ in 0..<40 { await Task.yield() }
            // The clock waits at each step for the dispatcher's thread, which may be late.
            _ = await dispatcher.sent
        }
    }
}

@Suite("Dispatcher: order of what is about one subject", .timeLimit(.minutes(5)))
struct DispatcherOrderTests {
    @Test("after an outage a message about several sources goes before the later one about one of them", .tags(.I6))
    func groups() async throws {
        let chat = FakeSink()
        let run = DeliveryRun(["chat": chat])
        chat.answer(.retry(reason: "refused", after: nil), .retry(reason: "refused", after: nil))
        try await run.tell("a, b, c down", .digest, source: "c", key: nil, sink: "chat")
        await run.advance { chat.seen.count == 1 }
        try await run.tell("a up", .resolved, source: "a", key: "1", sink: "chat")
        await run.advance { chat.seen.count == 4 }
        #expect(chat.seen == ["a, b, c down", "a, b, c down", "a, b, c down", "a up"])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("a fallback gets the message that tested the sink before the end of what it says")
    func diverted() async throws {
        let (hook, log) = (FakeSink(), FakeSink())
        var policy = DeliveryPolicy()
        (policy.fallbacks, policy.elseAfter) = (["log"], .seconds(120))
        let run = DeliveryRun(["hook": hook, "log": log], policy: ["hook": policy])
        hook.answer(Outcome.retry(reason: "refused", after: nil))
        try await run.tell("first", key: "0", sink: "hook")
        await run.advance { hook.seen.count == 1 && hook.inFlight == 0 }
        hook.hang()
        hook.answer(.retry(reason: "refused", after: nil))
        await run.advance { hook.inFlight == 1 }
        try await run.tell("first up", .resolved, key: "0", sink: "hook")
        try await run.tell("web down", key: "web", sink: "hook")
        await run.advance { log.seen.count == 1 }
        #expect(log.seen == ["web down"] && hook.inFlight == 1)
        hook.answer(Outcome.retry(reason: "refused", after: nil), .retry(reason: "refused", after: nil))
        hook.release()
        await run.advance { log.seen.count == 3 }
        #expect(log.seen == ["web down", "first", "first up"])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }
}
