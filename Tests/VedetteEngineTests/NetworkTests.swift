// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
@testable import VedetteEngine

@Suite("The machine: offline, suspend, clocks", .timeLimit(.minutes(10)))
struct NetworkTests {
    private let names = ["a", "b", "c", "d", "e"]

    private func kinds(_ world: World) async -> [String] { await world.journal.events.map(\.kind.word) }

    private func serve(_ world: World, _ body: String = "1=Ready") {
        for name in names { world.fetcher.serve(url(name), body) }
    }

    private func unplug(_ world: World) {
        for name in names { world.fetcher.fail(url(name), FetchError(.resolve, "no name server")) }
    }

    @Test("offline is announced once, freezes every counter, and online is announced at the first answer")
    func offline() async throws {
        let world = World(names.map { source($0, every: .seconds(1)) })
        serve(world)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        unplug(world)
        for _ in 0..<20 {
            _ = await world.watcher.runOnce(force: true)
            world.clock.advance(.seconds(600))
        }
        #expect(await kinds(world) == ["offline"])
        let failures = await world.journal.records.values.map(\.health.failures)
        #expect(failures.allSatisfy { $0 <= 1 })
        let word = try #require(await world.journal.events.first)
        #expect(word.source == "watcher" && word.json["source"]?.string == "/watcher")
        #expect(word.error?.detail.contains("no name server") == true)
        world.fetcher.serve(url("c"), "", status: 500)
        _ = await world.watcher.runOnce(force: true)
        #expect(await kinds(world) == ["offline", "online"])
    }

    @Test("one dead server beside living ones is failing, not offline; on one origin nothing is concluded")
    func notOffline() async throws {
        let world = World(names.map { source($0, every: .seconds(1)) })
        serve(world)
        for name in ["a", "b"] { world.fetcher.fail(url(name), FetchError(.refused, "refused")) }
        try await world.watcher.restore()
        for _ in 0..<6 { _ = await world.watcher.runOnce(force: true) }
        #expect(await kinds(world) == ["failing", "failing"])
        let one = World([source("a", host: "h"), source("b", host: "h")])
        for name in ["a", "b"] { one.fetcher.fail(url(name, host: "h"), FetchError(.refused, "refused")) }
        try await one.watcher.restore()
        for _ in 0..<4 { _ = await one.watcher.runOnce(force: true) }
        #expect(await kinds(one) == ["failing", "failing"])
    }

    @Test("what refuses a connection answers: there is a network")
    func refused() async throws {
        let world = World(names.map { source($0) })
        serve(world)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        for name in names { world.fetcher.fail(url(name), FetchError(.refused, "refused")) }
        for _ in 0..<4 { _ = await world.watcher.runOnce(force: true) }
        #expect(await kinds(world) == names.map { _ in "failing" })
    }

    @Test("what a poll calls for is not lost when another poll ends during its commit")
    func actions() {
        let monitor = NetworkMonitor()
        let (good, silent) = (PollResult(.unchanged(Validators())), PollResult(FetchError(.resolve, "no name server")))
        let sources = names.enumerated().map { WatchedSource(source($1), number: $0) }
        monitor.watch(sources)
        for source in sources { monitor.pollEnded(good, of: source) }
        for source in sources { monitor.pollEnded(silent, of: source) }
        #expect(monitor.isOffline)
        _ = monitor.takeActions()
        for source in sources[0...2] { monitor.pollEnded(good, of: source) }
        for source in sources[0...1] { monitor.pollEnded(silent, of: source) }
        #expect(monitor.takeActions() == [.pollSilentSources, .pollReferenceHosts])
        #expect(monitor.takeActions().isEmpty)
    }

    @Test("a lack of memory here says nothing about the host")
    func memory() {
        #expect(PollResult(FetchError(.memory, "no memory")).isAnswered == nil)
        #expect(PollResult(FetchError(.network, "no route")).isAnswered == false)
    }

