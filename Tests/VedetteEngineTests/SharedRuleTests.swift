// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Rules of several watchers on one journal")
struct SharedRuleTests {
    /// Two watchers with four sources each; the rule's deadlines are the first one's.
    private struct Pair {
        let journal = SharedMemory()
        let clock = ManualClock()
        let fetcher = FakeFetcher()
        let log = LogLines()
        let watchers: [Watcher]
        static let names = [["a0", "a1", "a2", "a3"], ["b0", "b1", "b2", "b3"]]

        /// - Parameters:
        ///   - server: the server of all sources; nil for one of each.
        ///   - bodies: what sources serve at first, other than `x=1`.
        init(
            server: Server? = nil, bodies: [String: String] = [:], _ change: (inout Rule) -> Void
        ) async throws {
            var rule = Rule(
                name: "r", when: .changes(["state"]), notify: [Rule.NotificationTarget(sink: "k")])
            change(&rule)
            let sources = Pair.names.joined().map { source($0, LineKind(), fails: 1, server: server) }
            let watch = WatchConfiguration(sources: sources, rules: RuleSet([rule]))
            var watchers: [Watcher] = []
            let executor = QueueExecutor()
            fetcher.callBack(on: executor)
            for name in ["first", "second"] {
                let dependencies = Dependencies(
                    fetcher: fetcher, journal: journal.join(name), clock: clock,
                    random: SeededRandom(StableHash.of([name])), log: log,
                    userAgent: "", civil: Greenwich())
                let dispatcher = Dispatcher(dependencies, on: executor, sinks: ["k": FakeSink()])
                watchers.append(Watcher(watch, dependencies, on: executor, dispatcher: dispatcher))
            }
            self.watchers = watchers
            for name in Pair.names.joined() { fetcher.serve(url(name), bodies[name] ?? "x=1") }
            for (i, watcher) in watchers.enumerated() {
                let part = SharedPart(journal: journal, writer: Int64(i + 1))
                _ = part.take(Set(Pair.names[i].map(Lease.source)))
                try await watcher.restore()
                try await watcher.hold(sources: Set(Pair.names[i]), rules: i == 0 ? ["r"] : [])
                await poll(i)
            }
        }

        /// Gives a watcher another rule.
        func reload(_ watcher: Int, _ change: (inout Rule) -> Void) async throws {
            var rule = Rule(name: "r", when: .changes(["state"]), notify: [Rule.NotificationTarget(sink: "k")])
            change(&rule)
            let sources = Pair.names.joined().map { source($0, LineKind(), fails: 1) }
            try await watchers[watcher].reload(WatchConfiguration(sources: sources, rules: RuleSet([rule])))
        }

        func poll(_ watcher: Int) async { _ = await watchers[watcher].runOnce(force: true) }

        /// Changes every item, and polls with both watchers at once.
        func race() async {
            await race(serving: Dictionary(uniqueKeysWithValues: Pair.names.joined().map { ($0, "x=2") }))
        }

        /// Changes some sources, and polls with both watchers at once.
        func race(serving bodies: [String: String]) async {
            for (name, body) in bodies { fetcher.serve(url(name), body) }
            async let first: Void = poll(0)
            async let second: Void = poll(1)
            _ = await (first, second)
        }

        /// Gives a source to a watcher, which has its own sources with it.
        func move(_ name: String, to watcher: Int) async throws {
            for (i, other) in watchers.enumerated() where i != watcher {
                let rest = Set(Pair.names[i]).subtracting([name])
                try await other.hold(sources: rest, rules: i == 0 ? ["r"] : [])
                SharedPart(journal: journal, writer: Int64(i + 1)).release([.source(name)])
            }
            _ = SharedPart(journal: journal, writer: Int64(watcher + 1)).take([.source(name)])
            try await watchers[watcher].hold(
                sources: Set(Pair.names[watcher]).union([name]), rules: watcher == 0 ? ["r"] : [])
        }

        var deliveries: [Delivery] {
            journal.memory.deliveries(DeliveryFilter(), after: 0, limit: .max).map(\.delivery)
        }
        var sent: [Delivery] { deliveries.filter(\.state.isPending) }
        var suppressed: [String] { deliveries.filter { $0.state == .suppressed }.compactMap(\.reason) }
    }

