// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

/// The other sinks of the rule got the message, so at the end of the silence it is for that sink alone.
@Suite("What a silence of one sink withheld")
struct OneSinkSilenceTests {
    private let team = Silence(
        id: 1, until: RuleHarness.noon.advanced(by: .seconds(3600)), sink: "team", created: RuleHarness.noon)

    private func harness(_ when: Condition = .becomes("down"), _ gates: (inout Gates) -> Void = { _ in })
        -> RuleHarness
    {
        var harness = RuleHarness(Rule.when(when, to: "out", "team", gates: gates))
        harness.silence(team)
        return harness
    }

    @Test("the end of a match goes to that sink alone")
    func resolved() {
        var harness = RuleHarness(Rule.when(.becomes("down"), to: "out", "team") { $0.resolved = true })
        harness.item("a", "down", was: "up")
        harness.silence(team)
        harness.item("a", "up", was: "down")
        #expect(harness.sent.count == 3, "out got the end")
        harness.pass(.seconds(3600))
        #expect(harness.sent.dropFirst(2) == ["out: a: down → up", "team: a: down → up"])
    }

    @Test("the end of a match goes to a sink of an escalation, too")
    func escalated() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.resolved = true
                $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "team")])]
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.silence(team)
        harness.item("a", "up", was: "down")
        #expect(harness.sent.count == 3, "out got the end")
        harness.pass(.seconds(3600))
        #expect(harness.sent.dropFirst(2) == ["out: a: down → up", "team: a: down → up"])
    }

    @Test("a digest of one event goes to that sink alone, as that event")
    func digest() {
        var harness = harness(.appears) { $0.digest = DigestPlan(release: .every(.seconds(60))) }
        harness.item("a", nil)
        harness.pass(.seconds(3600 + 60))
        #expect(harness.sent == ["out: a", "team: a"])
    }

    @Test("several digests become one message that names their items")
    func digests() {
        var harness = harness(.appears) { $0.digest = DigestPlan(release: .every(.seconds(60))) }
        for keys in [["a", "b"], ["c", "d"]] {
            for key in keys { harness.item(key, nil) }
            harness.pass(.seconds(60))
        }
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: 2 events in lab", "out: 2 events in lab", "team: a, b, and 2 more"])
        #expect(harness.last?.summary?.lines == ["a", "b", "c", "d"] && harness.last?.summary?.count == 4)
        #expect(harness.last?.summary?.events.count == 4)
    }

    @Test("once_per does not keep it from that sink, and limit does not count it again")
    func passedGates() {
        var harness = harness {
            $0.oncePer = "key"
            $0.limit = Limit(count: 2, per: .seconds(7200), by: .rule)
        }
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down", "team: a: up → down"])
        harness.item("b", "down", was: "up")
        #expect(harness.sent.count == 4, "the limit has room for the second message")
    }

    @Test("its reminders count from the message that it got, not from the others'", arguments: [false, true])
    func reminded(isDigest: Bool) {
        var harness = RuleHarness(
            Rule.when(.becomes("down"), to: "out", "team") {
                $0.remind = Reminder(every: .seconds(3600))
                if isDigest { $0.digest = DigestPlan(release: .every(.seconds(60))) }
            })
        let end = RuleHarness.noon.advanced(by: .seconds(600))
        harness.silence(Silence(id: 1, until: end, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        #expect(harness.messages.map(\.sink) == ["out", "team"])
        harness.restart()
        harness.pass(.seconds(3599))
        #expect(harness.messages.map(\.sink) == ["out", "team", "out"])
        harness.pass(.seconds(1))
        #expect(harness.messages.map(\.sink) == ["out", "team", "out", "team"])
        #expect(harness.messages.suffix(2).allSatisfy { $0.title == "a: still down" })
    }

    @Test("a sink that knows a match which the others are told anew keeps the time of its reminders")
    func remindedAnew() {
        var harness = RuleHarness(
            Rule.when(.becomes("down"), to: "out", "team") {
                $0.remind = Reminder(every: .seconds(3600))
                $0.resolved = true
            })
        harness.item("a", "down", was: "up")
        harness.silence(team)
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.map(\.sink) == ["out", "team", "out", "out"])
        harness.pass(.seconds(1800))
        #expect(harness.messages.dropFirst(4).map(\.sink) == ["team"])
        harness.pass(.seconds(1800))
        #expect(harness.messages.dropFirst(4).map(\.sink) == ["team", "out"])
    }

    @Test("a later message of the same item takes its place")
    func later() {
        var harness = RuleHarness(Rule.when(.becomes("down", "up"), to: "out", "team"))
        harness.silence(Silence(id: 1, item: "a", untilState: "up", sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up", "team: a: down → up (+1)"])
        #expect(harness.rows.isEmpty)
    }

    @Test("beside what depends holds for all sinks, each sink gets what it did not get", arguments: [true, false])
    func beside(isFirst: Bool) {
        var harness = harness { $0.depends = ["gateway"] }
        harness.item("a", "down", was: "up")
        harness.source(.failing, "gateway")
        if isFirst { harness.pass(.seconds(3600)) }
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.source(.recovered, "gateway")
        harness.poll()
        let sent = ["out: a: up → down", "out: b: up → down", "team: a: up → down", "team: b: up → down"]
        #expect(harness.sent.sorted() == sent)
    }

    @Test("a value of once_per that one sink was told is told the other by what waits in the place of that match")
    func onceAfterReplacement() {
        var harness = RuleHarness(Rule.when(.changes(["note"]), to: "out", "team") { $0.oncePer = "state" })
        let end = RuleHarness.noon.advanced(by: .seconds(300))
        let silences = [
            Silence(id: 1, sink: "team", created: RuleHarness.noon),
            Silence(id: 2, until: end, sink: "out", created: RuleHarness.noon),
        ]
        harness.silence(silences)
        for note in 1...2 { harness.field("a", "note", "\(note)", was: "\(note - 1)", state: "s") }
        harness.pass(.seconds(300))
        harness.poll()
        #expect(harness.sent.map { $0.prefix(4) } == ["out:"])
        harness.field("a", "note", "3", was: "2", state: "s")
        harness.silence()
        harness.poll()
        #expect(harness.sent.map { $0.prefix(4) } == ["out:", "team"])
        harness.field("a", "note", "4", was: "3", state: "s")
        #expect(harness.sent.count == 2)
    }

    @Test("its end confirms no end that 'recovered_for' holds for another sink")
    func recovering() {
        var harness = harness {
            $0.resolved = true
            $0.recoveredFor = .seconds(1800)
        }
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
    }

    /// `a` is listed in a digest, which `out` got, and is over.
    private func afterDigest(_ gates: (inout Gates) -> Void = { _ in }) -> RuleHarness {
        let pause = CivilWindow(
            name: "pause", start: CivilTimeOfDay(minutes: 12 * 60), end: CivilTimeOfDay(minutes: 12 * 60 + 30),
            zone: "UTC")
        var harness = harness(.appears) {
            $0.quiet = Quiet(windows: [pause], action: .digest)
            $0.resolved = true
            gates(&$0)
        }
        harness.item("a", nil)
        harness.pass(.seconds(1800))
        harness.gone("a")
        return harness
    }

    @Test("a match that a digest lists as over is told before the next one of its item")
    func overBeforeNext() {
        var harness = afterDigest { $0.recoveredFor = .seconds(3600) }
        harness.item("a", nil)
        harness.pass(.seconds(1800))
        #expect(harness.messages.map(\.sink) == ["out", "team"])
        #expect(harness.last?.summary?.parts.map(\.isOver) == [true, false])
    }

    @Test("so it is where the next one was withheld from the other sink, too")
    func overBeforeNextForBoth() {
        var harness = afterDigest()
        var out = team
        (out.id, out.sink) = (2, "out")
        harness.silence(team, out)
        harness.item("a", nil)
        harness.pass(.seconds(1800))
        #expect(harness.messages.filter { $0.sink == "team" }.map(\.event.kind) == [.digest, .appeared])
    }
}
