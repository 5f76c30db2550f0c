// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Gates")
struct GateTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    @Test("limit holds back what is too much and ends in one message with the latest state and the count")
    func limit() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        stage.item("a", "down", was: "up")
        for _ in 1...3 {
            stage.pass(.seconds(60))
            stage.item("a", "up", was: "down")
            stage.item("a", "down", was: "up")
        }
        stage.item("a", "up", was: "down")
        #expect(stage.said == ["out: a: up → down"])
        #expect(stage.unsaid.count == 3)
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: a: up → down", "out: a: down → up (+3)"])
        stage.pass(.seconds(3600))
        #expect(stage.said.count == 2)
        #expect(stage.rows.isEmpty)
    }

    @Test("limit slides: a message is allowed again when the oldest is out of the window")
    func slides() {
        var stage = Stage(Rule.when(.appears) { $0.limit = Limit(count: 2, per: .seconds(100), by: .rule) })
        for (key, wait) in [("a", 40), ("b", 40), ("c", 20), ("d", 40), ("e", 0)] {
            stage.item(key, nil)
            stage.pass(.seconds(wait))
        }
        #expect(stage.said == ["out: a", "out: b", "out: c", "out: d"])
    }

    @Test("limit by a field counts each of its values apart")
    func byField() {
        var stage = Stage(Rule.when(.appears) { $0.limit = Limit(count: 1, per: .seconds(600), by: .field("team")) })
        stage.item("a", nil, fields: ["team": "x"])
        stage.item("b", nil, fields: ["team": "y"])
        stage.item("c", nil, fields: ["team": "x"])
        #expect(stage.said == ["out: a", "out: b"])
    }

    @Test("quiet: drop says nothing, ever")
    func drop() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], then: .drop) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(12 * 3600))
        #expect(stage.said.isEmpty)
        #expect(stage.unsaid == ["a: up → down: quiet during 'night' until 2026-11-22T07:00:00.000Z"])
        stage.item("a", "down", was: "up")
        #expect(stage.said.count == 1)
    }

    @Test("quiet: defer says the latest in the morning, if it is still so")
    func deferred() {
        var stage = Stage(
            Rule.when(.becomes("down", "lost")) { $0.quiet = Quiet(windows: [Self.night], then: .defer) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        stage.item("a", "down", was: "up")
        stage.item("b", "down", was: "up")
        stage.pass(.seconds(3600))
        stage.item("a", "lost", was: "down")
        stage.item("b", "up", was: "down")
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(7 * 3600 - 1))
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(1))
        #expect(stage.said == ["out: a: down → lost (+1)"])
        #expect(stage.unsaid.contains("b: up → down: no longer so after 1 h"))
    }

    @Test("quiet: digest says all of the night in one message")
    func nightDigest() {
        var stage = Stage(
            Rule.when(.appears) { $0.quiet = Quiet(windows: [Self.night], then: .digest) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        for n in 1...30 { stage.item("n\(n)", nil) }
        stage.pass(.seconds(9 * 3600))
        #expect(stage.said == ["out: 30 events in lab"])
    }

    @Test("a wall clock that is set forward ends the night, one that is set back begins it anew")
    func wallClock() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], then: .defer) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        stage.item("a", "down", was: "up")
        stage.wallJumps(by: .seconds(8 * 3600))
        stage.pass(.zero)
        #expect(stage.said == ["out: a: up → down"])
    }

    @Test("digest gathers by a field and says one message per value")
    func digest() {
        var stage = Stage(
            Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600)), by: .field("team")) })
        for (key, team) in [("a", "x"), ("b", "x"), ("c", "y")] {
            stage.item(key, nil, fields: ["team": .text(team)])
            stage.pass(.seconds(10))
        }
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: 2 events in lab", "out: c"])
    }

    @Test("once_per says each value once")
    func once() {
        var stage = Stage(Rule.when(.appears) { $0.oncePer = "build" })
        stage.item("a", nil, fields: ["build": "1"])
        stage.item("b", nil, fields: ["build": "1"])
        stage.restart()
        stage.item("c", nil, fields: ["build": "1"])
        stage.item("d", nil, fields: ["build": "2"])
        #expect(stage.said == ["out: a", "out: d"])
    }

    @Test("remind says it again until it is over or in the state that ends it")
    func remind() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600), until: ["acknowledged"]) })
        stage.item("a", "down", was: "up")
        stage.item("b", "down", was: "up")
        stage.pass(.seconds(3600))
        #expect(stage.said.suffix(2).sorted() == ["out: a: still down", "out: b: still down"])
        stage.item("a", "acknowledged", was: "down")
        stage.item("b", "up", was: "down")
        stage.pass(.seconds(10 * 3600))
        #expect(stage.said.count == 4)
        #expect(stage.rows.isEmpty)
    }

    @Test("reminders that were missed while the program was down are one")
    func missed() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) })
        stage.item("a", "down", was: "up")
        stage.wallJumps(by: .seconds(10 * 3600))
        stage.restart()
        stage.pass(.seconds(1))
        #expect(stage.said == ["out: a: up → down", "out: a: still down"])
    }

    @Test("escalate tells others, each step once, while it is so")
    func escalate() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.escalate = [
                    Escalation(after: .seconds(600), notify: [.init(sink: "boss")]),
                    Escalation(after: .seconds(1800), notify: [.init(sink: "world")]),
                ]
            })
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(700))
        #expect(stage.said == ["out: a: up → down", "boss: a: up → down"])
        stage.restart()
        stage.pass(.seconds(3600))
        #expect(stage.said.last == "world: a: up → down")
        #expect(stage.said.count == 3)
    }

    @Test("a rule is silent about things behind a failing source, not about that source itself")
    func depends() {
        var stage = Stage(
            Rule.when(.any([.becomes("down"), .sourceState([.failing])])) { $0.depends = ["gateway"] })
        stage.source(.failing, "gateway")
        stage.item("a", "down", was: "up")
        stage.source(.recovered, "gateway")
        stage.item("b", "down", was: "up")
        #expect(stage.said == ["out: gateway is failing", "out: b: up → down"])
        #expect(stage.unsaid == ["a: up → down: it depends on 'gateway', which is failing"])
    }

    @Test("a silence covers what it names, until its time or its state")
    func silences() {
        var stage = Stage(Rule.when(.becomes("down", "up")))
        stage.engine.silence([
            Silence(id: 1, item: "a", until: Stage.noon.advanced(by: .seconds(60)), created: Stage.noon),
            Silence(id: 2, source: "lab", item: "b", untilState: "up", created: Stage.noon),
            Silence(id: 3, rule: "other", created: Stage.noon),
        ])
        for key in ["a", "b", "c"] { stage.item(key, "down", was: "up") }
        #expect(stage.said == ["out: c: up → down"])
        stage.pass(.seconds(60))
        stage.item("a", "up", was: "down")
        stage.item("b", "up", was: "down")
        #expect(stage.said.suffix(2) == ["out: a: down → up", "out: b: down → up"])
    }

    @Test("a rule that says something else now forgets what it held, one that says the same keeps it")
    func reload() {
        let rule = Rule.when(.becomes("down")) { $0.hold = .seconds(60) }
        var stage = Stage(rule)
        stage.item("a", "down", was: "up")
        stage.reload(rule)
        #expect(stage.rows.count == 1)
        var other = rule
        other.identity = 2
        stage.reload(other)
        #expect(stage.rows.isEmpty)
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said.isEmpty)
    }
}
