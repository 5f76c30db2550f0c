// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Reminders and escalations")
struct FollowUpTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    private func escalating(_ gates: @escaping (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(.becomes("down", "lost")) {
            $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            gates(&$0)
        }
    }

    @Test("escalate counts from the first message, not from the last one")
    func first() {
        var harness = RuleHarness(escalating())
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1200))
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → lost", "boss: a: down → lost"])
    }

    @Test("a match that came back while its end was withheld keeps its time, and so does its change to another value")
    func goesOn() {
        var harness = RuleHarness(escalating { $0.resolved = true })
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.pass(.seconds(1200))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.item("a", "lost", was: "down")
        harness.silence()
        harness.poll()
        #expect(harness.messages.map(\.sink) == ["out", "out"])
        harness.pass(.seconds(600))
        #expect(harness.messages.map(\.sink) == ["out", "out", "boss"])
        #expect(harness.sent.last == "boss: a: down → lost")
    }

    @Test("an escalation that is due in a quiet time is sent at its end")
    func quiet() {
        var harness = RuleHarness(
            escalating { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T21:50:00Z")
        )
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(3600))
        harness.restart()
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down"])
    }

    @Test("a reminder and an escalation wait for the end of a silence, with its reason, and are sent if still true")
    func silenced() {
        var harness = RuleHarness(escalating { $0.remind = Reminder(every: .seconds(3600)) })
        harness.item("a", "down", was: "up")
        harness.engine.setSilences([Silence(id: 1, item: "a", created: RuleHarness.noon)])
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.suppressed == ["a: up → down: silenced: item 'a'"])
        harness.restart()
        harness.pass(.seconds(3600))
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down", "out: a: still down"])
        harness.silence(Silence(id: 2, item: "a", created: RuleHarness.noon))
        harness.pass(.seconds(7200))
        harness.item("a", "up", was: "down")
        harness.silence()
        #expect(harness.sent.count == 3, "it is over")
    }

    @Test(
        "an escalation that a silence of its sink withholds of a second match is told, though the first one's was, too")
    func silencedTwice() {
        var harness = RuleHarness(escalating())
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        for _ in 1...2 {
            harness.item("a", "down", was: "up")
            harness.pass(.seconds(1800))
            harness.item("a", "up", was: "down")
        }
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.silence()
        #expect(harness.messages.map(\.sink) == ["out", "out", "out", "boss"])
    }

    @Test("no once_per and no limit keeps back an escalation that a silence of its sink withheld")
    func silencedOnce() {
        var harness = RuleHarness(
            escalating {
                $0.oncePer = "key"
                $0.limit = Limit(count: 1, per: .seconds(7200), by: .rule)
                $0.resolved = true
                $0.recoveredFor = .seconds(600)
            })
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.map(\.sink) == ["out", "boss"])
    }

    @Test("a withheld escalation of a match that goes on is told, though 'for' held that one when the silence ended")
    func silencedAndHeld() {
        var harness = RuleHarness(
            escalating {
                $0.pendingFor = .seconds(60)
                $0.resolved = true
                $0.recoveredFor = .seconds(600)
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.poll()
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.silence()
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.messages.map(\.sink) == ["out", "boss"])
    }

    @Test(
        "a withheld escalation of a match that goes on is told, whichever silences began or ended while its end was withheld",
        arguments: [true, false])
    func silencedAndRecovering(isOver: Bool) {
        var harness = RuleHarness(
            escalating {
                $0.resolved = true
                $0.recoveredFor = .seconds(600)
                $0.limit = Limit(count: 9, per: .seconds(60), by: .rule)
            })
        let boss = Silence(id: 1, sink: "boss", created: RuleHarness.noon)
        harness.silence(boss)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        harness.silence(isOver ? [] : [boss, Silence(id: 2, item: "b", sink: "out", created: RuleHarness.noon)])
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.map(\.sink) == ["out", "boss"])
    }

    @Test("nothing is left of an escalation whose silence is over when the end of its match is told")
    func silencedAndOver() {
        var harness = RuleHarness(
            escalating {
                $0.resolved = true
                $0.recoveredFor = .seconds(600)
            })
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        harness.silence()
        harness.pass(.seconds(600))
        harness.poll()
        #expect(harness.messages.map(\.sink) == ["out", "out"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a withheld escalation of a match that a sink is told anew is told once, when it is due anew")
    func silencedAndAnew() {
        var harness = RuleHarness(
            Rule.when(.becomes("down"), to: "out", "team") {
                $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
                $0.resolved = true
            })
        let boss = Silence(id: 1, sink: "boss", created: RuleHarness.noon)
        harness.item("a", "down", was: "up")
        harness.silence(boss)
        harness.pass(.seconds(1800))
        harness.silence(boss, Silence(id: 2, sink: "team", created: RuleHarness.noon))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.map(\.sink) == ["out", "team", "out", "out"])
        harness.pass(.seconds(1800))
        #expect(harness.messages.map(\.sink) == ["out", "team", "out", "out", "boss"])
    }

    @Test("an escalation waits while a later match must stay true, and tells that one")
    func held() {
        var harness = RuleHarness(escalating { $0.pendingFor = .seconds(600) })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        harness.poll()
        harness.pass(.seconds(1700))
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(599))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(1))
        harness.poll()
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down", "out: a: down → lost", "boss: a: down → lost"])
    }

    @Test("an escalation waits while a source of 'depends' is failing")
    func depends() {
        var harness = RuleHarness(escalating { $0.depends = ["gateway"] })
        harness.item("a", "down", was: "up")
        harness.source(.failing, "gateway")
        harness.pass(.seconds(1800))
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.suppressed == ["a: up → down: it depends on 'gateway', which is failing"])
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down"])
    }

    @Test("a reminder shows the item as it is now")
    func latest() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "lost")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.limit = Limit(count: 1, per: .seconds(86_400))
            })
        harness.item("a", "down", was: "up")
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(3600))
        #expect(harness.sent.last == "out: a: still lost")
    }

    @Test("a match of 'any' ends when the part that matched is no longer true")
    func anyIsOver() {
        let either = Condition.any([.becomes("down"), .sourceState([.failing]), .appears])
        var harness = RuleHarness(Rule.when(either) { $0.pendingFor = .seconds(60) })
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.item("b", "new")
        harness.item("b", "old", was: "new")
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: b: old"])
    }

    @Test("a match of 'from' stays true in any other state, until the old one is back")
    func left() {
        var harness = RuleHarness(
            Rule.when(.field("state", from: .oneOf(["Starting"]), to: nil)) { $0.pendingFor = .seconds(60) })
        harness.item("a", "Started", was: "Starting")
        harness.item("a", "Ready", was: "Started")
        harness.item("b", "Started", was: "Starting")
        harness.item("b", "Starting", was: "Started")
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: a: Starting → Started"])
    }

    @Test("a restart does not release a suppressed match of a stays rule again")
    func soughtOnce() {
        var rule = Rule.when(.becomes("Starting")) { $0.pendingFor = .seconds(600) }
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        harness.engine.setSilences([
            Silence(id: 1, rule: "r", until: RuleHarness.noon.advanced(by: .seconds(900)), created: RuleHarness.noon)
        ])
        harness.find("59", "Starting", since: .seconds(-60))
        harness.pass(.seconds(600))
        harness.poll()
        harness.pass(.seconds(600))
        harness.restart()
        harness.find("59", "Starting", since: .seconds(-1200))
        harness.poll()
        #expect(harness.sent == ["out: 59: still Starting"], "told once, at the end of the silence")
        #expect(harness.suppressed.count == 1)
    }

    @Test(
        "each step of an escalation is told once, though there was another word; a reminder counts from the last word")
    func steps() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "lost")) {
                $0.escalate = [
                    Escalation(after: .seconds(1800), notify: [.init(sink: "boss")]),
                    Escalation(after: .seconds(9000), notify: [.init(sink: "world")]),
                ]
                $0.remind = Reminder(every: .seconds(3600))
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(2000))
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(3599))
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down", "out: a: down → lost"])
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "out: a: still lost")
        harness.pass(.seconds(3400))
        #expect(harness.sent.last == "world: a: down → lost" && harness.sent.count == 5)
    }

    @Test("each match of 'changes' starts its escalations again")
    func changes() {
        var harness = RuleHarness(
            Rule.when(.changes(["state"])) {
                $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            })
        harness.item("a", "1", was: "0")
        harness.pass(.seconds(1200))
        harness.item("a", "2", was: "1")
        harness.pass(.seconds(1799))
        #expect(harness.sent.count == 2)
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "boss: a: 1 → 2")
    }

    @Test("a value of 'until' ends the reminders of a match that is still true")
    func until() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.remind = Reminder(every: .seconds(600), until: ["seen"]) })
        harness.item("a", "new")
        harness.item("a", "seen", was: "new")
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1)
    }

    @Test("a match whose value is one of 'until' starts no reminder")
    func untilAtOnce() {
        var harness = RuleHarness(
            Rule.when(.field("state", from: nil, to: nil)) {
                $0.remind = Reminder(every: .seconds(600), until: ["done"])
            })
        harness.item("a", "busy", was: "new")
        harness.item("a", "done", was: "busy")
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: new → busy", "out: a: busy → done"])
    }

    @Test("stays goes on while the value moves inside the set")
    func staysInSet() {
        var rule = Rule.when(.stays("state", .oneOf(["Starting", "Started"]))) { $0.pendingFor = .seconds(600) }
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        harness.item("a", "Starting", was: "Queued")
        harness.pass(.seconds(300))
        harness.item("a", "Started", was: "Starting")
        harness.pass(.seconds(300))
        harness.poll()
        #expect(harness.sent == ["out: a: Queued → Starting"])
        harness.item("a", "Starting", was: "Started")
        harness.pass(.seconds(600))
        harness.poll()
        #expect(harness.sent.count == 1)
        harness.item("a", "Ready", was: "Starting")
        harness.item("a", "Started", was: "Ready")
        harness.pass(.seconds(600))
        harness.poll()
        #expect(harness.sent.count == 2)
    }

    @Test("an item whose deferred absence was taken back has not appeared")
    func retracted() {
        var harness = RuleHarness(
            Rule.when(.any([.appears, .disappears])) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        harness.gone("a", "up")
        harness.item("a", "up")
        harness.item("b", "up")
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: b: up"])
    }

    @Test("a reminder that waited for the end of a quiet time runs on the steady clock again")
    func clockAgain() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: RuleHarness.time("2026-11-21T21:50:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: still down"])
        harness.wallJumps(by: .seconds(-300))
        harness.pass(.seconds(3000))
        #expect(harness.sent.count == 3)
    }

    @Test("a stays rule does not match again when its escalations are done")
    func soughtAndEscalated() {
        var rule = Rule.when(.becomes("Starting")) {
            $0.pendingFor = .seconds(600)
            $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])]
        }
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        harness.find("59", "Starting", since: .zero)
        harness.pass(.seconds(600))
        harness.poll()
        harness.pass(.seconds(60))
        harness.restart()
        harness.find("59", "Starting", since: .seconds(-660))
        harness.poll()
        #expect(harness.sent == ["out: 59: still Starting", "boss: 59: still Starting"])
    }

    @Test("reminders run on the steady clock")
    func steady() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(3600))
        harness.wallJumps(by: .seconds(36_000))
        harness.pass(.seconds(3599))
        #expect(harness.sent.count == 2)
        harness.pass(.seconds(1))
        #expect(harness.sent.count == 3)
    }

    @Test("an item that comes back after its absence was told is told, and one whose absence still waits is not")
    func comesBack() {
        var harness = RuleHarness(
            Rule.when(.any([.appears, .disappears])) { $0.remind = Reminder(every: .seconds(3600)) })
        harness.gone("a")
        harness.item("a", "up")
        #expect(harness.sent.count == 2)
        harness = RuleHarness(Rule.when(.any([.appears, .disappears])) { $0.pendingFor = .seconds(60) })
        harness.gone("a")
        harness.item("a", "up")
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.isEmpty && harness.rows.isEmpty)
    }

    @Test("a stays rule about other sources does not look at the items of this one")
    func otherSource() {
        var rule = Rule.when(.all([.source(["web"], text: "'web'"), .becomes("down")])) {
            $0.pendingFor = .seconds(60)
        }
        rule.matchesExisting = true
        let harness = RuleHarness(rule)
        #expect(harness.engine.rulesMatchingExisting(in: "lab").isEmpty)
        #expect(harness.engine.rulesMatchingExisting(in: "web").count == 1)
    }
}