    @Test("a limit of the whole rule lets no more messages through than with one watcher, and tells the rest once")
    func limit() async throws {
        let pair = try await Pair { $0.gates.limit = Limit(count: 3, per: .seconds(3600), by: .rule) }
        await pair.race()
        #expect(pair.sent.count == 3 && pair.suppressed.count == 5)
        pair.clock.advance(.seconds(3601))
        await pair.poll(1)
        #expect(pair.sent.count == 3, "its deadlines are the other watcher's")
        await pair.poll(0)
        #expect(pair.sent.count == 4)
        #expect(pair.sent.last?.message.event.summary?.count == 5)
    }

    @Test("a value of once_per is told once")
    func oncePer() async throws {
        let pair = try await Pair { $0.gates.oncePer = "state" }
        await pair.race()
        #expect(pair.sent.count == 1 && pair.suppressed.count == 7)
    }

    @Test("a digest holds what all watchers gathered, and is sent once")
    func digest() async throws {
        let pair = try await Pair { $0.gates.digest = DigestPlan(release: .every(.seconds(600))) }
        await pair.race()
        #expect(pair.sent.isEmpty && pair.suppressed.count == 8)
        pair.clock.advance(.seconds(601))
        await pair.poll(1)
        await pair.poll(0)
        #expect(pair.sent.count == 1 && pair.sent.first?.message.event.summary?.count == 8)
    }

    @Test("at_least counts the matches of all watchers")
    func atLeast() async throws {
        let pair = try await Pair { $0.gates.atLeast = Limit(count: 8, per: .seconds(3600), by: .rule) }
        await pair.race()
        #expect(pair.sent.count == 1 && pair.suppressed.count == 7)
    }

    @Test("a match is acknowledged at the watcher that polls its source, and the rule's holder sends no reminder")
    func acknowledged() async throws {
        let pair = try await Pair { rule in
            rule.when = .field("state", from: nil, to: .oneOf(["2"]))
            rule.gates.remind = Reminder(every: .seconds(3600))
        }
        pair.fetcher.serve(url("b0"), "x=2")
        await pair.poll(1)
        let match = try #require(pair.sent.first).message.event
        try await pair.watchers[1].acknowledge(
            rule: "r", Subject(match),
            Acknowledgement(match: match.id.description, user: "anna", host: "desk", time: pair.clock.now().wall))
        pair.clock.advance(.seconds(3601))
        await pair.poll(0)
        #expect(pair.sent.count == 1)
        try await pair.watchers[1].acknowledge(rule: "r", Subject(match), nil)
        try await pair.watchers[0].hold(sources: Set(Pair.names[0]), rules: ["r"])
        await pair.poll(0)
        #expect(pair.sent.count == 2)
    }

    @Test("a match that another watcher saw ends the time of nothing")
    func nothing() async throws {
        let pair = try await Pair { $0.gates.nothing = .seconds(3600) }
        pair.clock.advance(.seconds(2400))
        pair.fetcher.serve(url("b0"), "x=2")
        await pair.poll(1)
        pair.clock.advance(.seconds(1300))
        await pair.poll(0)
        #expect(pair.sent.isEmpty, "the first watcher has not looked at the changes of the second")
        pair.clock.advance(.seconds(2400))
        await pair.poll(1)
        #expect(pair.sent.isEmpty)
        await pair.poll(0)
        #expect(pair.sent.count == 1)
    }

    @Test("unless sees the items of a source that another watcher polls")
    func unless() async throws {
        let pair = try await Pair { rule in
            rule.when = .all([.source(["a0", "a1"], text: "a*"), .changes(["state"])])
            rule.gates.conditions = [
                SourceCondition(source: "b0", matcher: .oneOf(["2"]), isExcluded: true)
            ]
        }
        pair.fetcher.serve(url("a0"), "x=2")
        await pair.poll(0)
        #expect(pair.sent.count == 1)
        pair.fetcher.serve(url("b0"), "x=2")
        await pair.poll(1)
        pair.fetcher.serve(url("a1"), "x=2")
        await pair.poll(0)
        #expect(pair.sent.count == 1 && pair.suppressed.count == 1)
        #expect(pair.suppressed.first?.contains("unless: an item of 'b0'") == true)
        #expect(pair.journal.conflicts > 0)
    }

