// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Whether a match is still true")
struct StillTrueTests {
    private struct Stuck: Pattern {
        func matches(_ text: String) throws(PatternError) -> Bool { throw PatternError("match limit") }
    }

    /// Returns whether a match is sent in the end when the item gets that owner meanwhile.
    private func isSent(_ when: Condition, owner: String = "ann") -> Bool {
        var harness = RuleHarness(Rule.when(when) { $0.pendingFor = .seconds(60) })
        harness.item("a", "down", was: "up", fields: ["owner": "ann"])
        #expect(harness.rows.count == 1)
        harness.field("a", "owner", owner, was: "eve", state: "down")
        harness.pass(.seconds(60))
        harness.poll()
        return !harness.sent.isEmpty
    }

    @Test("the other fields of a condition must match as well, as the item is now")
    func beside() {
        let ofAnn = Condition.all([.becomes("down"), .item("owner", .oneOf(["ann"]))])
        #expect(isSent(ofAnn))
        #expect(!isSent(ofAnn, owner: "bob"))
        #expect(isSent(.all([.source(["lab"], text: "'lab'"), .becomes("down")]), owner: "bob"))
        #expect(
            isSent(.field("state", from: nil, to: nil), owner: "bob"), "the change of another field does not end it")
        #expect(isSent(.changes(["state"]), owner: "bob"))
    }

    @Test("a condition under 'not' that becomes true ends the match, if it is about the item's values")
    func negated() {
        func without(_ part: Condition) -> Condition { .all([.becomes("down"), .not(part)]) }
        let bob = Condition.item("owner", .oneOf(["bob"]))
        #expect(isSent(without(bob)) && !isSent(without(bob), owner: "bob"))
        #expect(isSent(without(.appears), owner: "bob"))
        let inLab = Condition.source(["lab"], text: "'lab'")
        #expect(!isSent(without(.all([inLab, bob])), owner: "bob"))
        #expect(isSent(without(.all([.source(["web"], text: "'web'"), bob])), owner: "bob"))
        #expect(isSent(without(.all([bob, .appears])), owner: "bob"), "the second part has no current result")
        #expect(!isSent(without(.any([.appears, bob])), owner: "bob"))
        #expect(isSent(without(.any([.appears, bob]))))
        #expect(isSent(without(.any([bob, .item("owner", .oneOf(["eve"]))]))), "neither part is true")
        let notAnn = Condition.not(.item("owner", .oneOf(["ann"])))
        #expect(isSent(without(notAnn)) && !isSent(without(notAnn), owner: "bob"))
    }

    @Test("a source is suspect until an event says otherwise, and its other events do not")
    func suspect() {
        var harness = RuleHarness(Rule.when(.sourceState([.suspect])) { $0.pendingFor = .seconds(60) })
        harness.source(.suspect)
        harness.source(.stale)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
    }

    @Test("a pattern that hits its limit leaves the match as it was")
    func stuck() {
        let pattern = ValueMatcher.regex(Stuck(), text: "x")
        let one = Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }
        var harness = RuleHarness(one)
        harness.item("a", "down", was: "up")
        var two = one
        two.when = .all([.becomes("down"), .item("state", pattern), .not(.item("state", pattern))])
        harness.reload(two)
        harness.item("a", "down", was: "other")
        #expect(harness.suppressed.isEmpty && harness.rows.values.contains { $0.waitingReason == "held" })
        var three = one
        three.when = .field("state", from: nil, to: pattern)
        harness.reload(three)
        harness.item("a", "up", was: "down")
        #expect(harness.suppressed.isEmpty && harness.rows.values.contains { $0.waitingReason == "held" })
    }

    @Test("a match about a field that the item loses is over")
    func lost() {
        var harness = RuleHarness(
            Rule.when(.field("owner", from: nil, to: .oneOf(["ann"]))) { $0.pendingFor = .seconds(60) })
        harness.field("a", "owner", "ann", was: "bob", state: "up")
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.isEmpty && harness.rows.isEmpty)
    }

    @Test(
        "a source's state is over with its opposite",
        arguments: [
            (.failing, .recovered), (.recovered, .failing), (.stale, .recovered), (.offline, .online),
            (.online, .offline), (.unequal, .equal), (.equal, .unequal),
        ] as [(Event.Kind, Event.Kind)])
    func opposite(kind: Event.Kind, other: Event.Kind) {
        var harness = RuleHarness(Rule.when(.sourceState([kind])) { $0.pendingFor = .seconds(60) })
        harness.source(kind)
        harness.source(other)
        harness.pass(.seconds(60))
        #expect(harness.sent.isEmpty)
        harness.source(kind)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
    }

    @Test("a good poll does not end a match of 'recovered'")
    func recovery() {
        var harness = RuleHarness(Rule.when(.sourceState([.recovered])) { $0.pendingFor = .seconds(60) })
        harness.source(.recovered)
        harness.poll()
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: lab answers again"])
    }

    @Test("a match of 'appears' ends when the item disappears, one of 'disappears' when it is back")
    func comingAndGoing() {
        var harness = RuleHarness(
            Rule.when(.appears, name: "new") { $0.pendingFor = .seconds(60) },
            Rule.when(.disappears, name: "old") { $0.pendingFor = .seconds(60) })
        harness.item("a", nil)
        harness.gone("a")
        harness.gone("b")
        harness.item("b", nil)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent == ["out: b", "out: a is gone"])
        #expect(harness.rows.isEmpty)
    }
}
