// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What was held back ends in one message")
struct TrailingTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
    private static let evening = Stage.time("2026-11-21T21:55:00Z")

    @Test("what a limit held back waits for the end of a quiet time, and is said then")
    func limitInTheNight() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Self.evening)
        stage.item("a", "down", was: "up")
        stage.item("a", "up", was: "down")
        stage.item("a", "down", was: "up")
        #expect(stage.said == ["out: a: up → down"])
        stage.pass(.seconds(600))
        stage.restart()
        #expect(stage.said.count == 1, "22:05 is in the night")
        stage.pass(.seconds(9 * 3600))
        #expect(stage.said == ["out: a: up → down", "out: a: up → down"])
        #expect(stage.now.wall.rfc3339 == "2026-11-22T07:05:00.000Z")
        stage.pass(.seconds(3600))
        #expect(stage.rows.isEmpty)
    }

    @Test("what a limit held back is not said in a silence, and the reason is kept")
    func limitInSilence() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        for state in ["down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.engine.silence([Silence(id: 1, rule: "r", created: Stage.noon)])
        stage.pass(.seconds(600))
        #expect(stage.said.count == 1)
        #expect(stage.unsaid.last == "a: up → down: silenced: rule 'r'")
    }

    @Test("a digest that is due in a quiet time or a silence is not said then")
    func digestInTheNight() {
        var stage = Stage(
            Rule.when(.appears) {
                $0.digest = DigestPlan(release: .every(.seconds(600)))
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Self.evening)
        for key in ["a", "b"] { stage.item(key, nil) }
        stage.pass(.seconds(3600))
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(9 * 3600))
        #expect(stage.said == ["out: 2 events in lab"])
        for key in ["c", "d"] { stage.item(key, nil) }
        stage.engine.silence([Silence(id: 1, source: "lab", created: Stage.noon)])
        stage.pass(.seconds(600))
        #expect(stage.said.count == 1)
        #expect(stage.unsaid.last == "2 events in lab: silenced: source 'lab'")
    }

    @Test("all that was held back counts, when the last word is another event")
    func count() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        stage.item("a", "down", was: "up")
        for _ in 1...2 {
            stage.item("a", "up", was: "down")
            stage.item("a", "down", was: "up")
        }
        var last = stage
        stage.pass(.seconds(600))
        #expect(stage.said.last == "out: a: up → down (+1)", "the second of two is said")
        last.item("a", "up", was: "down")
        last.pass(.seconds(600))
        #expect(last.said.last == "out: a: down → up (+2)", "neither of two is said")
    }

    @Test("the trailing message speaks of the rule's field, with the item as it is")
    func otherFields() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        stage.item("a", "down", was: "up")
        stage.item("a", "up", was: "down")
        stage.item("a", "down", was: "up")
        stage.field("a", "owner", "bob", was: "ann", state: "down")
        stage.pass(.seconds(600))
        #expect(stage.said.last == "out: a: up → down")
        #expect(stage.last?.item?["owner"] == "bob")
    }

    @Test("the trailing message of what is over begins no reminder")
    func noReminder() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.remind = Reminder(every: .seconds(3600))
            })
        for state in ["down", "up", "down", "up"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: a: up → down", "out: a: down → up (+1)"])
        stage.pass(.seconds(10 * 3600))
        #expect(stage.said.count == 2)
        #expect(stage.rows.isEmpty)
    }

    @Test("quiet times that follow each other are one, whatever their number")
    func chained() {
        let weekend = CivilWindow(
            name: "weekend", start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440), days: [6, 7],
            zone: "UTC")
        var stage = Stage(
            Rule.when(.appears) { $0.quiet = Quiet(windows: [Self.night, weekend], then: .digest) },
            at: Stage.time("2026-11-20T23:00:00Z"))
        for key in ["a", "b"] { stage.item(key, nil) }
        stage.pass(.seconds(2 * 86_400 + 7 * 3600 + 3599))
        #expect(stage.said.isEmpty, "it is Monday, still night")
        stage.pass(.seconds(1))
        #expect(stage.said == ["out: 2 events in lab"])
    }

    @Test("what was deferred again keeps its count, and what was no longer so counts too")
    func deferredCount() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], then: .defer) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        for state in ["down", "up", "down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.pass(.seconds(8 * 3600))
        #expect(stage.said == ["out: a: up → down (+2)"])
        for state in ["up", "down", "up"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.pass(.seconds(24 * 3600))
        #expect(stage.rows.isEmpty)
    }

    @Test("a value that is held back by the limit or the night is still said once")
    func once() {
        var stage = Stage(
            Rule.when(.appears) {
                $0.oncePer = "build"
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Self.evening)
        stage.item("a", nil, fields: ["build": "1"])
        stage.item("b", nil, fields: ["build": "2"])
        stage.pass(.seconds(10 * 3600))
        stage.item("c", nil, fields: ["build": "2"])
        #expect(stage.said == ["out: a", "out: b"])
    }

    @Test("what is deferred once more, for the program was down until the next night, keeps its count")
    func deferredAgain() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], then: .defer) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        for state in ["down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.sleep(.seconds(86_400))
        stage.restart(unsure: ["lab"])
        stage.poll()
        #expect(stage.said.isEmpty)
        stage.pass(.seconds(8 * 3600))
        #expect(stage.said == ["out: a: up → down (+1)"])
    }

    @Test("what the night counted goes into the limit's count")
    func nightAndLimit() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(86_400), by: .rule)
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Self.evening)
        stage.item("b", "down", was: "up")
        stage.pass(.seconds(3600))
        for state in ["down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.pass(.seconds(86_400))
        #expect(stage.said == ["out: b: up → down", "out: a: up → down (+1)"])
    }

    @Test("of a limit by rule the last word is the last one that was held back, whatever others do")
    func lastOfRule() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        for key in ["x", "a", "b"] { stage.item(key, "down", was: "up") }
        stage.item("a", "up", was: "down")
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: x: up → down", "out: b: up → down (+1)"])
    }

    @Test("a digest is said so long after its first event, with a line on each of the first twenty")
    func digestTime() {
        var stage = Stage(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600))) })
        for n in 1...30 {
            stage.item("n\(n)", nil)
            stage.pass(.seconds(20))
        }
        #expect(stage.said == ["out: 30 events in lab"])
        #expect(stage.last?.summary?.lines.count == 20 && stage.last?.summary?.events.count == 20)
    }

    @Test("after the night the limit counts on its own clock again")
    func clockAgain() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.quiet = Quiet(windows: [Self.night], then: .defer)
            }, at: Self.evening)
        for state in ["down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.pass(.seconds(10 * 3600))
        stage.item("a", "up", was: "down")
        stage.item("a", "down", was: "up")
        stage.wallJumps(by: .seconds(-3600))
        stage.pass(.seconds(600))
        #expect(stage.rows.isEmpty)
    }
}