    @Test("if sees the items of a source that another watcher polls, and that it has none")
    func ifCondition() async throws {
        // A body without a byte would be a failed poll.
        let pair = try await Pair(bodies: ["b0": "\n"]) { rule in
            rule.when = .all([.source(["a0"], text: "a0"), .changes(["state"])])
            rule.gates.conditions = [SourceCondition(source: "b0", matcher: .oneOf(["2"]))]
        }
        pair.fetcher.serve(url("a0"), "x=2")
        await pair.poll(0)
        #expect(pair.sent.isEmpty && pair.suppressed.count == 1)
        pair.fetcher.serve(url("b0"), "y=2")
        await pair.poll(1)
        pair.fetcher.serve(url("a0"), "x=3")
        await pair.poll(0)
        #expect(pair.sent.count == 1 && pair.suppressed.count == 1)
        #expect(pair.journal.conflicts > 0)
    }

    @Test("sources of one server that fail at once make two messages, whichever watchers poll them")
    func failureGrouping() async throws {
        let pair = try await Pair(server: Server(name: "lab")) { $0.when = .sourceState([.failing]) }
        for name in Pair.names.joined() { pair.fetcher.serve(url(name), "", status: 500) }
        await pair.race(serving: [:])
        #expect(pair.sent.count == 1 && pair.suppressed.count == 7)
        #expect(pair.suppressed.allSatisfy { $0.contains("of lab was reported less than a minute before") })
        pair.clock.advance(.seconds(61))
        await pair.poll(1)
        #expect(pair.sent.count == 1, "its deadlines are the other watcher's")
        await pair.poll(0)
        #expect(pair.sent.count == 2)
        #expect(pair.sent.last?.message.event.summary?.count == 7)
    }

    @Test("how_many is told once by the watchers that poll its source one after another, until the count is back")
    func howMany() async throws {
        let pair = try await Pair { rule in
            let condition = SourceCondition(source: "a0", matcher: .oneOf(["2"]))
            rule.when = .howMany(ItemCount(condition, bound: .above(1)))
        }
        pair.fetcher.serve(url("a0"), "x=2\ny=2")
        await pair.race(serving: [:])
        #expect(pair.sent.count == 1)
        try await pair.move("a0", to: 1)
        await pair.race(serving: [:])
        #expect(pair.sent.count == 1, "the second watcher knows that it was told")
        await pair.race(serving: ["a0": "x=2\ny=1"])
        await pair.race(serving: ["a0": "x=2\ny=2"])
        #expect(pair.sent.count == 2)
        try await pair.move("a0", to: 0)
        await pair.race(serving: ["a0": "x=1\ny=2"])
        await pair.race(serving: ["a0": "x=2\ny=2"])
        #expect(pair.sent.count == 3)
    }

    @Test("depends withholds a message while a source of another watcher fails")
    func depends() async throws {
        let pair = try await Pair { rule in
            rule.when = .all([.source(["a0"], text: "a0"), .changes(["state"])])
            rule.gates.depends = ["b0"]
        }
        pair.fetcher.fail(url("b0"), FetchError(.refused, "nothing listens"))
        await pair.poll(1)
        pair.fetcher.serve(url("a0"), "x=2")
        await pair.poll(0)
        #expect(pair.sent.isEmpty && pair.suppressed.first?.contains("it depends on 'b0'") == true)
        pair.fetcher.serve(url("b0"), "x=1")
        await pair.poll(1)
        await pair.watchers[0].rules.followOthers()
        await pair.poll(0)
        #expect(pair.sent.count == 1)
    }

    private static func withResolved(_ rule: inout Rule, unless: Bool = false) {
        rule.when = .field("state", from: nil, to: .oneOf(["2"]))
        rule.gates.resolved = true
        guard unless else { return }
        rule.identity = 2
        rule.gates.conditions = [SourceCondition(source: "a0", matcher: .oneOf(["9"]), isExcluded: true)]
    }

    @Test("a reload that another watcher was faster than knows what 'unless' asks for")
    func reloadAgain() async throws {
        let pair = try await Pair { Self.withResolved(&$0) }
        await pair.race()
        pair.fetcher.serve(url("a0"), "x=9")
        await pair.poll(0)
        let conflicts = pair.journal.conflicts
        pair.fetcher.serve(url("b0"), "x=3")
        await pair.poll(1)
        try await pair.reload(0) { Self.withResolved(&$0, unless: true) }
        #expect(pair.journal.conflicts > conflicts)
        let count = pair.sent.count
        for state in ["3", "2"] {
            pair.fetcher.serve(url("a1"), "x=\(state)")
            await pair.poll(0)
        }
        #expect(pair.sent.count == count + 1, "the end of what was told, and not the match that 'unless' withholds")
    }