    @Test("a start without a network after an evening with one: the hosts that answered then are the witnesses")
    func startsOffline() async throws {
        let world = World(names.map { source($0) })
        serve(world)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        let again = World(names.map { source($0) }, journal: world.journal, clock: world.clock)
        unplug(again)
        try await again.watcher.restore()
        for _ in 0..<5 { _ = await again.watcher.runOnce(force: true) }
        #expect(await kinds(again) == ["offline"])
    }

    @Test("offline survives a restart: it is not announced again, and online still is")
    func restart() async throws {
        let world = World(names.map { source($0) })
        serve(world)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        unplug(world)
        for _ in 0..<2 { _ = await world.watcher.runOnce(force: true) }
        let again = World(names.map { source($0) }, journal: world.journal, clock: world.clock)
        unplug(again)
        try await again.watcher.restore()
        for _ in 0..<5 { _ = await again.watcher.runOnce(force: true) }
        #expect(await kinds(again) == ["offline"])
        serve(again)
        _ = await again.watcher.runOnce(force: true)
        #expect(await kinds(again) == ["offline", "online"])
    }

    @Test("while offline a source that observes its host confirms nothing that rules wait for")
    func confirmsNothing() async throws {
        var gates = Gates()
        gates.pendingFor = .seconds(60)
        let down = Rule(
            name: "down", when: .field("state", from: nil, to: .oneOf(["down"])),
            notify: [Rule.NotificationTarget(sink: "k")], gates: gates)
        let world = World(
            names.map { source($0, every: .seconds(1)) } + [source("h", StatusKind(), every: .seconds(1), fails: 1)],
            rules: RuleSet([down]))
        serve(world)
        world.fetcher.serve(url("h"), "")
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        world.fetcher.fail(url("h"), FetchError(.refused, "refused"))
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.memories.count == 1)
        unplug(world)
        world.fetcher.fail(url("h"), FetchError(.resolve, "no name server"))
        for _ in 0..<3 { _ = await world.watcher.runOnce(force: true) }
        world.clock.advance(.seconds(120))
        _ = await world.watcher.runOnce(force: true)
        #expect(await kinds(world).contains("offline"))
        #expect(await world.journal.deliveries.isEmpty, "nothing was seen since the network went")
        serve(world)
        world.fetcher.fail(url("h"), FetchError(.refused, "refused"))
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.deliveries.count == 1)
    }

    @Test("an event that could not be committed is announced with the next poll")
    func failedCommit() async throws {
        let world = World(names.map { source($0) })
        serve(world)
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        unplug(world)
        await world.journal.fail(commits: true)
        _ = await world.watcher.runOnce(force: true)
        await world.journal.fail()
        _ = await world.watcher.runOnce(force: true)
        #expect(await kinds(world) == ["offline"])
    }

    @Test("while offline a source that is polled often is asked less often, and again soon when the network is back")
    func interval() async throws {
        let slow = ["d", "e"].map { source($0, every: .seconds(3600)) }
        let world = World(["a", "b", "c"].map { source($0, every: .seconds(1)) } + slow)
        serve(world)
        try await world.run {
            try await until { await world.journal.records.count == names.count }
            unplug(world)
            // Two that fall silent are reason enough to ask the slow ones too, long before their time.
            try await world.advance(.seconds(40)) { await kinds(world).contains("offline") }
            let before = world.fetcher.count(url("a"))
            let start = world.clock.now().boot
            try await world.advance(.seconds(60)) { world.fetcher.count(url("a")) >= before + 3 }
            #expect(world.clock.now().boot.duration(since: start) >= .seconds(30))
            let back = world.clock.now().wall
            serve(world)
            // A request that was under way then may be the one that is answered.
            try await world.advance(.seconds(60)) {
                let records = await world.journal.records
                return ["d", "e"].allSatisfy { name in (records[name]?.snapshot?.goodAt).map { $0 >= back } ?? false }
            }
        }
    }

    @Test("a poll that met silence while the network came back is made again soon, not after its interval")
    func overtaken() async throws {
        let quick = ["a", "b", "c"]
        let world = World(quick.map { source($0, every: .seconds(1)) } + [source("d", every: .seconds(3600))])
        serve(world)
        try await world.run {
            try await until { await world.journal.records.count == 4 }
            unplug(world)
            try await world.advance(.seconds(40)) { await kinds(world).contains("offline") }
            world.fetcher.hang(url("d"))
            let before = world.fetcher.count(url("d"))
            await world.watcher.poll("d")
            try await until { world.fetcher.count(url("d")) == before + 1 }
            for name in quick { world.fetcher.serve(url(name), "1=Ready") }
            try await world.advance(.seconds(60)) { await kinds(world).contains("online") }
            let released = world.clock.now().boot
            world.fetcher.release(url("d"))
            try await world.advance(.seconds(30)) { world.fetcher.count(url("d")) >= before + 2 }
            #expect(world.clock.now().boot.duration(since: released) < .seconds(1800))
        }
    }

    @Test("the failures of one server in one minute follow the first together; one that ended is left out")
    func failureGrouping() async throws {
        let server = Server(name: "lab")
        let sources = names.map { source($0, host: "lab", server: server) } + [source("other")]
        let rules = RuleSet([
            Rule(
                name: "health", when: .sourceState([.failing, .recovered]), notify: [Rule.NotificationTarget(sink: "k")]
            )
        ])
        let world = World(sources, rules: rules)
        try await world.watcher.restore()
        world.fetcher.serve(url("other"), "1=Ready")
        for name in names { world.fetcher.serve(url(name, host: "lab"), "", status: 500) }
        for _ in 0..<3 { _ = await world.watcher.runOnce(force: true) }
        #expect(await kinds(world) == Array(repeating: "failing", count: 5))
        let deliveries = await world.journal.deliveries.values
        let suppressed = deliveries.filter { $0.state == .suppressed }
        #expect(suppressed.count == 4 && deliveries.count == 5)
        let told = try #require(deliveries.first { $0.state != .suppressed }?.delivery)
        #expect(told.message.text.hasPrefix("server lab · "))
        #expect(suppressed.allSatisfy { $0.delivery.reason?.hasSuffix("the others follow together") == true })
        for name in names { world.fetcher.serve(url(name, host: "lab"), "1=Ready") }
        _ = await world.watcher.runOnce(force: true)
        #expect(await world.journal.deliveries.values.count { $0.state == .suppressed } == 8)
        try await until { world.sink.seen.count == 2 }
    }

    @Test(
        "case 36: the wall clock is set: nothing is polled early, late or twice, and nothing grows old",
        arguments: [864_000, -7200])
    func wallClock(seconds: Int64) async throws {
        let world = World([source("good"), source("bad")])
        world.fetcher.serve(url("good"), "1=Ready")
        world.fetcher.serve(url("bad"), "", status: 500)
        try await world.run {
            try await until { await world.journal.records.count == 2 }
            world.clock.setWall(by: .seconds(seconds))
            let start = world.clock.now().boot
            for _ in 0..<500 { await Task.yield() }
            #expect(world.fetcher.count(url("good")) == 1)
            try await world.advance(.seconds(120)) { world.fetcher.count(url("good")) >= 3 }
            #expect(world.clock.now().boot.duration(since: start) >= .seconds(108))
            // Its backoff is random, up to three minutes in all.
            try await world.advance(.seconds(180)) { world.fetcher.count(url("bad")) >= 2 }
        }
        #expect(await kinds(world).allSatisfy { $0 == "failing" })
        let due = try #require(await world.journal.records["good"]?.due)
        #expect(abs(due.seconds(since: world.clock.now().wall)) < 200)
    }

    @Test("case 37: after eight hours of suspend every source is polled once, spread over half a minute")
    func suspend() async throws {
        let many = (0..<60).map { "s\($0)" }
        // So seldom that none is due again while the test's clock runs ahead of a busy machine.
        let world = World(many.map { source($0, every: .seconds(3600)) })
        for name in many { world.fetcher.serve(url(name), "1=Ready") }
        try await world.run {
            try await until { await world.journal.records.count == many.count }
            try await until { await world.watcher.isIdle }
            try await until { world.clock.sleepers == 1 }
            world.clock.suspend(.seconds(8 * 3600))
            for _ in 0..<3000 { await Task.yield() }
            let atOnce = world.fetcher.requests.count - many.count
            #expect(atOnce < many.count / 4, "\(atOnce) of \(many.count) were polled at once")
            try await world.advance(.seconds(31)) { world.fetcher.requests.count >= 2 * many.count }
            #expect(many.allSatisfy { world.fetcher.count(url($0)) == 2 })
        }
        #expect(await world.journal.events.isEmpty)
    }

    @Test("a process that was stopped for minutes is not taken for a machine that was suspended")
    func stopped() async throws {
        let many = (0..<60).map { "s\($0)" }
        let world = World(many.map { source($0, every: .seconds(600)) })
        for name in many { world.fetcher.serve(url(name), "1=Ready") }
        try await world.run {
            try await until { await world.journal.records.count == many.count }
            try await until { await world.watcher.isIdle }
            try await until { world.clock.sleepers == 1 }
            // As after SIGSTOP: every poll is overdue, and none is delayed further.
            world.clock.advance(.seconds(700))
            try await until { world.fetcher.requests.count == 2 * many.count }
        }
    }

    @Test(
        "case 26: Retry-After of any kind is clamped, and holds over a restart",
        arguments: [
            ("120", 120.0), ("0", nil), ("-5", nil), ("1000000000000", 86_400), ("99999999999999999999", 86_400),
            ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 2094 08:49:37 GMT", 86_400),
        ] as [(String, Double?)])
    func retryAfter(header: String, seconds: Double?) async throws {
        let world = World([source("a")])
        world.fetcher.serve(url("a"), "busy", status: 503, [("Retry-After", header)])
        try await world.watcher.restore()
        _ = await world.watcher.runOnce(force: true)
        let now = world.clock.now()
        let until = await world.journal.records["a"]?.notBefore
        #expect(until?.seconds(since: now.wall) == seconds)
        let entry = WatchedSource(source("a"), number: 0)
        entry.take(try #require(await world.journal.records["a"]), at: now)
        // A restart after the wall clock went back by ten days: still no longer than was asked for, a day at most.
        let back = Moment(wall: now.wall.advanced(by: .seconds(-864_000)), boot: now.boot)
        let late = WatchedSource(source("a"), number: 0)
        late.take(entry.record, at: back)
        #expect(late.due(now: back).duration(since: now.boot) <= .seconds(86_400))
        if let seconds { #expect(entry.due(now: now).duration(since: now.boot) >= .seconds(Int64(seconds))) }
    }

    @Test("after the clock is set back a rule still has its source polled in time")
    func confirmationAfterClock() throws {
        let watched = WatchedSource(source("a", every: .seconds(3600)), number: 0)
        let clock = ManualClock()
        var record = watched.record
        record.health.lastPollAt = clock.now().wall
        record.due = clock.now().wall.advanced(by: .seconds(3600))
        watched.take(record, at: clock.now())
        let confirmation = clock.now().boot.advanced(by: .seconds(60))
        clock.setWall(by: .seconds(-7200))
        #expect(watched.due(now: clock.now(), confirmation: confirmation) == confirmation)
    }

    @Test("no secret of a server is in anything that is stored or logged")
    func secrets() async throws {
        let secret = Secret("hunter2-hunter2")
        var server = Server(
            name: "lab", credentials: .query(name: "key", value: secret), headers: [Header("X", secret)])
        server.proxy = .url("http://proxy:1", user: "u", password: secret)
        let world = World([source("a", server: server), source("bad", server: server)])
        world.fetcher.serve(url("a"), "1=@https://a.example/x")
        world.fetcher.serve(url("bad"), "", status: 401)
        try await world.watcher.restore()
        for _ in 0..<2 { _ = await world.watcher.runOnce(force: true) }
        var kept = world.log.all
        kept += await world.journal.events.map(\.json.text)
        for name in ["a", "bad"] {
            kept += await world.journal.items(of: name).values.map { String(decoding: $0.body, as: UTF8.self) }
            kept.append("\(String(describing: await world.journal.records[name]))")
        }
        #expect(!kept.isEmpty && !kept.contains { $0.contains("hunter2") })
    }
}
