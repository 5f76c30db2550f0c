// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Reminders of a digest")
struct DigestReminderTests {
    private static func rule(_ change: (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(.becomes("down")) {
            $0.digest = DigestPlan(release: .every(.seconds(60)))
            $0.remind = Reminder(every: .seconds(600))
            change(&$0)
        }
    }

    @Test("what a digest told and is still so is repeated in one message, over a restart")
    func repeated() {
        var harness = RuleHarness(Self.rule())
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 3 events in lab"])
        harness.item("b", "up", was: "down")
        harness.restart()
        harness.pass(.seconds(600))
        #expect(harness.sent.dropFirst() == ["out: a: still down, c: still down"])
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "out: c: still down")
        harness.item("c", "up", was: "down")
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 3 && harness.rows.isEmpty)
    }

    @Test("what is over before the digest is sent, or has a value of 'until', is not repeated")
    func overBefore() {
        var harness = RuleHarness(Self.rule { $0.remind?.until = ["lost"] })
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(60))
        harness.item("b", "lost", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: 2 down, 1 up", "out: c: still down"])
    }

    @Test("a later digest leaves the reminders of an earlier one as they are")
    func later() {
        var harness = RuleHarness(Self.rule { $0.digest = DigestPlan(release: .every(.seconds(60)), by: .rule) })
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(300))
        for key in ["c", "d"] { harness.item(key, "down", was: "up") }
        harness.item("a", "down", was: "down")
        harness.pass(.seconds(360))
        #expect(harness.sent.last == "out: a: still down, b: still down")
        harness.pass(.seconds(300))
        #expect(harness.sent.last == "out: c: still down, d: still down")
    }

    @Test(
        "a match told in place of a withheld end is reminded of a whole interval later, also after an acknowledged one",
        arguments: [false, true])
    func afterWithheldEnd(isAcknowledged: Bool) {
        var rule = Self.rule {
            $0.resolved = true
            $0.recoveredFor = .seconds(300)
        }
        (rule.when, rule.notify) = (.becomes("down", "lost"), ["out", "team"].map { .init(sink: $0) })
        var harness = RuleHarness(rule)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(640))
        if isAcknowledged { harness.acknowledge("a") }
        harness.item("a", "up", was: "down")
        harness.item("a", "lost", was: "up")
        harness.pass(.seconds(60 + 599))
        #expect(harness.messages.map(\.event.item?.state) == ["down", "down", "lost", "lost"])
        harness.pass(.seconds(1))
        #expect(harness.sent.dropFirst(4) == ["out: a: still lost", "team: a: still lost"])
    }

    @Test("a digest that a silence holds starts its reminders when it is sent, and a dropped one has none")
    func silenced() {
        let end = RuleHarness.noon.advanced(by: .seconds(3600))
        for drops in [false, true] {
            var harness = RuleHarness(Self.rule())
            for key in ["a", "b"] { harness.item(key, "down", was: "up") }
            harness.silence(Silence(id: 1, rule: "r", until: end, drops: drops, created: RuleHarness.noon))
            harness.pass(.seconds(3600))
            harness.silence()
            harness.pass(.seconds(600))
            #expect(
                harness.sent == (drops ? [] : ["out: 2 events in lab", "out: a: still down, b: still down"]))
            if drops { #expect(harness.rows.isEmpty) }
        }
    }
}
