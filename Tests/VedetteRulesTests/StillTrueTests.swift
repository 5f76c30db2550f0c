// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Whether a match is still true")
struct StillTrueTests {
    private struct Stuck: Pattern {
        func matches(_ text: String) throws(PatternError) -> Bool { throw PatternError("match limit") }
    }

    /// Whether what matched at first is said in the end, when the item then changes to that state and owner.
    private func isSaid(_ when: Condition, then state: String = "down", owner: Value = "ann") -> Bool {
        var stage = Stage(Rule.when(when) { $0.hold = .seconds(60) })
        stage.item("a", "down", was: "up", fields: ["owner": "ann"])
        #expect(stage.rows.count == 1)
        stage.item("a", state, was: "other", fields: ["owner": owner])
        stage.pass(.seconds(60))
        stage.poll()
        return !stage.said.isEmpty
    }

    @Test("what stands beside the state must hold as well, as the item is now")
    func beside() {
        let ofAnn = Condition.all([.becomes("down"), .item("owner", .oneOf(["ann"]))])
        #expect(isSaid(ofAnn))
        #expect(!isSaid(ofAnn, owner: "bob"))
    }

    @Test("what stands under not ends it when it comes true, and only what speaks of the item as it is can")
    func negated() {
        func without(_ part: Condition) -> Condition { .all([.becomes("down"), .not(part)]) }
        let bob = Condition.item("owner", .oneOf(["bob"]))
        #expect(isSaid(without(bob)) && !isSaid(without(bob), owner: "bob"))
        #expect(isSaid(without(.appears), owner: "bob"))
        let inLab = Condition.source(["lab"], text: "'lab'")
        #expect(!isSaid(without(.all([inLab, bob])), owner: "bob"))
        #expect(isSaid(without(.all([.source(["web"], text: "'web'"), bob])), owner: "bob"))
        #expect(isSaid(without(.all([bob, .appears])), owner: "bob"), "nobody knows of the second")
        #expect(!isSaid(without(.any([.appears, bob])), owner: "bob"))
        #expect(isSaid(without(.any([.appears, bob]))))
        let notAnn = Condition.not(.item("owner", .oneOf(["ann"])))
        #expect(isSaid(without(notAnn)) && !isSaid(without(notAnn), owner: "bob"))
    }

    @Test("a pattern that hits its limit decides nothing: the match stays as it was")
    func stuck() {
        let pattern = ValueMatcher.regex(Stuck(), text: "x")
        let one = Rule.when(.becomes("down")) { $0.hold = .seconds(60) }
        var stage = Stage(one)
        stage.item("a", "down", was: "up")
        var two = one
        two.when = .all([.becomes("down"), .item("state", pattern), .not(.item("state", pattern))])
        stage.reload(two)
        stage.item("a", "down", was: "other")
        #expect(stage.unsaid.isEmpty && stage.rows.count == 1)
    }

    @Test(
        "a source's state is over with its opposite",
        arguments: [
            (.failing, .recovered), (.recovered, .failing), (.stale, .recovered), (.offline, .online),
            (.online, .offline),
        ] as [(Event.Kind, Event.Kind)])
    func opposite(kind: Event.Kind, other: Event.Kind) {
        var stage = Stage(Rule.when(.sourceState([kind])) { $0.hold = .seconds(60) })
        stage.source(kind)
        stage.source(other)
        stage.pass(.seconds(60))
        #expect(stage.said.isEmpty)
        stage.source(kind)
        stage.pass(.seconds(60))
        #expect(stage.said.count == 1)
    }

    @Test("good polls do not end a recovery")
    func recovery() {
        var stage = Stage(Rule.when(.sourceState([.recovered])) { $0.hold = .seconds(60) })
        stage.source(.recovered)
        stage.poll()
        stage.pass(.seconds(60))
        #expect(stage.said == ["out: lab answers again"])
    }

    @Test("what appeared is over when it goes, what went when it comes back")
    func comingAndGoing() {
        var stage = Stage(
            Rule.when(.appears, name: "new") { $0.hold = .seconds(60) },
            Rule.when(.disappears, name: "old") { $0.hold = .seconds(60) })
        stage.item("a", nil)
        stage.gone("a")
        stage.gone("b")
        stage.item("b", nil)
        stage.pass(.seconds(60))
        stage.poll()
        #expect(stage.said == ["out: b", "out: a is gone"])
        #expect(stage.rows.isEmpty)
    }
}
