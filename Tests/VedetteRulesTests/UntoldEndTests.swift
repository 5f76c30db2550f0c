// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Ends, and what one sink was told")
struct UntoldEndTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    private func rule(to sinks: String..., gates: (inout Gates) -> Void = { _ in }) -> Rule {
        var rule = Rule.when(.becomes("down", "lost")) {
            $0.resolved = true
            gates(&$0)
        }
        rule.notify = (sinks.isEmpty ? ["out"] : sinks).map { .init(sink: $0) }
        return rule
    }

    /// `a` was told to be down, and is up, down and up again before anything may be sent.
    private func flap(_ harness: inout RuleHarness, restarts: Bool) {
        for (state, was) in [("up", "down"), ("down", "up"), ("up", "down")] {
            harness.item("a", state, was: was)
            harness.pass(.seconds(60))
            if restarts { harness.restart() }
        }
    }

    @Test(
        "the end of a match that was told is told after a quiet time, also when the match came and went again in it",
        arguments: [true, false])
    func quiet(restarts: Bool) {
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T21:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(7200))
        flap(&harness, restarts: restarts)
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+2)"])
        #expect(harness.last?.kind == .resolved)
        #expect(harness.last?.summary?.stood == 7320, "to the sink, the match went on")
        #expect(harness.rows.isEmpty)
    }

    @Test("the end of a match that was told is told after a silence, and after what depends waited for")
    func silenceAndDepends() {
        var harness = RuleHarness(rule { $0.depends = ["gateway"] })
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        flap(&harness, restarts: false)
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+2)"])
        harness.item("a", "down", was: "up")
        harness.source(.failing, "gateway")
        flap(&harness, restarts: false)
        #expect(harness.sent.count == 3)
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent.dropFirst(2) == ["out: a: up → down", "out: a: down → up (+2)"])
        #expect(harness.rows.isEmpty)
    }

    @Test(
        "a match that is true again at the end of a quiet time is not told a second time, and its end is told after it")
    func trueAgain() {
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T21:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(7200))
        flap(&harness, restarts: false)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.item("a", "up", was: "down")
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a sink that a silence kept from a match is not told its end, the others are")
    func oneSink() {
        var harness = RuleHarness(rule(to: "out", "team"))
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.restart()
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        #expect(harness.suppressed.last == "a: down → up: this sink was not told what has ended")
        harness.silence()
        #expect(harness.sent.count == 2)
        harness.item("b", "down", was: "up")
        harness.silence(Silence(id: 2, sink: "team", created: RuleHarness.noon))
        harness.item("b", "lost", was: "down")
        harness.item("b", "up", was: "lost")
        harness.silence()
        #expect(harness.sent.last == "team: b: lost → up (+1)", "it was told that b is down")
    }

    @Test("a sink that is told a match late is told its end")
    func late() {
        var harness = RuleHarness(rule(to: "out", "team"))
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.silence()
        #expect(harness.sent.count == 3)
        harness.item("a", "up", was: "down")
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "team: a: down → up"])
    }

    @Test("the end that a silence of all sinks withholds still goes only to the sinks that were told the match")
    func withheldEnd() {
        var harness = RuleHarness(rule(to: "out", "team"))
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 2, rule: "r", created: RuleHarness.noon))
        flap(&harness, restarts: true)
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+2)"])
    }

    @Test("an item that is silenced at one sink is not named there in a message about several")
    func itemAtOneSink() {
        var harness = RuleHarness(
            rule(to: "out", "team") { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        harness.item("x", "down", was: "up")
        harness.silence(Silence(id: 1, item: "a", sink: "team", created: RuleHarness.noon))
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(601))
        #expect(
            harness.sent.dropFirst(2) == [
                "team: b: up → down, c: up → down", "out: a: up → down, b: up → down, and 1 more",
            ])
        harness.silence()
        #expect(harness.sent.last == "team: a: up → down")
        for key in ["a", "b"] { harness.item(key, "up", was: "down") }
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "team: a: down → up"])
        harness.pass(.seconds(601))
        #expect(harness.sent.suffix(2) == ["out: b: down → up", "team: b: down → up"])
    }

    @Test("a limit by field tells no older value of an item after a newer one")
    func olderAfterNewer() {
        var harness = RuleHarness(
            Rule.when(.becomes("x", "y")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .field("state")) })
        harness.item("a", "x", was: "o")
        harness.item("b", "x", was: "o")
        harness.pass(.seconds(60))
        harness.item("b", "y", was: "x")
        #expect(harness.sent == ["out: a: o → x", "out: b: x → y (+1)"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2)
    }
}
