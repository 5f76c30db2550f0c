// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Failures of one server")
struct OutageTests {
    private var health: Rule { Rule.when(.sourceState([.failing, .recovered])) }

    @Test("the first failure is told at once, and those of the next minute together, with every source and cause")
    func named() {
        var harness = RuleHarness(health)
        harness.source(.failing, "y", "status 500")
        #expect(harness.sent == ["out: y is failing"])
        for (source, cause) in [("a", "status 404"), ("b", "no answer"), ("c", "x"), ("d", "x")] {
            harness.pass(.seconds(10))
            harness.source(.failing, source, cause)
        }
        #expect(harness.sent.count == 1 && harness.suppressed.count == 4)
        harness.restart()
        harness.pass(.seconds(20))
        #expect(harness.sent.last == "out: a (status 404) and b (no answer) fail, and 2 more of lab")
        #expect(harness.last?.summary?.lines.first == "a is failing: status 404")
        #expect(harness.last?.summary?.parts.map(\.source) == ["a", "b", "c", "d"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a second failure that stays alone is told as what it is")
    func second() {
        var harness = RuleHarness(health)
        harness.source(.failing, "y", "status 500")
        harness.source(.failing, "x", "status 404")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: y is failing", "out: x is failing"])
        #expect(harness.lastText == "server lab · status 404")
    }

    @Test("the first recovery tells which sources of the server still fail")
    func stillFailing() {
        var harness = RuleHarness(health)
        harness.source(.failing, "y", "status 500")
        harness.source(.failing, "x", "status 404")
        harness.pass(.seconds(120))
        harness.source(.recovered, "y", "status 500")
        #expect(harness.sent.last == "out: y answers again")
        #expect(harness.lastText == "server lab · before: status 500 · still failing: x (status 404)")
        harness.source(.recovered, "x", "status 404")
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: x answers again")
        #expect(harness.lastText == "server lab · before: status 404")
    }

    @Test("the recovery of a source whose failure was not announced is not announced")
    func untold() {
        var harness = RuleHarness(health)
        harness.source(.failing, "y", "status 500")
        harness.source(.failing, "x", "status 404")
        harness.source(.recovered, "x", "status 404")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: y is failing"])
        #expect(harness.suppressed.last == "x answers again: the message that it is failing was not sent yet")
        #expect(harness.rows.isEmpty)
    }

    @Test("a rule about failures alone does not tell a failure that ended within the minute")
    func over() {
        var harness = RuleHarness(Rule.when(.sourceState([.failing])))
        harness.source(.failing, "y", "status 500")
        harness.source(.failing, "x", "status 404")
        harness.source(.recovered, "x", "status 404")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: y is failing"])
    }

    @Test("the last message is the truth: after a recovery a new failure is told, and after a failure a recovery")
    func flapping() {
        var harness = RuleHarness(health)
        let kinds: [Event.Kind] = [.failing, .recovered, .failing, .recovered]
        for kind in kinds { harness.source(kind, "y", "status 500") }
        #expect(harness.sent.count == 4)
    }

    @Test("other servers, rules and kinds of health are told apart")
    func apart() {
        var harness = RuleHarness(
            health, Rule.when(.sourceState([.failing, .stale]), name: "s"))
        harness.source(.failing, "y", "x")
        harness.source(.failing, "z", "x", server: "other")
        harness.source(.stale, "y", "x")
        #expect(harness.sent.count == 5)
        for source in ["u", "v"] { harness.source(.failing, source) }
        #expect(harness.sent.count == 9, "sources without a server are their own")
    }

    @Test("a step that is undone reported nothing")
    func undone() {
        var harness = RuleHarness(health)
        var event = harness.event(.failing, "y")
        event.error = Event.Problem(failure: "timeout", detail: "no answer", server: "lab")
        harness.engine.undo(harness.evaluate(event))
        harness.source(.failing, "x", "status 404")
        #expect(harness.sent == ["out: x is failing"])
    }

    @Test("a silence at the end of the minute holds the others, and tells them at its own end")
    func silenced() {
        var harness = RuleHarness(health)
        for source in ["y", "x", "w"] { harness.source(.failing, source, "no answer") }
        let end = RuleHarness.noon.advanced(by: .seconds(3600))
        harness.silence(Silence(id: 1, rule: "r", until: end, created: RuleHarness.noon))
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: y is failing", "out: w (no answer) and x (no answer) fail"])
    }
}
