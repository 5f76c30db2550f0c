// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What polls say of what is remembered")
struct SightingTests {
    private let held = Rule.when(.becomes("down")) { $0.hold = .seconds(60) }
    private let again = Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) }

    @Test("a poll that does not show the item confirms nothing of it; the next one that does, does")
    func missing() {
        var stage = Stage(held)
        stage.item("a", "down", was: "up")
        stage.pass(.seconds(60))
        stage.poll(missing: ["a"])
        #expect(stage.said.isEmpty)
        #expect(stage.engine.awaits("lab", at: stage.now), "the next poll is told, whatever it brings")
        var gone = stage
        stage.poll()
        #expect(stage.said == ["out: a: up → down"])
        gone.gone("a", "down")
        gone.poll()
        #expect(gone.said.isEmpty && gone.rows.isEmpty)
    }

    @Test("time says nothing of an item that the last poll did not show")
    func missingAndTime() {
        var stage = Stage(again)
        stage.item("a", "down", was: "up")
        stage.poll(missing: ["a"])
        stage.pass(.seconds(1200))
        #expect(stage.said.count == 1)
        stage.poll()
        #expect(stage.said == ["out: a: up → down", "out: a: still down"])
        #expect(!stage.engine.awaits("lab", at: stage.now))
    }

    @Test("what is gone may be missing: a rule of disappearance is confirmed without the item")
    func disappears() {
        var stage = Stage(Rule.when(.disappears) { $0.hold = .seconds(60) })
        stage.gone("a")
        stage.pass(.seconds(60))
        stage.poll(missing: ["a"])
        #expect(stage.said == ["out: a is gone"])
    }

    @Test("failures pause judgement: nothing is said of an item until a good poll tells")
    func failures() {
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 720), end: CivilTimeOfDay(minutes: 725), zone: "UTC")
        let quiet = Rule.when(.becomes("down"), name: "q") { $0.quiet = Quiet(windows: [window], then: .defer) }
        let source = Rule.when(.sourceState([.failing]), name: "s") { $0.remind = Reminder(every: .seconds(600)) }
        var stage = Stage(again, quiet, source)
        stage.item("a", "down", was: "up")
        stage.item("b", "down", was: "up")
        stage.source(.failing)
        stage.poll(isGood: false)
        stage.pass(.seconds(3000))
        #expect(stage.said.filter { !$0.contains("lab") } == ["out: a: up → down", "out: b: up → down"])
        #expect(stage.said.count { $0.contains("lab: still so") } == 5, "of the source itself it knows enough")
        stage.source(.recovered)
        stage.item("b", "up", was: "down")
        stage.poll()
        #expect(stage.said.suffix(2) == ["out: a: up → down", "out: a: still down"])
        stage.pass(.seconds(600))
        #expect(stage.said.last == "out: a: still down", "from then on time is enough again")
    }

    @Test("a new baseline ends what is remembered of items that are not in it, and shows the others as they are")
    func baseline() {
        var stage = Stage(held, Rule.when(.disappears, name: "d") { $0.hold = .seconds(60) })
        for key in ["a", "b", "c"] { stage.item(key, "down", was: "up") }
        for key in ["x", "y"] { stage.gone(key) }
        stage.poll(baseline: [("b", "up"), ("c", "down"), ("x", "back")])
        #expect(
            stage.unsaid == [
                "x is gone: no longer so after 0 s", "a: up → down: its source was read anew without it",
                "b: up → down: no longer so after 0 s",
            ])
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said == ["out: y is gone", "out: c: up → down"])
    }

    @Test("an item that leaves without an event leaves nothing behind")
    func forgotten() {
        var stage = Stage(again)
        for key in ["a", "b"] { stage.item(key, "down", was: "up") }
        stage.poll(forgotten: ["a"])
        stage.pass(.seconds(600))
        #expect(stage.said.suffix(1) == ["out: b: still down"])
        #expect(stage.rows.count == 1)
    }

    @Test("a doubt about a source is over with the next good poll")
    func doubt() {
        var stage = Stage(Rule.when(.sourceState([.suspect])) { $0.remind = Reminder(every: .seconds(600)) })
        let event = stage.event(.suspect)
        stage.poll(events: [event])
        #expect(stage.rows.count == 1, "the poll that brought it does not end it")
        stage.poll()
        stage.pass(.seconds(3600))
        #expect(stage.said.count == 1)
    }

    @Test("what is remembered of a source that is gone for good is forgotten, and the reason is kept")
    func goneSource() {
        var stage = Stage(held)
        stage.item("a", "down", was: "up")
        stage.item("b", "down", was: "up", source: "web")
        stage.keep(sources: ["web"])
        #expect(stage.rows.keys.map(\.name) == ["web\u{1F}b"])
        #expect(stage.unsaid == ["a: up → down: the source 'lab' is gone while it was held back"])
    }

    @Test("a rule that is changed or removed does not say what it held, and explain can tell")
    func changedRule() {
        var stage = Stage(held)
        stage.item("a", "down", was: "up")
        var other = held
        (other.identity, other.notify) = (2, [Rule.NotificationTarget(sink: "other")])
        var restarted = stage
        stage.reload(other)
        #expect(stage.unsaid == ["a: up → down: its rule was changed or removed while it was held back"])
        #expect(stage.unsaidTo == ["out"])
        restarted.restart(with: RuleSet([]))
        #expect(restarted.unsaid == stage.unsaid && restarted.unsaidTo == ["nobody"])
        #expect(stage.rows.isEmpty && restarted.rows.isEmpty)
    }
}
