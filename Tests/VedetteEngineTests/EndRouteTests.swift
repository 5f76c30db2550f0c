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
