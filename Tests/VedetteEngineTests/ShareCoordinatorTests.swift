// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("The part of one of several watchers")
struct ShareCoordinatorTests {
    @Test("a difference of configurations that lasts is stored and logged once, and so is its end")
    func drift() async throws {
        let (journal, clock, log) = (SharedMemory(), ManualClock(), LogLines())
        let old = journal.join("old", configuration: "a")
        let new = journal.join("new", configuration: "b")
        let rule = Rule(
            name: "rollout", when: .sourceState([.unequal, .equal]), notify: [Rule.NotificationTarget(sink: "k")])
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: new, clock: clock, random: SeededRandom(StableHash.of(["new"])), log: log,
            userAgent: "",
            civil: Greenwich())
        let executor = QueueExecutor()
        let dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()])
        let watcher = Watcher(
            WatchConfiguration(sources: [], rules: RuleSet([rule])), dependencies, on: executor,
            dispatcher: dispatcher)
        try await watcher.restore()
        let names = SharedNames(sources: [], sinks: [], rules: ["rollout"], configuration: "b")
        let coordinator = ShareCoordinator(new, names, watcher, dispatcher, log: log, clock: clock)
        var words: [String] { journal.memory.events(after: 0, EventFilter(), limit: 99).map(\.kind.word) }
        await coordinator.update()
        #expect(words.isEmpty)
        clock.advance(.seconds(61))
        for _ in 0..<3 { await coordinator.update() }
        #expect(words == ["unequal"])
        #expect(log.all.count { $0.contains("different configurations: old differs from new, configured last") } == 1)
        journal.end(old.writer)
        for _ in 0..<3 { await coordinator.update() }
        #expect(words == ["unequal", "equal"])
        #expect(log.all.count { $0 == "the watchers have the same configuration again" } == 1)
        let messages = journal.memory.deliveries(DeliveryFilter(), after: 0, limit: 99).map(\.delivery.message.title)
        #expect(
            messages == [
                "The watchers have different configurations", "The watchers have the same configuration again",
            ])
    }
}
