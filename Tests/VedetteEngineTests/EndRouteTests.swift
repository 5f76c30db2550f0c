// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("The end of a match goes to the sinks that took it", .timeLimit(.minutes(10)))
struct EndRouteTests {
    private let spare = FakeSink()

    private func world(fallbacks: [String] = [], notifying sinks: [String] = ["k"]) async throws -> World {
        var gates = Gates()
        gates.resolved = true
        let rules = RuleSet([
            Rule(
                name: "door", when: .field("state", from: nil, to: .oneOf(["open", "ajar"])),
                notify: sinks.map { Rule.NotificationTarget(sink: $0) }, gates: gates)
        ])
        var policy = DeliveryPolicy()
        policy.fallbacks = fallbacks
        let world = World([source("home")], rules: rules, sinks: ["spare": spare], policy: ["k": policy])
        try await world.restore()
        return world
    }

    /// Polls once for each state of the door, and delivers what that makes.
    private func pass(_ states: [String], _ world: World) async {
        for state in states {
            world.fetcher.serve(url("home"), "a=\(state)")
            _ = await world.watcher.runOnce(force: true)
            await world.dispatcher.drainOnce()
        }
    }

    @Test("a sink that took a match is told its end, and its fallback is not")
    func taken() async throws {
        let world = try await world(fallbacks: ["spare"])
        await pass(["closed", "open", "closed"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: open → closed"] && spare.seen.isEmpty)
    }

    @Test("a sink that refused a match is not told its end, for which a reason is kept")
    func refused() async throws {
        let world = try await world()
        world.sink.answer(.rejected(reason: "too long"))
        await pass(["closed", "open", "closed"], world)
        #expect(world.sink.seen == ["a: closed → open"])
        let ends = await world.journal.deliveries.values.filter { $0.delivery.message.event.kind == .resolved }
        #expect(
            ends.map(\.state) == [.suppressed]
                && ends.map(\.delivery.reason) == ["'k' did not accept the match that is over"])
    }

    @Test("a fallback that got a match gets its end, though its sink takes messages again")
    func fallback() async throws {
        let world = try await world(fallbacks: ["spare"])
        world.sink.answer(.rejected(reason: "too long"))
        await pass(["closed", "open", "closed", "open"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: closed → open"])
        #expect(spare.seen == ["a: closed → open", "a: open → closed"])
    }

    @Test("a sink that took one match and refused the next one, which took its place, is told the end")
    func earlier() async throws {
        let world = try await world()
        world.sink.answer(.delivered, .rejected(reason: "too long"))
        await pass(["closed", "open", "ajar", "closed"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: open → ajar", "a: ajar → closed"])
    }

    @Test("where each of two sinks took a part, both are told the end")
    func both() async throws {
        let world = try await world(fallbacks: ["spare"])
        world.sink.answer(.delivered, .rejected(reason: "too long"))
        await pass(["closed", "open", "ajar", "closed"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: open → ajar", "a: ajar → closed"])
        #expect(spare.seen == ["a: open → ajar", "a: ajar → closed"])
    }

    private static func part(_ key: String, _ kind: Event.Kind, isOver: Bool = false) -> Event.Summary.Part {
        var part = Event.Summary.Part(event: "e", kind: kind.word, source: "s", key: key)
        part.isOver = isOver
        return part
    }

    /// A chat that refused that `a` is down, so that its fallback was told.
    private func refusedRun(_ chat: FakeSink) async throws -> DeliveryRun {
        var policy = DeliveryPolicy()
        policy.fallbacks = ["spare"]
        let run = DeliveryRun(["chat": chat, "spare": spare], policy: ["chat": policy])
        chat.answer(.rejected(reason: "too long"))
        try await run.tell("a down", key: "a", sink: "chat")
        await run.advance { spare.seen.count == 1 }
        return run
    }

    @Test(
        "a fallback that got a match is told in a digest of other matches that it is over, and the ends of those",
        arguments: [part("a", .resolved), part("a", .changed, isOver: true)])
    func digest(over: Event.Summary.Part) async throws {
        let chat = FakeSink()
        let run = try await refusedRun(chat)
        let others = [EndRouteTests.part("b", .changed), EndRouteTests.part("c", .changed)]
        try await run.tell("a, b, c", .digest, key: nil, sink: "chat", parts: [over] + others)
        await run.advance { spare.seen.count == 2 }
        try await run.tell("b up", .resolved, key: "b", sink: "chat")
        await run.advance { spare.seen.count == 3 }
        #expect(chat.seen == ["a down", "a, b, c", "b up"])
        #expect(spare.seen == ["a down", "a, b, c", "b up"])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("a fallback is not told a digest in which its match is over and another one of the same item goes on")
    func beganAgain() async throws {
        let chat = FakeSink()
        let run = try await refusedRun(chat)
        let parts = [EndRouteTests.part("a", .changed, isOver: true), EndRouteTests.part("a", .changed)]
        try await run.tell("a, a", .digest, key: nil, sink: "chat", parts: parts)
        try await run.tell("a up", .resolved, key: "a", sink: "chat")
        await run.advance { spare.seen.count == 2 }
        #expect(chat.seen == ["a down", "a, a", "a up"])
        #expect(spare.seen == ["a down", "a up"])
        await run.dispatcher.stop(by: run.clock.now().boot)
    }

    @Test("a fallback that the rule notifies itself gets the end once")
    func notifiedFallback() async throws {
        let world = try await world(fallbacks: ["spare"], notifying: ["k", "spare"])
        await pass(["closed", "open", "closed"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: open → closed"])
        #expect(spare.seen == world.sink.seen)
    }

    @Test("a sink is told an end when the message of its match is no longer kept")
    func forgotten() async throws {
        let world = try await world(fallbacks: ["spare"])
        world.sink.answer(.rejected(reason: "too long"))
        await pass(["closed", "open"], world)
        await world.journal.forget()
        await pass(["closed"], world)
        #expect(world.sink.seen == ["a: closed → open", "a: open → closed"])
    }
}
