// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Said again")
struct SpokenAgainTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    private func escalating(_ gates: @escaping (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(.becomes("down", "lost")) {
            $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            gates(&$0)
        }
    }

    @Test("escalate counts since it was first said, not since the last word")
    func first() {
        var stage = Stage(escalating())
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(1200))
        stage.item("a", "lost", was: "down")
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: a: up → down", "out: a: down → lost", "boss: a: down → lost"])
    }

    @Test("nobody is woken by an escalation in a quiet time; it is told when that ends")
    func quiet() {
        var stage = Stage(
            escalating { $0.quiet = Quiet(windows: [Self.night], then: .defer) }, at: Stage.time("2026-11-21T21:50:00Z")
        )
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(3600))
        stage.restart()
        #expect(stage.said == ["out: a: up → down"])
        stage.pass(.seconds(9 * 3600))
        #expect(stage.said == ["out: a: up → down", "boss: a: up → down"])
    }

    @Test("what a silence keeps from being said again is kept with its reason")
    func silenced() {
        var stage = Stage(escalating { $0.remind = Reminder(every: .seconds(3600)) })
        stage.item("a", "down", was: "up")
        stage.engine.silence([Silence(id: 1, item: "a", created: Stage.noon)])
        stage.pass(.seconds(3600))
        #expect(stage.said == ["out: a: up → down"])
        #expect(stage.unsaid == Array(repeating: "a: up → down: silenced: item 'a'", count: 2))
    }

    @Test("nothing is said again about things behind a failing source")
    func depends() {
        var stage = Stage(escalating { $0.depends = ["gateway"] })
        stage.item("a", "down", was: "up")
        stage.source(.failing, "gateway")
        stage.pass(.seconds(1800))
        #expect(stage.said == ["out: a: up → down"])
        #expect(stage.unsaid == ["a: up → down: it depends on 'gateway', which is failing"])
    }

    @Test("a reminder shows the item as it is now")
    func latest() {
        var stage = Stage(
            Rule.when(.becomes("down", "lost")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.limit = Limit(count: 1, per: .seconds(86_400))
            })
        stage.item("a", "down", was: "up")
        stage.item("a", "lost", was: "down")
        stage.pass(.seconds(3600))
        #expect(stage.said.last == "out: a: still lost")
    }

    @Test("a rule of several conditions is over when the one that matched is no longer true")
    func anyIsOver() {
        let either = Condition.any([.becomes("down"), .sourceState([.failing]), .appears])
        var stage = Stage(Rule.when(either) { $0.hold = .seconds(60) })
        stage.item("a", "down", was: "up")
        stage.item("a", "up", was: "down")
        stage.item("b", "new")
        stage.item("b", "old", was: "new")
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said == ["out: b: old"])
    }

    @Test("what left a state is still so in any other, until it comes back")
    func left() {
        var stage = Stage(
            Rule.when(.field("state", from: .oneOf(["Starting"]), to: nil)) { $0.hold = .seconds(60) })
        stage.item("a", "Started", was: "Starting")
        stage.item("a", "Ready", was: "Started")
        stage.item("b", "Started", was: "Starting")
        stage.item("b", "Starting", was: "Started")
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said == ["out: a: Starting → Started"])
    }

    @Test("what a stays rule was kept from saying is not found anew by a restart")
    func soughtOnce() {
        var rule = Rule.when(.becomes("Starting")) { $0.hold = .seconds(600) }
        rule.matchesExisting = true
        var stage = Stage(rule)
        stage.engine.silence([
            Silence(id: 1, rule: "r", until: Stage.noon.advanced(by: .seconds(900)), created: Stage.noon)
        ])
        stage.find("59", "Starting", since: .seconds(-60))
        stage.pass(.seconds(600))
        stage.poll()
        stage.pass(.seconds(600))
        stage.restart()
        stage.find("59", "Starting", since: .seconds(-1200))
        stage.poll()
        #expect(stage.said.isEmpty)
        #expect(stage.unsaid.count == 1)
    }

    @Test(
        "each step of an escalation is told once, though there was another word; a reminder counts from the last word")
    func steps() {
        var stage = Stage(
            Rule.when(.becomes("down", "lost")) {
                $0.escalate = [
                    Escalation(after: .seconds(1800), notify: [.init(sink: "boss")]),
                    Escalation(after: .seconds(9000), notify: [.init(sink: "world")]),
                ]
                $0.remind = Reminder(every: .seconds(3600))
            })
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(2000))
        stage.item("a", "lost", was: "down")
        stage.pass(.seconds(3599))
        #expect(stage.said == ["out: a: up → down", "boss: a: up → down", "out: a: down → lost"])
        stage.pass(.seconds(1))
        #expect(stage.said.last == "out: a: still lost")
        stage.pass(.seconds(3400))
        #expect(stage.said.last == "world: a: down → lost" && stage.said.count == 5)
    }

    @Test("of changes as such each is the first word anew")
    func changes() {
        var stage = Stage(
            Rule.when(.changes(["state"])) {
                $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            })
        stage.item("a", "1", was: "0")
        stage.pass(.seconds(1200))
        stage.item("a", "2", was: "1")
        stage.pass(.seconds(1799))
        #expect(stage.said.count == 2)
        stage.pass(.seconds(1))
        #expect(stage.said.last == "boss: a: 1 → 2")
    }

    @Test("a value of until ends reminders, though it is still so")
    func until() {
        var stage = Stage(
            Rule.when(.appears) { $0.remind = Reminder(every: .seconds(600), until: ["seen"]) })
        stage.item("a", "new")
        stage.item("a", "seen", was: "new")
        stage.pass(.seconds(3600))
        #expect(stage.said.count == 1)
    }

    @Test("what waited for the end of a quiet time counts on its own clock again")
    func clockAgain() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Stage.time("2026-11-21T21:50:00Z"))
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(10 * 3600))
        #expect(stage.said == ["out: a: up → down", "out: a: still down"])
        stage.wallJumps(by: .seconds(-300))
        stage.pass(.seconds(3000))
        #expect(stage.said.count == 3)
    }

    @Test("what a stays rule said is not found anew when its escalation is over")
    func soughtAndEscalated() {
        var rule = Rule.when(.becomes("Starting")) {
            $0.hold = .seconds(600)
            $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])]
        }
        rule.matchesExisting = true
        var stage = Stage(rule)
        stage.find("59", "Starting", since: .zero)
        stage.pass(.seconds(600))
        stage.poll()
        stage.pass(.seconds(60))
        stage.restart()
        stage.find("59", "Starting", since: .seconds(-660))
        stage.poll()
        #expect(stage.said == ["out: 59: still Starting", "boss: 59: still Starting"])
    }
}
