// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("if and unless ask the last good snapshot of another source")
struct SourceConditionTests {
    private func rule(isExcluded: Bool = false, drops: Bool = false, _ when: Condition = .becomes("on")) -> Rule {
        Rule.when(when) {
            $0.conditions = [
                SourceCondition(
                    source: "home", items: [(name: "key", matcher: .oneOf(["door"]))], matcher: .oneOf(["open"]),
                    isExcluded: isExcluded, drops: drops)
            ]
        }
    }

    @Test("if: a state is told as soon as an item of the other source is as asked")
    func holds() {
        var harness = RuleHarness(rule())
        harness.item("door", "closed", source: "home")
        harness.item("heating", "on", was: "off")
        #expect(harness.suppressed.last?.hasSuffix("has state 'open'") == true)
        harness.item("door", "open", was: "closed", source: "home")
        harness.item("window", "closed", was: "open", source: "home")
        #expect(harness.sent == ["out: heating: off → on"])
    }

    @Test("unless: what begins meanwhile and is over before the end is not told, the rest is told at the end")
    func excluded() {
        var harness = RuleHarness(rule(isExcluded: true))
        harness.item("door", "open", source: "home")
        harness.item("heating", "on", was: "off")
        harness.item("stove", "on", was: "off")
        harness.item("stove", "off", was: "on")
        #expect(harness.sent.isEmpty && harness.suppressed.count == 2)
        harness.item("door", "closed", was: "open", source: "home")
        #expect(harness.sent == ["out: heating: off → on (+1)"])
    }

    @Test("unless drops news, and with 'drop: true' a state, too")
    func dropped() {
        for rule in [
            rule(isExcluded: true, .all([.source(["lab"], text: "lab"), .changes(["state"])])),
            rule(isExcluded: true, drops: true),
        ] {
            var harness = RuleHarness(rule)
            harness.item("door", "open", source: "home")
            harness.item("heating", "on", was: "off")
            harness.item("door", "closed", was: "open", source: "home")
            #expect(harness.sent.isEmpty && harness.suppressed.count == 1)
        }
    }

