// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("resolved tells the end of what a rule told, and only of that")
struct ResolvedTests {
    private func rule(_ condition: Condition = .becomes("down"), _ gates: (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(condition) {
            $0.resolved = true
            gates(&$0)
        }
    }

    @Test("the end of a match is told once, over a restart, with how long it lasted")
    func end() {
        var harness = RuleHarness(rule())
        let down = harness.item("a", "down", was: "up")
        harness.sleep(.seconds(300))
        harness.restart()
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        #expect(harness.last?.kind == .resolved && harness.last?.summary?.stood == 300)
        #expect(harness.last?.summary?.events == [down.id.description])
        harness.item("a", "idle", was: "up")
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a 'for' that never fired announces no recovery")
    func neverFired() {
        var harness = RuleHarness(rule { $0.pendingFor = .seconds(60) })
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent.isEmpty)
    }

    @Test("a match that a silence held announces no recovery")
    func silenced() {
        var harness = RuleHarness(rule())
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down"])
        harness.silence(Silence(id: 2, rule: "r", created: RuleHarness.noon))
        harness.item("b", "down", was: "up")
        harness.item("b", "up", was: "down")
        harness.item("a", "up", was: "down")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+1)"], "what was told is resolved after it")
    }

    @Test("the recovery and the absence of what was told are told")
    func sourcesAndAbsence() {
        var harness = RuleHarness(rule(.any([.sourceState([.failing]), .becomes("down")])))
        harness.source(.failing, "y", "status 500")
        harness.source(.recovered, "y", "status 500")
        harness.item("a", "down", was: "up")
        harness.gone("a", "down")
        #expect(
            harness.sent == ["out: y is failing", "out: y answers again", "out: a: up → down", "out: a is gone"])
    }

    @Test("a recovery in a quiet time is told at its end, unless it is down again")
    func quiet() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [night], action: .defer) }, at: RuleHarness.time("2026-11-21T21:00:00Z"))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(7200))
        for key in ["a", "b"] { harness.item(key, "up", was: "down") }
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: b: up → down", "out: a: down → up"])
    }

    @Test("the sinks of an escalation get the end, too")
    func escalated() {
        var harness = RuleHarness(
            rule { $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])] })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "boss: a: down → up"])
    }

    @Test("a value of 'until' ends the reminders, not the match")
    func until() {
        var harness = RuleHarness(
            rule(.appears) { $0.remind = Reminder(every: .seconds(600), until: ["seen"]) })
        harness.item("a", "new")
        harness.item("a", "seen", was: "new")
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1)
        harness.gone("a", "seen")
        #expect(harness.sent == ["out: a: new", "out: a is gone"])
    }

    @Test("a match that the limit withheld and that is over is not announced beside the recovery")
    func limited() {
        var harness = RuleHarness(rule { $0.limit = Limit(count: 1, per: .seconds(600)) })
        for state in ["down", "up", "down", "up"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        // Its count waits for the next message, for a week.
        harness.pass(.seconds(8 * 86_400))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a match that was told twice lasted from its first message to its end")
    func toldTwice() {
        var harness = RuleHarness(rule(.becomes("down", "lost")))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(600))
        harness.item("a", "up", was: "lost")
        #expect(harness.last?.kind == .resolved && harness.last?.summary?.stood == 1200)
    }

    @Test("thirty ends in one group of a limit are one message, and those that follow within its time are another one")
    func storm() {
        var harness = RuleHarness(rule { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        let hosts = (10..<40).map { "h\($0)" }
        harness.poll(events: hosts.map { harness.event(.changed, key: $0, "down", was: "up") })
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 2)
        harness.pass(.seconds(3600))
        harness.poll(events: hosts.dropFirst(3).map { harness.event(.changed, key: $0, "up", was: "down") })
        #expect(harness.sent.count == 3)
        #expect(harness.last?.summary?.parts.count == 27)
        for host in hosts.prefix(2) { harness.item(host, "up", was: "down") }
        #expect(harness.sent.count == 3)
        harness.restart()
        harness.poll()
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 4)
        #expect(harness.last?.summary?.parts.map(\.key) == ["h10", "h11"])
        harness.item("h12", "down", was: "down")
        harness.item("h12", "up", was: "down")
        #expect(harness.sent.last == "out: h12: down → up", "the first end since the group's last message")
        harness.pass(.seconds(3600))
        #expect(harness.rows.isEmpty)
    }

    @Test("a quiet time or a silence that drops matches keeps the end of what was told before it")
    func kept() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [night], action: .drop) }, at: RuleHarness.time("2026-11-21T21:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(7200))
        harness.item("a", "up", was: "down")
        harness.item("b", "down", was: "up")
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        harness.item("c", "down", was: "up")
        harness.silence(Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        harness.item("c", "up", was: "down")
        harness.silence()
        #expect(harness.sent.last == "out: c: down → up")
    }
}
