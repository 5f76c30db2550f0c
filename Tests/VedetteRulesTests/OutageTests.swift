// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Failures of one server")
struct OutageTests {
    private var health: Rule { Rule.when(.sourceState([.failing, .recovered])) }

    @Test(
        "the first failure is told at once, and the failures of the next minute together, with every source and cause")
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
        #expect(harness.sent.count == 2)
        #expect(harness.rows.values.allSatisfy { $0.waitingReason == nil }, "who was told is known until the recovery")
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
        harness.source(.recovered, "y", "status 500")
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
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

    @Test("a recovery that is undone leaves the cause of the failure")
    func undoneRecovery() {
        var harness = RuleHarness(health)
        harness.source(.failing, "y", "status 500")
        harness.source(.failing, "x", "status 404")
        harness.pass(.seconds(120))
        var recovery = harness.event(.recovered, "x")
        recovery.error = Event.Problem(failure: "status", detail: "status 404", server: "lab")
        harness.engine.undo(harness.evaluate(recovery))
        harness.source(.recovered, "y", "status 500")
        #expect(harness.lastText == "server lab · before: status 500 · still failing: x (status 404)")
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

    @Test("one source more than are named is counted")
    func oneMore() {
        var harness = RuleHarness(health)
        for source in ["y", "x", "w", "v"] { harness.source(.failing, source, "no answer") }
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: v (no answer) and w (no answer) fail, and 1 more of lab")
        for n in 10..<18 { harness.source(.failing, "s\(n)", "no answer") }
        harness.pass(.seconds(60))
        harness.source(.recovered, "y", "no answer")
        #expect(harness.lastText.contains("still failing: s10 (no answer), "))
        #expect(harness.lastText.hasSuffix("w (no answer), and 1 more"))
    }

    @Test("a recovery names the sources of the same server and of the rule alone, also when it is told with others")
    func stillFailingOfTheRule() {
        let sources: Set<String> = ["y", "x", "w", "v", "z"]
        var harness = RuleHarness(
            Rule.when(.all([.source(sources, text: "some"), .sourceState([.failing, .recovered])])))
        for source in ["y", "x", "w", "v", "other"] { harness.source(.failing, source, "no answer") }
        harness.source(.failing, "z", "no answer", server: "elsewhere")
        harness.pass(.seconds(60))
        harness.source(.recovered, "y", "no answer")
        #expect(harness.lastText.hasSuffix("still failing: v (no answer), w (no answer), x (no answer)"))
        for source in ["w", "x"] { harness.source(.recovered, source, "no answer") }
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: w and x answer again")
        #expect(harness.lastText.hasSuffix("still failing: v (no answer)"))
    }

    @Test("resolved: the ends of failures of one server are told together, and the ends of items each alone")
    func resolved() {
        var harness = RuleHarness(
            Rule.when(.any([.sourceState([.failing]), .becomes("down")])) { $0.resolved = true })
        for source in ["y", "x", "w"] { harness.source(.failing, source, "no answer") }
        harness.pass(.seconds(60))
        for source in ["y", "x", "w"] { harness.source(.recovered, source, "no answer") }
        #expect(harness.sent.count == 3 && harness.sent.last == "out: y answers again")
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: w and x answer again")
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        for key in ["a", "b", "c"] { harness.item(key, "up", was: "down") }
        #expect(harness.sent.count == 10)
    }

    @Test("a quiet time that begins within the minute holds the others until its end")
    func quiet() {
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 721), end: CivilTimeOfDay(minutes: 780), zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.sourceState([.failing])) { $0.quiet = Quiet(windows: [window], action: .defer) })
        for source in ["y", "x", "w"] { harness.source(.failing, source, "no answer") }
        harness.pass(.seconds(3599))
        #expect(harness.sent == ["out: y is failing"])
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "out: w (no answer) and x (no answer) fail")
    }

    @Test("a failure that has no room among those that wait is told at once")
    func noRoom() {
        var harness = RuleHarness(Rule.when(.sourceState([.failing])), room: 1000)
        for n in 0...1001 { harness.source(.failing, "s\(n)", "no answer") }
        #expect(harness.sent == ["out: s0 is failing", "out: s1001 is failing"])
    }

    @Test("a digest that 'depends' withheld is told before a later match of what it lists")
    func digestFirst() {
        let pause = CivilWindow(
            name: "pause", start: CivilTimeOfDay(minutes: 12 * 60), end: CivilTimeOfDay(minutes: 12 * 60 + 30),
            zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.all([.source(["lab"], text: "lab"), .appears])) {
                $0.depends = ["gateway"]
                $0.quiet = Quiet(windows: [pause], action: .digest)
                $0.resolved = true
            })
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.source(.failing, "gateway")
        harness.pass(.seconds(1800))
        harness.gone("a")
        #expect(harness.sent.isEmpty)
        harness.source(.recovered, "gateway")
        harness.item("a", nil)
        #expect(harness.messages.map(\.event.kind) == [.digest, .appeared])
    }
}
