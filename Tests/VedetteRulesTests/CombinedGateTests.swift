// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Several gates of one rule")
struct CombinedGateTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
    private static let lateEvening = RuleHarness.time("2026-11-21T23:00:00Z")

    @Test("once_per does not use up the value of a message that limit withheld and that was over before its time")
    func onceAndLimit() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.oncePer = "key"
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
            })
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(601))
        #expect(harness.sent == ["out: a: up → down"])
        harness.item("b", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down", "out: b: up → down (+1)"])
        harness.item("b", "up", was: "down")
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(601))
        #expect(harness.sent.count == 2, "b was told")
    }

    @Test("once_per does not use up the value that a later message of the same item replaced in a limit")
    func onceAndLimitReplaced() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "lost")) {
                $0.oncePer = "state"
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
            })
        harness.item("x", "ok")
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(601))
        var other = RuleHarness(
            Rule.when(.becomes("down", "lost", "cut")) {
                $0.oncePer = "state"
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
            })
        other.item("x", "cut", was: "ok")
        other.item("a", "down", was: "up")
        other.item("a", "lost", was: "down")
        other.pass(.seconds(601))
        #expect(other.sent == ["out: x: ok → cut", "out: a: down → lost (+1)"])
        other.pass(.seconds(601))
        other.item("b", "down", was: "up")
        #expect(other.sent.last == "out: b: up → down")
    }

    @Test("what limit withheld waits for a good poll of its source, also over a restart", arguments: [true, false])
    func limitOfAFailingSource(restarts: Bool) {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        if restarts { harness.restart(unconfirmed: ["lab"]) } else { harness.poll(isGood: false) }
        harness.pass(.seconds(601))
        #expect(harness.sent == ["out: a: up → down"], "nobody knows whether b is still down")
        #expect(harness.needsPoll)
        harness.restart(unconfirmed: ["lab"])
        var over = harness
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "out: b: up → down"])
        harness.item("c", "down", was: "up")
        #expect(harness.sent.count == 2, "the message counts in the limit")
        over.poll(events: [over.event(.changed, key: "b", "up", was: "down")])
        over.pass(.seconds(601))
        #expect(over.sent == ["out: a: up → down"])
        over.item("c", "down", was: "up")
        #expect(over.sent.last == "out: c: up → down (+1)")
    }

    @Test("what depends withheld follows when a reload takes depends away")
    func dependsRemoved() {
        let rule = Rule.when(.becomes("down")) { $0.depends = ["gateway"] }
        var harness = RuleHarness(rule)
        harness.source(.failing, "gateway")
        harness.item("a", "down", was: "up")
        #expect(harness.sent.isEmpty)
        harness.reload(Rule.when(.becomes("down")))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
    }

    private func silent(_ gates: (inout Gates) -> Void) -> Rule {
        Rule.when(.all([.source(["lab"], text: "'lab'"), .appears])) {
            $0.nothing = .seconds(60)
            gates(&$0)
        }
    }

    @Test("nothing: a match takes back the message that limit withheld")
    func nothingAndLimit() {
        var harness = RuleHarness(silent { $0.limit = Limit(count: 1, per: .seconds(600)) })
        for name in ["a", "b"] {
            harness.item(name, nil)
            harness.pass(.seconds(60))
            harness.poll()
        }
        #expect(harness.sent == ["out: No match of 'r' for 1 min"])
        #expect(harness.suppressed.count == 1)
        for _ in 1...20 {
            harness.item("c", nil)
            harness.pass(.seconds(30))
        }
        #expect(harness.sent.count == 1, "something matched since")
    }

    @Test("nothing: the end of an absence that no message told is not told", arguments: [Quiet.Action.drop, .defer])
    func nothingAndQuiet(action: Quiet.Action) {
        var harness = RuleHarness(
            silent {
                $0.resolved = true
                $0.quiet = Quiet(windows: [Self.night], action: action)
            }, at: Self.lateEvening)
        harness.item("a", nil)
        harness.pass(.seconds(60))
        harness.poll()
        if action == .drop { harness.pass(.seconds(9 * 3600)) }
        harness.item("b", nil)
        for _ in 1...1000 {
            harness.pass(.seconds(30))
            harness.item("b", nil)
        }
        #expect(harness.sent == [])
    }

    @Test("nothing: a silence withholds an absence, and neither it nor its end is told when a match came first")
    func nothingAndSilence() {
        var harness = RuleHarness(silent { $0.resolved = true })
        harness.item("a", nil)
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.pass(.seconds(60))
        harness.poll()
        harness.item("a", nil)
        harness.silence()
        #expect(harness.sent == [])
        #expect(harness.suppressed.count == 1)
    }

    @Test("nothing: the end of an absence that a quiet time or a silence delayed is told")
    func delayedAbsence() {
        var harness = RuleHarness(
            silent {
                $0.resolved = true
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.lateEvening)
        harness.item("a", nil)
        harness.pass(.seconds(60))
        harness.poll()
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: No match of 'r' for 1 min"])
        harness.restart()
        harness.item("b", nil)
        #expect(harness.sent.dropFirst() == ["out: b"])
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.pass(.seconds(60))
        harness.poll()
        harness.silence()
        #expect(harness.sent.count == 3)
        harness.item("c", nil)
        #expect(harness.sent.last == "out: c")
    }

    @Test("once_per holds for what a quiet time gathers in a digest, too")
    func onceAndQuietDigest() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.oncePer = "key"
                $0.quiet = Quiet(windows: [Self.night], action: .digest)
            }, at: Self.lateEvening)
        for _ in 1...2 {
            harness.item("a", "down", was: "up")
            harness.item("a", "up", was: "down")
        }
        #expect(harness.suppressed.last == "a: up → down: already sent for key 'a'")
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.item("a", "down", was: "up")
        #expect(harness.sent.count == 1)
    }

    @Test(
        "a digest that a silence drops uses up no value of once_per, unless another sink is told it",
        arguments: [nil, "team"])
    func onceAndDroppedDigest(sink: String?) {
        var harness = RuleHarness(
            Rule.when(.becomes("down"), to: "out", "team") {
                $0.oncePer = "build"
                $0.digest = DigestPlan(release: .every(.seconds(60)))
            })
        harness.item("a", "down", was: "up", fields: ["build": "1"])
        harness.silence(Silence(id: 1, item: "a", sink: sink, drops: true, created: RuleHarness.noon))
        harness.restart()
        harness.pass(.seconds(60))
        #expect(harness.sent == (sink == nil ? [] : ["out: a: up → down"]))
        harness.item("b", "down", was: "up", fields: ["build": "1"])
        harness.pass(.seconds(60))
        let later = ["out: b: up → down", "team: b: up → down"]
        #expect(harness.sent == (sink == nil ? later : ["out: a: up → down"]))
    }

    @Test("a digest that waits for a sink which the rule no longer names uses up no value of once_per")
    func onceAndRemovedSink() {
        let rule = { (sink: String) in
            Rule.when(.becomes("down"), to: sink) {
                $0.oncePer = "build"
                $0.digest = DigestPlan(release: .every(.seconds(60)))
            }
        }
        var harness = RuleHarness(rule("out"))
        harness.item("a", "down", was: "up", fields: ["build": "1"])
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.pass(.seconds(60))
        harness.reload(rule("team"))
        harness.silence()
        harness.item("b", "down", was: "up", fields: ["build": "1"])
        harness.pass(.seconds(60))
        #expect(harness.sent == ["team: b: up → down"])
    }

    @Test("a match told after a change that at_least does not count has the value that its title shows, not the item's")
    func toldAfterUncounted() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "limp")) {
                $0.atLeast = Limit(count: 2, per: .seconds(600), by: .item)
                $0.depends = ["gateway"]
                $0.resolved = true
                $0.recoveredFor = .seconds(300)
            })
        harness.source(.failing, "gateway")
        harness.item("a", "down", was: "up")
        harness.item("a", "limp", was: "down")
        harness.source(.recovered, "gateway")
        harness.item("a", "down", was: "limp")
        harness.poll()
        #expect(harness.messages.map(\.title) == ["a: down → limp"])
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        #expect(harness.messages.map(\.title) == ["a: down → limp", "a: up → down"])
    }

    @Test("older: an item whose time is to come waits as long after a restart as before")
    func olderInTheFuture() {
        var harness = RuleHarness(Rule.when(.older("ends", .seconds(3600))))
        let ends = RuleHarness.noon.advanced(by: .seconds(3 * 86_400))
        harness.item("a", "on", fields: ["ends": .text(ends.rfc3339)])
        harness.restart()
        harness.pass(.seconds(2 * 86_400))
        harness.poll()
        #expect(harness.sent == [])
        harness.pass(.seconds(86_400 + 3600))
        harness.poll()
        #expect(harness.sent.count == 1)
    }
}
