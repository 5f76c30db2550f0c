// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Restoring memory")
struct RestoreTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    @Test("a deferred match is sent at the first good poll after the night, if it is still true")
    func deferred() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.sleep(.seconds(12 * 3600))
        harness.restart(unconfirmed: ["lab"])
        harness.pass(.seconds(60))
        #expect(harness.sent.isEmpty)
        harness.item("b", "up", was: "down")
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("reminders and escalations wait for the first good poll")
    func standing() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.remind = Reminder(every: .seconds(3600))
                $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            })
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.sleep(.seconds(10 * 3600))
        harness.restart(unconfirmed: ["lab"])
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 2)
        harness.item("b", "up", was: "down")
        harness.poll()
        #expect(harness.sent.suffix(2) == ["boss: a: up → down", "out: a: still down"])
    }

    @Test("a reminder that waits for a good poll is sent after one that changes the item, too")
    func changedMeanwhile() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) })
        harness.item("a", "down", was: "up")
        harness.poll(isGood: false)
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
        harness.field("a", "note", "new", was: "old", state: "down")
        harness.poll()
        #expect(harness.sent.suffix(1) == ["out: a: still down"])
    }

    @Test("a wall clock that was set back makes no wait longer than the rule says")
    func setBack() {
        var harness = RuleHarness(
            Rule.when(.becomes("down"), name: "h") {
                $0.pendingFor = .seconds(60)
                $0.remind = Reminder(every: .seconds(86_400))
            },
            Rule.when(.becomes("down"), name: "l") { $0.limit = Limit(count: 1, per: .seconds(600)) },
            Rule.when(.becomes("down"), name: "r") { $0.remind = Reminder(every: .seconds(3600)) })
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.sent = []
        harness.wallJumps(by: .seconds(-10 * 86_400))
        harness.restart()
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"], "the wait of 'h'")
        harness.pass(.seconds(540))
        #expect(harness.sent.count == 2, "the limit of 'l'")
        harness.pass(.seconds(3000))
        #expect(harness.sent.last == "out: a: still down")
    }

    @Test("a start writes only what it changed")
    func writes() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) })
        harness.item("a", "down", was: "up")
        harness.restart()
        #expect(harness.written.isEmpty)
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2)
    }

    @Test("undo restores failing sources and ended silences")
    func undone() {
        var harness = RuleHarness(Rule.when(.becomes("down", "up")) { $0.depends = ["gateway"] })
        harness.engine.setSilences([Silence(id: 1, item: "b", untilState: "up", created: RuleHarness.noon)])
        let failing = harness.event(.failing, "gateway")
        harness.engine.undo(harness.evaluate(failing))
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
        let up = harness.event(.changed, key: "b", "up", was: "down")
        harness.engine.undo(harness.evaluate(up))
        harness.item("b", "down", was: "lost")
        #expect(harness.sent.count == 1)
    }

    @Test("a silence that a state ended stays ended when the journal still reports it")
    func ended() {
        let silence = Silence(id: 1, item: "a", untilState: "up", created: RuleHarness.noon)
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.engine.setSilences([silence])
        harness.item("a", "up", was: "down")
        harness.engine.setSilences([silence])
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a silence of a rule ends with the state of an item that the rule can match")
    func ofRule() {
        var harness = RuleHarness(Rule.when(.all([.source(["lab"], text: "'lab'"), .becomes("down")])))
        harness.engine.setSilences([Silence(id: 1, rule: "r", untilState: "up", created: RuleHarness.noon)])
        harness.item("x", "up", was: "down", source: "web")
        harness.item("a", "down", was: "up")
        #expect(harness.sent.isEmpty)
        harness.item("b", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down"], "it is still down")
        harness.item("c", "down", was: "up")
        #expect(harness.sent.last == "out: c: up → down")
    }

    @Test("a silence of an item until a state ends when the item disappears")
    func ofGoneItem() {
        var harness = RuleHarness(Rule.when(.any([.becomes("down"), .disappears])))
        harness.engine.setSilences([Silence(id: 1, item: "a", untilState: "up", created: RuleHarness.noon)])
        harness.gone("a", "down")
        harness.item("a", "down")
        #expect(harness.sent == ["out: a is gone", "out: a: down"])
    }

    @Test("once_per keeps the newest values when there are too many")
    func manyValues() {
        var harness = RuleHarness(Rule.when(.appears) { $0.oncePer = "key" }, room: 1000)
        for n in 0..<1050 {
            harness.item("\(n)", nil)
            harness.pass(.milliseconds(1))
        }
        harness.sent = []
        harness.item("1049", nil)
        harness.item("0", nil)
        #expect(harness.sent == ["out: 0"])
        #expect(harness.engine.remembered.count <= 1000)
    }

    @Test("a match beyond the room of 'for' is suppressed, with one warning until there is room again")
    func manyItems() {
        var harness = RuleHarness(Rule.when(.appears) { $0.pendingFor = .seconds(60) })
        for n in 0...10_002 { harness.item("\(n)", nil) }
        #expect(harness.sent.isEmpty)
        #expect(harness.suppressed.first == "10000: the rule has no room for more than 10000 pending matches")
        #expect(harness.suppressed.count == 3 && harness.warnings.count == 1)
        for n in 0...10_002 { harness.gone("\(n)") }
        #expect(harness.engine.remembered.isEmpty)
    }

    @Test("undo keeps what a later step changed")
    func takenBack() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        harness.item("a", "down", was: "up")
        let lost = harness.event(.changed, key: "b", "down", was: "up")
        harness.engine.undo(harness.evaluate(lost))
        let failed = harness.evaluate(harness.event(.changed, key: "c", "down", was: "up"))
        harness.item("d", "down", was: "up")
        harness.engine.undo(failed)
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: a: up → down", "out: d: up → down"])
    }

    @Test("a silence whose end was not committed is in force again")
    func silenceBack() {
        let silence = Silence(id: 1, item: "a", untilState: "up", created: RuleHarness.noon)
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.engine.setSilences([silence])
        harness.engine.undo(harness.evaluate(harness.event(.changed, key: "a", "up", was: "down")))
        harness.engine.setSilences([silence])
        harness.item("a", "down", was: "lost")
        #expect(harness.sent.isEmpty)
    }

    @Test("a good poll that was not committed confirms nothing")
    func uncommittedPoll() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) })
        harness.item("a", "down", was: "up")
        harness.poll(isGood: false)
        #expect(harness.needsPoll)
        harness.engine.undo(harness.evaluatePoll())
        #expect(harness.needsPoll)
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
    }

    @Test("a poll that was not committed leaves an item missing that the one before did not show")
    func uncommittedPresence() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) })
        harness.item("a", "down", was: "up")
        harness.poll(missing: ["a"])
        harness.engine.undo(harness.evaluatePoll())
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
        harness.poll()
        #expect(harness.sent.count == 2)
    }
}