    @Test("configurations that roll out one after another tell once that a source fails, whoever polls it then")
    func rollOut() async throws {
        let pair = try await Pair { _ in }
        for name in ["a0", "b0", "b1"] { pair.fetcher.serve(url(name), "", status: 500) }
        for i in 0...1 { await pair.poll(i) }
        let change: (inout Rule) -> Void = { rule in
            rule.identity = 2
            rule.when = .sourceState([.failing])
        }
        try await pair.reload(0, change)
        #expect(pair.sent.map(\.message.title) == ["a0 is failing"])
        try await pair.move("b0", to: 0)
        try await pair.reload(1, change)
        #expect(pair.sent.map(\.message.title).sorted() == ["a0 is failing", "b0 is failing", "b1 is failing"])
    }

    @Test("a watcher knows what another one changed once its rules have it, and not when it was read")
    func knownChanges() async throws {
        let pair = try await Pair { rule in
            rule.gates.conditions = [SourceCondition(source: "b0", matcher: .oneOf(["2"]), isExcluded: true)]
        }
        await pair.watchers[0].rules.followOthers()
        let known = pair.journal.known(by: 1)
        pair.fetcher.serve(url("b0"), "x=2")
        await pair.poll(1)
        pair.journal.refuseItems(true)
        await pair.watchers[0].rules.followOthers()
        #expect(pair.journal.known(by: 1) == known)
        pair.journal.refuseItems(false)
        await pair.watchers[0].rules.followOthers()
        #expect(pair.journal.known(by: 1) == pair.journal.version)
    }

    @Test("a reload whose reading of the rows of its new rules fails reads them later")
    func rowsAfterReload() async throws {
        let pair = try await Pair { _ in }
        let change: (inout Rule) -> Void = { rule in
            (rule.name, rule.identity) = ("q", 2)
            rule.gates.oncePer = "state"
        }
        try await pair.reload(1, change)
        pair.fetcher.serve(url("b0"), "x=2")
        await pair.poll(1)
        #expect(pair.sent.count == 1)
        await pair.watchers[0].rules.followOthers()
        pair.journal.refuseChanges(true)
        try await pair.reload(0, change)
        pair.journal.refuseChanges(false)
        await pair.watchers[0].rules.followOthers()
        pair.fetcher.serve(url("a0"), "x=2")
        await pair.poll(0)
        #expect(pair.sent.count == 1 && pair.suppressed.count == 1)
    }

    @Test("sources whose origin is limited are polled by one watcher, whichever of their servers states the limits")
    func limitedOrigins() {
        let limited = Server(name: "slow", originLimits: OriginLimits(concurrency: 1))
        let paced = Server(name: "paced", originLimits: OriginLimits(interval: .seconds(2)))
        let sources = [
            source("a", host: "one", server: limited), source("b", host: "one"),
            source("c", host: "two", server: paced),
            source("d", host: "three"), source("e", host: "three"), source("f", host: "four"),
        ]
        let origins = SharedNames.limitedOrigins(of: sources)
        #expect(Set(origins.keys) == ["a", "b", "c"] && origins["a"] == origins["b"] && origins["a"] != origins["c"])
        let names = SharedNames(
            sources: Set(sources.map(\.name)), sinks: [], rules: [], limitedOrigins: origins, configuration: "c")
        let parts = ["x", "y", "z"].map { names.leases(of: $0, among: ["x", "y", "z"]) }
        #expect(parts.map(\.count) == [2, 2, 2])
        #expect(parts.contains { $0.isSuperset(of: [.source("a"), .source("b")]) })
    }

    @Test("a source that moves keeps its snapshot, and its new watcher makes no event again")
    func moves() async throws {
        let pair = try await Pair { _ in }
        pair.fetcher.serve(url("a0"), "x=2")
        await pair.poll(0)
        try await pair.move("a0", to: 1)
        let polls = pair.fetcher.count(url("a0"))
        await pair.poll(0)
        #expect(pair.fetcher.count(url("a0")) == polls)
        await pair.poll(1)
        #expect(pair.fetcher.count(url("a0")) == polls + 1 && pair.sent.count == 1)
        pair.fetcher.serve(url("a0"), "x=3")
        await pair.poll(1)
        #expect(pair.sent.count == 2)
        let changes = pair.sent.last?.message.event.changes
        #expect(changes?.first?.from == "2" && changes?.first?.to == "3")
    }
}