    @Test("unless: reminders and escalations that were due meanwhile follow at the end")
    func followUps() {
        var rule = rule(isExcluded: true)
        rule.gates.remind = Reminder(every: .seconds(100))
        rule.gates.escalate = [Escalation(after: .seconds(150), notify: [.init(sink: "boss")])]
        var harness = RuleHarness(rule)
        harness.item("heating", "on", was: "off")
        harness.item("door", "open", source: "home")
        harness.pass(.seconds(160))
        #expect(harness.sent == ["out: heating: off → on"])
        harness.item("door", "closed", was: "open", source: "home")
        #expect(
            harness.sent == ["out: heating: off → on", "boss: heating: off → on", "out: heating: still on"])
        harness.pass(.seconds(100))
        #expect(harness.sent.count == 4)
    }

    @Test("a source without a good poll holds nothing back, and a new baseline replaces what was known")
    func unknown() {
        var harness = RuleHarness(rule())
        harness.item("heating", "on", was: "off")
        #expect(harness.sent.count == 1)
        harness.engine.addStoredFacts(of: "home", [Item(key: "door", state: "closed")])
        harness.item("heating", "on", was: "off")
        #expect(harness.sent.count == 1)
        harness.poll("home", baseline: [(key: "door", state: "open")])
        #expect(harness.sent.count == 2)
    }

    @Test("a bound of 'if' and 'how_many' makes an event when a measure crosses it, so that none is stale")
    func measures() {
        let slow = SourceCondition(
            source: "site", items: [(name: "days", matcher: .below(9))], field: "latency", matcher: .not(.above(500)))
        let counted = SourceCondition(source: "hosts", field: "load", matcher: .above(2))
        let index = ThresholdIndex([
            Rule.when(.source(["lab"], text: "lab")) { $0.conditions = [slow] },
            Rule.when(.howMany(ItemCount(counted, bound: .above(3)))),
        ])
        #expect(index.thresholds(for: "site") == ["latency": [.above(500)], "days": [.below(9)]])
        #expect(index.thresholds(for: "hosts") == ["load": [.above(2)]])
        #expect(index.thresholds(for: "lab").isEmpty)
    }

    @Test("if is asked when the message is due, not when 'for' began")
    func atRelease() {
        var rule = rule()
        rule.gates.pendingFor = .seconds(60)
        var harness = RuleHarness(rule)
        harness.engine.addStoredFacts(of: "home", [Item(key: "door", state: "closed")])
        harness.item("heating", "on", was: "off")
        harness.item("door", "open", was: "closed", source: "home")
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: heating: off → on"])
    }

    @Test("unless is asked again when what a silence or a limit held is due")
    func whenTold() {
        var rule = rule(isExcluded: true)
        rule.gates.limit = Limit(count: 1, per: .seconds(600))
        var harness = RuleHarness(rule)
        harness.item("door", "closed", source: "home")
        harness.item("heating", "on", was: "off")
        harness.item("heating", "on", was: "off")
        let end = harness.now.wall.advanced(by: .seconds(600))
        harness.silence(Silence(id: 1, item: "stove", until: end, created: harness.now.wall))
        harness.item("stove", "on", was: "off")
        harness.item("door", "open", was: "closed", source: "home")
        harness.pass(.seconds(1200))
        #expect(harness.sent == ["out: heating: off → on"])
        #expect(harness.suppressed.suffix(2).allSatisfy { $0.hasSuffix("has state 'open'") })
    }

    @Test(
        "the last message of a limit that unless withholds uses up no value of once_per"
    )
    func suppressedLast() {
        var rule = rule(isExcluded: true)
        rule.gates.limit = Limit(count: 1, per: .seconds(600), by: .rule)
        rule.gates.oncePer = "key"
        var harness = RuleHarness(rule)
        harness.item("door", "closed", source: "home")
        for key in ["heating", "stove"] { harness.item(key, "on", was: "off") }
        harness.item("door", "open", was: "closed", source: "home")
        harness.pass(.seconds(600))
        harness.item("door", "closed", was: "open", source: "home")
        #expect(harness.sent == ["out: heating: off → on", "out: stove: off → on"])
    }

    @Test("a message that unless suppresses at the end of a silence uses up no value of once_per")
    func oncePer() {
        var rule = rule(isExcluded: true)
        rule.gates.oncePer = "key"
        var harness = RuleHarness(rule)
        harness.item("door", "closed", source: "home")
        let end = harness.now.wall.advanced(by: .seconds(600))
        harness.silence(Silence(id: 1, item: "stove", until: end, created: harness.now.wall))
        harness.item("stove", "on", was: "off")
        harness.item("door", "open", was: "closed", source: "home")
        harness.pass(.seconds(1200))
        #expect(harness.sent.isEmpty)
        #expect(harness.suppressed.last?.hasSuffix("has state 'open'") == true)
        harness.item("door", "closed", was: "open", source: "home")
        #expect(harness.sent == ["out: stove: off → on"])
    }

    @Test("a poll whose evaluation a reload interrupts counts for the new rules, not the older items of the journal")
    func interrupted() {
        var harness = RuleHarness(rule())
        let open = Item(key: "door", state: "open")
        var observation = PollObservation()
        observation.stored = [StoredItem(open, digest: open.digest, stateSince: harness.now.wall)]
        var budget = PollEvaluation.Budget()
        budget.piece = .zero
        let events = [harness.event(.failing, "home"), harness.event(.recovered, "home")]
        var evaluation = PollEvaluation(of: "home", events: events, observation, at: harness.now, budget: budget)
        harness.engine.resume(&evaluation, elapsed: { .zero }, identifier: { Identifier("0199") })
        #expect(harness.engine.gatherFacts(for: RuleSet([rule()])) == ["home"])
        #expect(!evaluation.isFinished)
        while !evaluation.isFinished {
            harness.engine.resume(&evaluation, elapsed: { .zero }, identifier: { Identifier("0199") })
        }
        harness.engine.addStoredFacts(of: "home", [Item(key: "door", state: "closed")])
        harness.reload(rule())
        harness.item("heating", "on", was: "off")
        #expect(harness.sent == ["out: heating: off → on"])
    }

    @Test(
        "an item without the field that is asked for, or with a pattern that hits its limit, is as if it were not there"
    )
    func withoutField() {
        struct Failing: Pattern {
            func matches(_ text: String) throws(PatternError) -> Bool { throw PatternError("match limit") }
        }
        let asked: [(String, ValueMatcher)] = [
            ("room", .oneOf(["hall"])), ("key", .regex(Failing(), text: "x")), ("key", .oneOf(["door"])),
        ]
        let sent = asked.map { name, matcher in
            var rule = rule()
            rule.gates.conditions[0].items = [(name: name, matcher: matcher)]
            var harness = RuleHarness(rule)
            harness.item("door", "open", source: "home")
            harness.item("heating", "on", was: "off")
            return harness.sent.count
        }
        #expect(sent == [0, 0, 1])
        var harness = RuleHarness(rule())
        harness.item("door", nil, source: "home")
        harness.item("heating", "on", was: "off")
        #expect(harness.suppressed == ["heating: off → on: if: no item of 'home' with key 'door' has state 'open'"])
    }

    @Test("of several conditions that are not met the first one is the reason")
    func firstReason() {
        var rule = rule()
        rule.gates.conditions.append(SourceCondition(source: "home", matcher: .oneOf(["locked"])))
        var harness = RuleHarness(rule)
        harness.item("door", "closed", source: "home")
        harness.item("heating", "on", was: "off")
        #expect(harness.suppressed == ["heating: off → on: if: no item of 'home' with key 'door' has state 'open'"])
    }
}
