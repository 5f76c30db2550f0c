// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("for")
struct HoldTests {
    private let rule = Rule.when(.becomes("failed")) { $0.pendingFor = .seconds(300) }

    @Test("a match is sent at the first good poll at or after its time")
    func confirmed() {
        var harness = RuleHarness(rule)
        harness.item("a", "failed", was: "ok")
        harness.poll()
        harness.pass(.seconds(299))
        harness.poll()
        #expect(harness.sent.isEmpty)
        #expect(harness.engine.nextConfirmation(of: "lab") == RuleHarness.noon.advanced(by: .seconds(300)))
        harness.pass(.seconds(1))
        #expect(harness.sent.isEmpty, "time alone confirms nothing; the source may not answer")
        harness.poll()
        #expect(harness.sent == ["out: a: ok → failed"])
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("the end of a silence at that time or later confirms nothing either")
    func silenced() {
        var harness = RuleHarness(rule)
        harness.silence(
            Silence(id: 1, until: RuleHarness.noon.advanced(by: .seconds(600)), created: RuleHarness.noon))
        harness.item("a", "failed", was: "ok")
        harness.pass(.seconds(300))
        harness.poll()
        harness.item("a", "ok", was: "failed")
        harness.item("a", "failed", was: "ok")
        harness.pass(.seconds(300))
        #expect(harness.sent.isEmpty)
        harness.poll()
        #expect(harness.sent == ["out: a: ok → failed"])
    }

    @Test("a match that ends before its time is suppressed with the reason")
    func cancelled() {
        var harness = RuleHarness(rule)
        harness.item("a", "failed", was: "ok")
        harness.pass(.seconds(60))
        harness.item("a", "ok", was: "failed")
        harness.pass(.seconds(600))
        harness.poll()
        #expect(harness.sent.isEmpty)
        #expect(harness.suppressed == ["a: ok → failed: no longer so after 1 min"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a match that stays true keeps its time, and the message has the latest event")
    func goesOn() {
        let either = Rule.when(.becomes("failed", "lost")) { $0.pendingFor = .seconds(300) }
        var harness = RuleHarness(either)
        harness.item("a", "failed", was: "ok")
        harness.pass(.seconds(200))
        harness.item("a", "lost", was: "failed")
        harness.pass(.seconds(100))
        harness.poll()
        #expect(harness.sent == ["out: a: failed → lost"])
    }

    @Test("a rule about changes waits until they stop")
    func rest() {
        let edits = Rule.when(.changes(["state"])) { $0.pendingFor = .seconds(60) }
        var harness = RuleHarness(edits)
        for n in 1...5 {
            harness.item("a", "\(n)", was: "\(n - 1)")
            harness.pass(.seconds(30))
            harness.poll()
        }
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(30))
        harness.poll()
        #expect(harness.sent == ["out: a: 4 → 5"])
    }

    @Test("an item that disappears ends its match, one of another source does not")
    func goes() {
        var harness = RuleHarness(rule)
        harness.item("a", "failed", was: "ok")
        harness.item("b", "failed", was: "ok")
        harness.item("a", "ok", was: "failed", source: "other")
        harness.gone("b", "failed")
        harness.pass(.seconds(300))
        harness.poll()
        #expect(harness.sent == ["out: a: ok → failed"])
    }

    @Test("a match about a source itself needs no poll to confirm it")
    func source() {
        var harness = RuleHarness(Rule.when(.sourceState([.failing])) { $0.pendingFor = .seconds(120) })
        harness.source(.failing)
        harness.pass(.seconds(120))
        #expect(harness.sent == ["out: lab is failing"])
        harness.source(.recovered)
        harness.source(.failing)
        harness.pass(.seconds(60))
        harness.source(.recovered)
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
    }

    @Test("stays: an item that already has the value counts from when it got it")
    func found() {
        var rule = Rule.when(.becomes("Starting")) { $0.pendingFor = .seconds(1800) }
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        harness.find("59", "Starting", since: .seconds(-1200))
        harness.find("60", "Started", since: .seconds(-1200))
        harness.pass(.seconds(599))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        harness.poll()
        #expect(harness.sent == ["out: 59: still Starting"])
        harness.restart()
        harness.find("59", "Starting", since: .seconds(-3000))
        harness.poll()
        #expect(harness.sent.count == 1, "a released item is not released again when it is found again")
        harness.item("59", "Started", was: "Starting")
        harness.item("59", "Starting", was: "Started")
        harness.pass(.seconds(1800))
        harness.poll()
        #expect(harness.sent.count == 2)
    }

    @Test("stays: an item that an earlier rule with 'stop' matches as it is begins no match")
    func stopped() {
        func sent(_ condition: Condition, isEarlier: Bool = true) -> Int {
            var stays = Rule.when(.stays("state", .oneOf(["down"])))
            stays.matchesExisting = true
            var stopping = Rule.when(condition, name: "stop")
            stopping.stop = true
            var harness = isEarlier ? RuleHarness(stopping, stays) : RuleHarness(stays, stopping)
            harness.find("a", "down", since: .seconds(-60))
            harness.poll()
            return harness.sent.count
        }
        #expect(sent(.item("name", .oneOf(["a"]))) == 0)
        #expect(sent(.item("name", .oneOf(["a"])), isEarlier: false) == 1)
        #expect(sent(.item("name", .oneOf(["b"]))) == 1)
        #expect(sent(.field("state", from: .oneOf(["up"]), to: .oneOf(["down"]))) == 0, "'from' is not asked")
        #expect(sent(.appears) == 1 && sent(.changes(["state"])) == 1, "nothing happened")
    }

    @Test("a jump of the wall clock does not move 'for'")
    func jump() {
        var harness = RuleHarness(rule)
        harness.item("a", "failed", was: "ok")
        harness.wallJumps(by: .seconds(10 * 86_400))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.wallJumps(by: .seconds(-20 * 86_400))
        harness.pass(.seconds(300))
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("a source is polled for the match that is due first")
    func confirmsFirst() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(30))
        harness.item("b", "down", was: "up")
        #expect(harness.engine.nextConfirmation(of: "lab") == RuleHarness.noon.advanced(by: .seconds(60)))
    }

    @Test("while a later match waits in 'for', nothing is told of the earlier one that it replaces")
    func replaced() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "limp")) {
                $0.pendingFor = .seconds(60)
                $0.depends = ["gateway"]
            })
        harness.item("a", "down", was: "up")
        harness.source(.failing, "gateway")
        harness.pass(.seconds(60))
        harness.poll()
        harness.item("a", "limp", was: "down")
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: a: down → limp (+1)"])
    }

    @Test(
        "an end that was held back is not told when the match waits in 'for' again, and follows when it does not last")
    func endWithheld() {
        for lasts in [true, false] {
            var harness = RuleHarness(
                Rule.when(.becomes("down")) {
                    ($0.pendingFor, $0.depends, $0.resolved) = (.seconds(60), ["gateway"], true)
                }
            )
            harness.item("a", "down", was: "up")
            harness.pass(.seconds(60))
            harness.poll()
            harness.source(.failing, "gateway")
            harness.item("a", "up", was: "down")
            harness.item("a", "down", was: "up")
            harness.source(.recovered, "gateway")
            harness.poll()
            #expect(harness.sent.count == 1)
            if !lasts { harness.item("a", "up", was: "down") }
            harness.pass(.seconds(60))
            harness.poll()
            #expect(harness.sent.last == (lasts ? "out: a: up → down" : "out: a: down → up"))
            #expect(harness.sent.count == (lasts ? 1 : 2))
        }
    }
}
