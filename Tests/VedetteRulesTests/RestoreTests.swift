// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("After a time without the program")
struct RestoreTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    @Test("what was deferred is said at the first good poll after the night, if it is still so")
    func deferred() {
        var stage = Stage(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], then: .defer) },
            at: Stage.time("2026-11-21T23:00:00Z"))
        for key in ["a", "b"] { stage.item(key, "down", was: "up") }
        stage.sleep(.seconds(12 * 3600))
        stage.restart(unsure: ["lab"])
        stage.pass(.seconds(60))
        #expect(stage.said.isEmpty)
        stage.item("b", "up", was: "down")
        stage.poll()
        #expect(stage.said == ["out: a: up → down"])
    }

    @Test("reminders and escalations wait for the first good poll")
    func standing() {
        var stage = Stage(
            Rule.when(.becomes("down")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            })
        for key in ["a", "b"] { stage.item(key, "down", was: "up") }
        stage.sleep(.seconds(10 * 3600))
        stage.restart(unsure: ["lab"])
        stage.pass(.seconds(60))
        #expect(stage.said.count == 2)
        stage.item("b", "up", was: "down")
        stage.poll()
        #expect(stage.said.suffix(2) == ["boss: a: up → down", "out: a: still down"])
    }

    @Test("a wall clock that was set back meanwhile makes no wait longer than the rule says")
    func setBack() {
        var stage = Stage(
            Rule.when(.becomes("down"), name: "h") {
                $0.hold = .seconds(60)
                $0.remind = Reminder(every: .seconds(86_400))
            },
            Rule.when(.becomes("down"), name: "l") { $0.limit = Limit(count: 1, per: .seconds(600)) },
            Rule.when(.becomes("down"), name: "r") { $0.remind = Reminder(every: .seconds(3600)) })
        for state in ["down", "up", "down"] { stage.item("a", state, was: state == "up" ? "down" : "up") }
        stage.said = []
        stage.wallJumps(by: .seconds(-10 * 86_400))
        stage.restart()
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said == ["out: a: up → down"], "the wait of 'h'")
        stage.pass(.seconds(540))
        #expect(stage.said.count == 2, "the limit of 'l'")
        stage.pass(.seconds(3000))
        #expect(stage.said.last == "out: a: still down")
    }

    @Test("a start writes only what it changed")
    func writes() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) })
        stage.item("a", "down", was: "up")
        stage.restart()
        #expect(stage.written.isEmpty)
        stage.pass(.seconds(3600))
        #expect(stage.said.count == 2)
    }

    @Test("a failing source whose commit failed is not taken for failing; a silence so ended is not ended")
    func undone() {
        var stage = Stage(Rule.when(.becomes("down", "up")) { $0.depends = ["gateway"] })
        stage.engine.silence([Silence(id: 1, item: "b", untilState: "up", created: Stage.noon)])
        let failing = stage.event(.failing, "gateway")
        stage.engine.undo(stage.happens(failing))
        stage.item("a", "down", was: "up")
        #expect(stage.said == ["out: a: up → down"])
        let up = stage.event(.changed, key: "b", "up", was: "down")
        stage.engine.undo(stage.happens(up))
        stage.item("b", "down", was: "lost")
        #expect(stage.said.count == 1)
    }

    @Test("a silence that a state ended stays ended, though a reader of the journal still brings it")
    func ended() {
        let silence = Silence(id: 1, item: "a", untilState: "up", created: Stage.noon)
        var stage = Stage(Rule.when(.becomes("down")))
        stage.engine.silence([silence])
        stage.item("a", "up", was: "down")
        stage.engine.silence([silence])
        stage.item("a", "down", was: "up")
        #expect(stage.said == ["out: a: up → down"])
    }

    @Test("a silence of a rule until a state ends with an item that the rule can be about")
    func ofRule() {
        var stage = Stage(Rule.when(.all([.source(["lab"], text: "'lab'"), .becomes("down")])))
        stage.engine.silence([Silence(id: 1, rule: "r", untilState: "up", created: Stage.noon)])
        stage.item("x", "up", was: "down", source: "web")
        stage.item("a", "down", was: "up")
        #expect(stage.said.isEmpty)
        stage.item("b", "up", was: "down")
        stage.item("c", "down", was: "up")
        #expect(stage.said == ["out: c: up → down"])
    }

    @Test("a silence of an item until a state ends when the item goes away: it would never come")
    func ofGoneItem() {
        var stage = Stage(Rule.when(.any([.becomes("down"), .disappears])))
        stage.engine.silence([Silence(id: 1, item: "a", untilState: "up", created: Stage.noon)])
        stage.gone("a", "down")
        stage.item("a", "down")
        #expect(stage.said == ["out: a is gone", "out: a: down"])
    }

    @Test("once_per keeps the newest values when there are too many")
    func manyValues() {
        var stage = Stage(Rule.when(.appears) { $0.oncePer = "key" })
        for n in 0..<10_500 {
            stage.item("\(n)", nil)
            stage.pass(.milliseconds(1))
        }
        stage.said = []
        stage.item("10499", nil)
        stage.item("0", nil)
        #expect(stage.said == ["out: 0"])
        #expect(stage.engine.remembered.count <= 10_000)
    }

    @Test("a subject that is one too many is said at once instead of being held")
    func manyItems() {
        var stage = Stage(Rule.when(.appears) { $0.hold = .seconds(60) })
        for n in 0...10_000 { stage.item("\(n)", nil) }
        #expect(stage.said == ["out: 10000"])
        for n in 0...10_000 { stage.gone("\(n)") }
        #expect(stage.engine.remembered.isEmpty)
    }

    @Test("a rule that is another one after a restart does not say what the old one held")
    func otherRule() {
        let rule = Rule.when(.becomes("down")) { $0.hold = .seconds(60) }
        var stage = Stage(rule)
        stage.item("a", "down", was: "up")
        var other = rule
        other.identity = 2
        stage.restart(with: RuleSet([other]))
        #expect(stage.rows.isEmpty)
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said.isEmpty)
        #expect(stage.unsaid == ["a: up → down: its rule was changed or removed while it was held back"])
    }

    @Test("a step that is taken back leaves what was before, and what another step made since")
    func takenBack() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        stage.item("a", "down", was: "up")
        let lost = stage.event(.changed, key: "b", "down", was: "up")
        stage.engine.undo(stage.happens(lost))
        let failed = stage.happens(stage.event(.changed, key: "c", "down", was: "up"))
        stage.item("d", "down", was: "up")
        stage.engine.undo(failed)
        stage.pass(.seconds(600))
        #expect(stage.said == ["out: a: up → down", "out: d: up → down (+1)"])
    }

    @Test("a silence whose end was not committed is brought again by the journal")
    func silenceBack() {
        let silence = Silence(id: 1, item: "a", untilState: "up", created: Stage.noon)
        var stage = Stage(Rule.when(.becomes("down")))
        stage.engine.silence([silence])
        stage.engine.undo(stage.happens(stage.event(.changed, key: "a", "up", was: "down")))
        stage.engine.silence([silence])
        stage.item("a", "down", was: "lost")
        #expect(stage.said.isEmpty)
    }

    @Test("a good poll that was not committed has told nothing")
    func uncommittedPoll() {
        var stage = Stage(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) })
        stage.item("a", "down", was: "up")
        stage.poll(isGood: false)
        #expect(stage.engine.awaits("lab", at: stage.now))
        stage.engine.undo(stage.polled())
        #expect(stage.engine.awaits("lab", at: stage.now))
        stage.pass(.seconds(600))
        #expect(stage.said.count == 1)
    }
}
