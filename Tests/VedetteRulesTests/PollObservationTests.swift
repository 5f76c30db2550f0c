// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Polls confirm and end matches")
struct PollObservationTests {
    private let held = Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }
    private let again = Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(600)) }

    @Test("a poll that does not show an item does not confirm its match; the next one that shows it does")
    func missing() {
        var harness = RuleHarness(held)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.poll(missing: ["a"])
        #expect(harness.sent.isEmpty)
        #expect(harness.needsPoll, "the next poll is told, whatever it brings")
        var gone = harness
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        gone.gone("a", "down")
        gone.poll()
        #expect(gone.sent.isEmpty && gone.rows.isEmpty)
    }

    @Test("no reminder is sent about an item that the last poll did not show")
    func missingAndTime() {
        var harness = RuleHarness(again)
        harness.item("a", "down", was: "up")
        harness.poll(missing: ["a"])
        harness.pass(.seconds(1200))
        #expect(harness.sent.count == 1)
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "out: a: still down"])
        #expect(!harness.needsPoll)
    }

    @Test("a match of 'disappears' is confirmed by a poll without the item")
    func disappears() {
        var harness = RuleHarness(Rule.when(.disappears) { $0.pendingFor = .seconds(60) })
        harness.gone("a")
        harness.pass(.seconds(60))
        harness.poll(missing: ["a"])
        #expect(harness.sent == ["out: a is gone"])
    }

    @Test("after a failed poll nothing is sent about an item until a good poll")
    func failures() {
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 720), end: CivilTimeOfDay(minutes: 725), zone: "UTC")
        let quiet = Rule.when(.becomes("down"), name: "q") { $0.quiet = Quiet(windows: [window], action: .defer) }
        let source = Rule.when(.sourceState([.failing]), name: "s") { $0.remind = Reminder(every: .seconds(600)) }
        var harness = RuleHarness(again, quiet, source)
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.source(.failing)
        harness.poll(isGood: false)
        harness.pass(.seconds(3000))
        #expect(harness.sent.filter { !$0.contains("lab") } == ["out: a: up → down", "out: b: up → down"])
        #expect(harness.sent.count { $0.contains("lab is still failing") } == 5, "of the source itself it knows enough")
        harness.source(.recovered)
        harness.item("b", "up", was: "down")
        harness.poll()
        #expect(harness.sent.suffix(2) == ["out: a: up → down", "out: a: still down"])
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "out: a: still down", "from then on time is enough again")
    }

    @Test("a new baseline ends the matches of items that are not in it, and updates the others")
    func baseline() {
        var harness = RuleHarness(held, Rule.when(.disappears, name: "d") { $0.pendingFor = .seconds(60) })
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        for key in ["x", "y"] { harness.gone(key) }
        harness.poll(baseline: [("b", "up"), ("c", "down"), ("x", "back")])
        #expect(
            harness.suppressed == [
                "x is gone: no longer so after 0 s", "a: up → down: it is not in the new baseline of its source",
                "b: up → down: no longer so after 0 s",
            ])
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: y is gone", "out: c: up → down"])
    }

    @Test("an item that leaves without an event is forgotten")
    func forgotten() {
        var harness = RuleHarness(again)
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.poll(forgotten: ["a"])
        harness.pass(.seconds(600))
        #expect(harness.sent.suffix(1) == ["out: b: still down"])
        #expect(harness.rows.count == 1)
    }

    @Test("a good poll ends a match of 'suspect'")
    func doubt() {
        var harness = RuleHarness(Rule.when(.sourceState([.suspect])) { $0.remind = Reminder(every: .seconds(600)) })
        let event = harness.event(.suspect)
        harness.poll(events: [event])
        #expect(harness.rows.count == 1, "the poll that brought it does not end it")
        harness.poll()
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1)
    }

    @Test("the memory about a source that is gone is discarded with the reason")
    func goneSource() {
        var harness = RuleHarness(held)
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up", source: "web")
        harness.forgetSources(except: ["web"])
        #expect(harness.rows.keys.map(\.name) == ["web\u{1F}b"])
        #expect(harness.suppressed == ["a: up → down: the source 'lab' is gone while it was held back"])
    }

    @Test("what a removed rule withheld is suppressed with the reason")
    func removedRule() {
        var harness = RuleHarness(held)
        harness.item("a", "down", was: "up")
        var restarted = harness
        harness.reload()
        #expect(harness.suppressed == ["a: up → down: its rule was removed while it was held back"])
        #expect(harness.suppressedSinks == ["out"])
        restarted.restart(with: RuleSet([]))
        #expect(restarted.suppressed == harness.suppressed && restarted.suppressedSinks == ["nobody"])
        #expect(harness.rows.isEmpty && restarted.rows.isEmpty)
    }
}
