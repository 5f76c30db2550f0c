// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

@Suite("Acknowledged matches")
struct AcknowledgementTests {
    private func followed(_ gates: @escaping (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(.becomes("down", "lost")) {
            $0.remind = Reminder(every: .seconds(3600))
            $0.escalate = [Escalation(after: .seconds(1800), notify: [.init(sink: "boss")])]
            gates(&$0)
        }
    }

    @Test("an acknowledged match gets no reminder and no escalation, also after a restart, and the end says who it was")
    func acknowledged() {
        var harness = RuleHarness(followed { $0.resolved = true })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        harness.acknowledge("a", note: "disk")
        harness.pass(.seconds(3600))
        harness.restart()
        harness.pass(.seconds(36_000))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.rows.values.contains { $0.acknowledgement?.user == "anna" })
        harness.item("a", "up", was: "down")
        #expect(harness.sent.count == 2)
        #expect(harness.lastText.hasSuffix("· acknowledged by anna 11 h ago: disk"))
        #expect(harness.last?.summary?.acknowledgement?.host == "desk")
        #expect(harness.rows.isEmpty)
    }

    @Test("a match that goes on after a short recovery is still acknowledged")
    func goesOn() {
        var harness = RuleHarness(
            followed {
                $0.resolved = true
                $0.recoveredFor = .seconds(300)
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        harness.acknowledge("a")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(20))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(7200))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test(
        "a match that was not acknowledged itself gets its reminders and escalations, told or not",
        arguments: [false, true])
    func another(isSilenced: Bool) {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        harness.pass(.seconds(600))
        if isSilenced { harness.silence(Silence(id: 1, item: "a", drops: true, created: harness.now.wall)) }
        harness.item("a", "lost", was: "down")
        harness.silence()
        if !isSilenced { #expect(harness.lastText.hasSuffix("· before: acknowledged by anna 10 min ago")) }
        harness.pass(.seconds(4200))
        let told = isSilenced ? [] : ["out: a: down → lost"]
        #expect(harness.sent == ["out: a: up → down"] + told + ["boss: a: down → lost", "out: a: still lost"])
        #expect(!harness.rows.values.contains { $0.acknowledgement != nil })
    }

    @Test("what was due meanwhile is sent when the acknowledgement is taken back")
    func undo() {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        harness.pass(.seconds(7200))
        harness.acknowledge("a", isUndo: true)
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down", "out: a: still down"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 4)
    }

    @Test("an escalation that a silence of its sink withholds is not told while the match is acknowledged")
    func silencedEscalation() {
        var harness = RuleHarness(followed())
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.acknowledge("a")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down"])
        harness.acknowledge("a", isUndo: true)
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down"])
    }

    @Test("an acknowledgement of a match that goes on is of the later one, which a withheld escalation tells")
    func silencedAndGoesOn() {
        var harness = RuleHarness(
            followed {
                $0.resolved = true; $0.recoveredFor = .seconds(600)
            })
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        harness.item("a", "up", was: "down")
        let later = harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        harness.silence()
        harness.acknowledge("a", isUndo: true)
        harness.pass(.zero)
        #expect(harness.messages.map(\.sink) == ["out", "boss"])
        #expect(harness.last?.id == later.id)
    }

    @Test("an acknowledgement of an earlier match, or of one that is over, changes nothing")
    func late() {
        var harness = RuleHarness(followed { $0.resolved = true })
        let first = harness.item("a", "down", was: "up")
        harness.item("a", "lost", was: "down")
        harness.acknowledge("a", match: first.id.description)
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 4)
        harness.silence(Silence(id: 1, item: "a", created: harness.now.wall))
        let last = harness.item("a", "up", was: "lost")
        harness.acknowledge("a", match: last.id.description)
        #expect(harness.rows.values.allSatisfy { $0.firingMatch == nil })
        harness.silence()
        #expect(!harness.lastText.contains("acknowledged"))
    }

    @Test(
        "an escalation that a silence withheld waits until the match is acknowledged no longer, or is another one",
        arguments: [false, true])
    func withheldEscalation(isUndo: Bool) {
        var harness = RuleHarness(followed { $0.remind = nil })
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 1, item: "a", created: harness.now.wall))
        harness.pass(.seconds(1800))
        harness.acknowledge("a")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down"])
        if isUndo { harness.acknowledge("a", isUndo: true) } else { harness.item("a", "lost", was: "down") }
        harness.pass(.zero)
        let later = isUndo ? ["boss: a: up → down"] : ["out: a: down → lost", "boss: a: down → lost"]
        #expect(harness.sent == ["out: a: up → down"] + later)
    }

    @Test("a reload keeps it, and gives an edited rule no reminder of what is acknowledged")
    func reload() {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        var edited = followed { $0.remind = Reminder(every: .seconds(60)) }
        edited.identity = 1
        harness.reload(edited)
        harness.pass(.seconds(7200))
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.rows.values.contains { $0.acknowledgement != nil })
    }

    @Test("a watcher that takes the rule over knows it")
    func takeOver() {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        harness.takeOver()
        harness.pass(.seconds(7200))
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("the recovery of a source says who acknowledged its failure")
    func health() {
        var harness = RuleHarness(
            Rule.when(.sourceState([.failing, .recovered])) { $0.remind = Reminder(every: .seconds(3600)) })
        harness.source(.failing, "lab", "refused")
        harness.acknowledge(nil)
        harness.pass(.seconds(7200))
        harness.source(.recovered, "lab", "refused")
        #expect(harness.sent.count == 2)
        #expect(harness.lastText.contains("acknowledged by anna 2 h ago"))
    }

    @Test("status says who works on a match instead of when the next reminder is due")
    func waitingText() {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        harness.acknowledge("a")
        harness.pass(.seconds(300))
        let row = harness.rows.values.first
        #expect(row?.waitingReason == "acknowledged" && row?.waitingUntil == nil)
        #expect(
            row?.waitingText(of: followed(), at: harness.now.wall) == "acknowledged: a, down, by anna 5 min ago"
        )
    }

    @Test("the outlook tells what each sink waits for, and changes nothing")
    func outlook() {
        var harness = RuleHarness(followed())
        harness.item("a", "down", was: "up")
        func outlook() -> [RuleEngine.Outlook] {
            harness.engine.outlook(of: followed(), Subject(source: "lab", key: "a"), at: harness.now)
        }
        let due = harness.now.steady
        #expect(
            outlook().map(\.outcome)
                == [3600, 1800].map {
                    .waits(gate: "", reason: "it is not due", until: due.advanced(by: .seconds($0)))
                })
        harness.acknowledge("a")
        let reason = "acknowledged by anna on desk at 2026-11-21T12:00:00.000Z"
        #expect(
            outlook().map(\.outcome)
                == Array(repeating: .waits(gate: "acknowledged", reason: reason, until: nil), count: 2))
        harness.silence(Silence(id: 1, item: "a", created: harness.now.wall))
        harness.item("a", "lost", was: "down")
        let first = outlook().first
        #expect(first?.sink == "out" && first?.content == .match)
        #expect(first?.outcome == .waits(gate: "silenced", reason: "silenced: item 'a'", until: nil))
        let rows = harness.engine.remembered
        _ = outlook()
        #expect(Set(rows) == Set(harness.engine.remembered))
        #expect(harness.engine.outlook(of: followed(), Subject(source: "lab", key: "b"), at: harness.now).isEmpty)
    }
}

extension RuleHarness {
    /// Acknowledges what is true of an item now, or of a source.
    /// - Parameter match: nil for the present one.
    mutating func acknowledge(_ key: String?, match: String? = nil, note: String? = nil, isUndo: Bool = false) {
        let subject = Subject(source: "lab", key: key)
        let present = rows.values.first { $0.subject == subject }?.firingMatch?.id.description
        let acknowledgement = Acknowledgement(
            match: match ?? present ?? "", user: "anna", host: "desk", note: note, time: now.wall)
        take(engine.acknowledge("r", subject, isUndo ? nil : acknowledgement, at: now, identifier: { Identifier("x") }))
    }

    /// Lets another engine take over what the journal has.
    mutating func takeOver() {
        var other = RuleEngine(engine.rules, civil: ZoneTime())
        other.take(rows.mapValues { Optional($0) }, isComplete: true, at: now)
        engine = other
    }
}
