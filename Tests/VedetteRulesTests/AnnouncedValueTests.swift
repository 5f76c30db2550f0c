// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("by compares with the value that was told last")
struct AnnouncedValueTests {
    private func rule(_ change: (inout Delta) -> Void = { _ in }) throws -> Rule {
        var delta = try #require(Delta("5%"))
        change(&delta)
        return Rule.when(.by("price", delta))
    }

    private func rule(to sinks: [String], gates: (inout Gates) -> Void = { _ in }) throws -> Rule {
        var rule = try rule()
        rule.notify = sinks.map { Rule.NotificationTarget(sink: $0) }
        gates(&rule.gates)
        return rule
    }

    private let silence = Silence(id: 1, sink: "two", created: RuleHarness.noon)

    private func drift(_ harness: inout RuleHarness, _ values: Int...) {
        for (old, new) in zip(values, values.dropFirst()) {
            harness.field("a", "price", "\(new)", was: "\(old)", state: "s")
        }
    }

    @Test("a slow drift is told once it is large enough, and then measured from there")
    func slow() throws {
        var harness = RuleHarness(try rule())
        drift(&harness, 100, 104, 108)
        #expect(harness.sent == ["out: a: price 100 → 108"])
        #expect(harness.last?.changes.first?.from == "104", "the event has the values of the poll")
        harness.restart()
        drift(&harness, 108, 112)
        #expect(harness.sent.count == 1)
        drift(&harness, 112, 114)
        #expect(harness.sent.last == "out: a: price 108 → 114")
    }

    @Test("a change that was withheld does not count as told")
    func silenced() throws {
        var harness = RuleHarness(try rule())
        harness.silence(
            Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        drift(&harness, 100, 110)
        harness.silence()
        drift(&harness, 110, 111)
        #expect(harness.sent == ["out: a: price 100 → 111"])
    }

    @Test("compare: previous measures each poll from the one before")
    func previous() throws {
        var harness = RuleHarness(try rule { $0.comparesWithAnnounced = false })
        drift(&harness, 100, 104, 108, 112)
        #expect(harness.sent.isEmpty && harness.rows.isEmpty)
    }

    @Test("an item that is gone leaves no value")
    func gone() throws {
        var harness = RuleHarness(try rule())
        drift(&harness, 100, 110)
        #expect(harness.rows.count == 1)
        harness.gone("a")
        #expect(harness.rows.isEmpty)
    }

    @Test("each sink is told the change since the value that it was told last", arguments: [false, true])
    func sinks(restarts: Bool) throws {
        var harness = RuleHarness(try rule(to: ["one", "two"]))
        harness.silence(silence)
        drift(&harness, 100, 106)
        if restarts { harness.restart() }
        drift(&harness, 106, 109)
        harness.silence()
        #expect(harness.sent == ["one: a: price 100 → 106", "two: a: price 100 → 109 (+1)"])
        if restarts { harness.restart() }
        drift(&harness, 109, 113)
        #expect(harness.sent.last == "one: a: price 106 → 113" && harness.sent.count == 3)
        drift(&harness, 113, 119)
        #expect(harness.sent.dropFirst(3) == ["one: a: price 113 → 119", "two: a: price 109 → 119"])
        harness.gone("a")
        #expect(harness.rows.isEmpty)
    }

    @Test("a change that comes back to what one sink was told is over for that sink alone")
    func oneSink() throws {
        var harness = RuleHarness(try rule(to: ["one", "two"]))
        harness.silence(silence)
        drift(&harness, 100, 106, 100)
        harness.silence()
        #expect(harness.sent == ["one: a: price 100 → 106", "one: a: price 106 → 100"])
        #expect(harness.suppressedSinks.contains("two"))
    }

    @Test("the value that a rule announced to its only sink counts for a sink that is added")
    func addedSink() throws {
        var harness = RuleHarness(try rule(to: ["one"]))
        drift(&harness, 100, 106)
        harness.reload(try rule(to: ["one", "two"]))
        drift(&harness, 106, 108, 112)
        #expect(harness.sent.dropFirst() == ["one: a: price 106 → 112", "two: a: price 106 → 112"])
        harness.silence(silence)
        drift(&harness, 112, 120)
        #expect(harness.rows.keys.count { $0.slot == .reference } == 2)
        harness.reload(try rule(to: ["one"]))
        #expect(harness.rows.keys.count { $0.slot == .reference } == 2, "the sink that stays keeps its value")
        drift(&harness, 120, 121)
        #expect(harness.rows.keys.count { $0.slot == .reference } == 2)
        drift(&harness, 121, 130)
        #expect(harness.rows.keys.count { $0.slot == .reference } == 1)
    }

    @Test("what a digest lists is told, with the change since the value that was told last")
    func digest() throws {
        var harness = RuleHarness(try rule(to: ["out"]) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        drift(&harness, 100, 104, 108)
        harness.field("b", "price", "20", was: "10", state: "s")
        harness.pass(.seconds(60))
        #expect(harness.last?.summary?.lines == ["a: price 100 → 108", "b: price 10 → 20"])
        drift(&harness, 108, 109)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
        drift(&harness, 109, 115)
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: a: price 108 → 115", "a digest of one event is this event")
    }

    @Test("a value of a digest that is dropped does not count as told", arguments: [false, true])
    func droppedDigest(isForAll: Bool) throws {
        var harness = RuleHarness(
            try rule(to: ["one", "two"]) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        drift(&harness, 100, 106)
        harness.silence(
            Silence(id: 1, sink: isForAll ? nil : "two", drops: true, created: RuleHarness.noon))
        harness.restart()
        harness.pass(.seconds(60))
        harness.silence()
        #expect(harness.sent == (isForAll ? [] : ["one: a: price 100 → 106"]))
        #expect(harness.rows.count == (isForAll ? 1 : 2))
        drift(&harness, 106, 109)
        harness.pass(.seconds(60))
        let told = ["one", "two"].map { "\($0): a: price 100 → 109" }
        #expect(harness.sent.suffix(2) == (isForAll ? told[...] : ["one: a: price 100 → 106", told[1]]))
    }

    @Test("a message about several items shows for each the change since the value that was told last")
    func several() throws {
        var harness = RuleHarness(try rule(to: ["out"]))
        drift(&harness, 100, 104)
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        drift(&harness, 104, 108)
        harness.field("b", "price", "20", was: "10", state: "s")
        harness.silence()
        let lines = harness.messages.flatMap { $0.event.summary?.lines ?? [$0.title] }
        #expect(lines == ["a: price 100 → 108", "b: price 10 → 20"])
    }

    @Test("a change that is taken back while 'for' or a silence holds it is over")
    func takenBack() throws {
        var harness = RuleHarness(try rule(to: ["out"]) { $0.pendingFor = .seconds(60) })
        drift(&harness, 100, 110, 101)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.isEmpty && harness.suppressed.count == 1)
        drift(&harness, 101, 110, 111)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: a: price 100 → 111"])
        harness = RuleHarness(try rule(to: ["out"]))
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        drift(&harness, 100, 110, 101)
        harness.silence()
        #expect(harness.sent.isEmpty)
    }
}
