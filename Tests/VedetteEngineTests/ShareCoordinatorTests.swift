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

    @Test("a watcher that holds nothing tells why: a newer configuration of another one, or that others took over")
    func reasons() async throws {
        let (journal, clock, log) = (SharedMemory(), ManualClock(), LogLines())
        let own = journal.join("own", configuration: "a")
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: own, clock: clock, random: SeededRandom(StableHash.of(["own"])), log: log,
            userAgent: "", civil: Greenwich())
        let executor = QueueExecutor()
        let dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()])
        let watcher = Watcher(
            WatchConfiguration(sources: [], rules: RuleSet([])), dependencies, on: executor, dispatcher: dispatcher)
        try await watcher.restore()
        let names = SharedNames(sources: [], sinks: ["k"], rules: [], configuration: "a")
        let coordinator = ShareCoordinator(own, names, watcher, dispatcher, log: log, clock: clock)
        func holds() -> Bool { journal.leases[.sink("k")] == own.writer }
        await coordinator.update()
        #expect(holds() && log.all.last?.hasPrefix("polls 0 of 0 sources and delivers to 1 of 1 sink") == true)
        // Late, as all are after a pause of the database; nobody has taken over.
        journal.expire(own.writer)
        await coordinator.update()
        #expect(holds() && log.all.count == 1)
        let other = journal.join("other", configuration: "b")
        await coordinator.update()
        #expect(!holds() && log.all.last?.hasPrefix("stands by: another watcher has a newer configuration") == true)
        journal.end(other.writer)
        await coordinator.update()
        #expect(holds())
        journal.end(own.writer)
        await coordinator.update()
        #expect(log.all.last?.hasPrefix("polls nothing: others have taken over") == true)
        #expect(log.all.count { $0.contains("newer configuration") } == 1)
    }

    /// A coordinator of a watcher without sources, which delivers to a sink "k".
    private func coordinator(_ own: SharedPart, configuration: String) async throws -> ShareCoordinator {
        let clock = ManualClock()
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: own, clock: clock, random: SeededRandom(StableHash.of(["own"])),
            log: LogLines(), userAgent: "", civil: Greenwich())
        let executor = QueueExecutor()
        let dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()])
        let watcher = Watcher(
            WatchConfiguration(sources: [], rules: RuleSet([])), dependencies, on: executor, dispatcher: dispatcher)
        try await watcher.restore()
        return ShareCoordinator(own, names(configuration), watcher, dispatcher, log: LogLines(), clock: clock)
    }

    private func names(_ configuration: String) -> SharedNames {
        SharedNames(sources: [], sinks: ["k"], rules: [], configuration: configuration)
    }

    @Test("a configuration that is reloaded while the one before is being registered is registered, too")
    func quickReloads() async throws {
        let journal = SharedMemory()
        let own = journal.join("own", configuration: "a")
        let coordinator = try await coordinator(own, configuration: "a")
        journal.whenConfigured { await coordinator.configure(names("c")) }
        await coordinator.configure(names("b"))
        await coordinator.update()
        #expect(own.watchers().map(\.configuration) == ["b"])
        await coordinator.update()
        #expect(own.watchers().map(\.configuration) == ["c"])
    }

    @Test("a watcher that stands by leaves requests for what it does not have to those with the newest configuration")
    func requestsWhileStandingBy() async throws {
        let journal = SharedMemory()
        let own = journal.join("own", configuration: "a")
        let coordinator = try await coordinator(own, configuration: "a")
        let subject = Subject(source: "new", key: nil)
        let requests: [ControlRequest] = [
            .poll(source: "new"), .accept(source: "new"), .acknowledge(rule: "r", subject: subject, nil),
            .retry(sink: "new"), .reloadQueue(sink: "new"), .unknown(verb: "new"),
        ]
        func carriesOut() async -> [Bool] {
            var all: [Bool] = []
            for request in requests { all.append(await coordinator.carriesOut(request)) }
            return all
        }
        #expect(await carriesOut().allSatisfy { !$0 }, "it does not know yet whether it has the newest")
        await coordinator.update()
        #expect(await carriesOut().allSatisfy { $0 })
        let other = journal.join("other", configuration: "b")
        await coordinator.update()
        #expect(await carriesOut().allSatisfy { !$0 })
        #expect(await coordinator.carriesOut(.reloadSilences))
        #expect(await !coordinator.takesPart, "it leaves pruning to the others, too")
        journal.end(other.writer)
        await coordinator.update()
        #expect(await carriesOut().allSatisfy { $0 })
    }

    @Test("I3: a row that the journal refused does not come back over what another watcher wrote meanwhile", .tags(.I3))
    func refusedRows() async throws {
        let (journal, clock) = (SharedMemory(), ManualClock())
        let (own, other) = (journal.join("own"), journal.join("other"))
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: own, clock: clock, random: SeededRandom(StableHash.of(["own"])),
            log: LogLines(), userAgent: "", civil: Greenwich())
        let executor = QueueExecutor()
        let watcher = Watcher(
            WatchConfiguration(sources: [source("a")], rules: RuleSet([])), dependencies, on: executor,
            dispatcher: Dispatcher(dependencies, on: executor, sinks: [:]))
        let commits = await watcher.commits
        let (lease, record) = (Lease.source("a"), SourceRecord(name: "a"))
        func row(_ state: String) -> StoredItem {
            StoredItem(Item(key: "1", state: state), digest: 1, stateSince: clock.now().wall)
        }
        func hold(_ sources: Set<String>) async throws { try await watcher.hold(sources: sources, rules: []) }
        try await watcher.restore()
        _ = own.take([lease])
        try await hold(["a"])
        journal.refuseDeferred(true)
        commits.write(deferred: [DeferredWrite(record, items: [row("old")])])
        await commits.finish()
        journal.refuseDeferred(false)
        try await hold([])
        own.release([lease])
        _ = other.take([lease])
        _ = try other.commit([PollRecord(record: record, writes: [row("new")])], within: .none)
        other.release([lease])
        _ = own.take([lease])
        try await hold(["a"])
        _ = try await commits.submit(PollRecord(record: record)).committed()
        #expect(try own.items(of: "a")["1"]?.item?.state == "new")
    }

    @Test("a page that was read before a sink was given up is not used when the sink is taken again")
    func outdatedPage() async throws {
        let (journal, clock, sink) = (SharedMemory(), ManualClock(), FakeSink())
        let dependencies = Dependencies(
            fetcher: FakeFetcher(), journal: journal.join("own"), clock: clock,
            random: SeededRandom(StableHash.of(["own"])), log: LogLines(), userAgent: "", civil: Greenwich())
        var policy = DeliveryPolicy()
        policy.isParallel = true
        let dispatcher = Dispatcher(dependencies, on: QueueExecutor(), sinks: ["k": sink], policy: ["k": policy])
        func commit(_ title: String) throws {
            let now = clock.now().wall
            let event = Event(
                id: Identifier(title), kind: .appeared, time: now, source: "s", sourceKind: "lines", poll: "p")
            let message = Message(id: "msg_" + title, rule: "r", sink: "k", event: event, title: title, text: "")
            let delivery = Delivery(message: message, created: now, due: now)
            _ = try journal.memory.commit([PollRecord(record: nil, deliveries: [delivery])], within: .none)
        }
        var states: [DeliveryState] {
            journal.memory.deliveries(DeliveryFilter(), after: 0, limit: 9).map(\.state)
        }
        sink.answer(.retry(reason: "503", after: nil))
        journal.holdPages()
        try commit("1")
        try await dispatcher.hold(["k"])
        try await until { journal.heldPages == 1 }
        try commit("2")
        journal.letPagePass()
        // The first waits for its retry, and the page with the second alone is read.
        try await until { journal.heldPages == 1 && states == [.retry, .pending] }
        try await dispatcher.hold([])
        try await dispatcher.hold(["k"])
        try await until { journal.heldPages == 2 }
        journal.letPagePass()
        for _ in 0..<2000 { await Task.yield() }
        journal.releasePages()
        try await until {
            clock.advance(.milliseconds(500))
            return states == [.sent, .sent]
        }
        await dispatcher.stop(by: clock.now().boot.advanced(by: .seconds(5)))
    }
}
