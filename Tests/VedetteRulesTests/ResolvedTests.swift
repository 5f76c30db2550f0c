// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteText

@Suite("resolved tells the end of what a rule told, and only of that")
struct ResolvedTests {
    private func rule(_ condition: Condition = .becomes("down"), _ gates: (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(condition) {
            $0.resolved = true
            gates(&$0)
        }
    }

    @Test("the end of a match is told once, over a restart, with how long it lasted")
    func end() {
        var harness = RuleHarness(rule())
        let down = harness.item("a", "down", was: "up")
        harness.sleep(.seconds(300))
        harness.restart()
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        #expect(harness.last?.kind == .resolved && harness.last?.summary?.stood == 300)
        #expect(harness.last?.summary?.events == [down.id.description])
        harness.item("a", "idle", was: "up")
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a 'for' that never fired announces no recovery")
    func neverFired() {
        var harness = RuleHarness(rule { $0.pendingFor = .seconds(60) })
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent.isEmpty)
    }

    @Test("a match that a silence held announces no recovery")
    func silenced() {
        var harness = RuleHarness(rule())
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down"])
        harness.silence(Silence(id: 2, rule: "r", created: RuleHarness.noon))
        harness.item("b", "down", was: "up")
        harness.item("b", "up", was: "down")
        harness.item("a", "up", was: "down")
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+1)"], "what was told is resolved after it")
    }

    @Test("the recovery and the absence of what was told are told")
    func sourcesAndAbsence() {
        var harness = RuleHarness(rule(.any([.sourceState([.failing]), .becomes("down")])))
        harness.source(.failing, "y", "status 500")
        harness.source(.recovered, "y", "status 500")
        harness.item("a", "down", was: "up")
        harness.gone("a", "down")
        #expect(
            harness.sent == ["out: y is failing", "out: y answers again", "out: a: up → down", "out: a is gone"])
    }

    @Test("a recovery in a quiet time is told at its end, unless it is down again")
    func quiet() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [night], action: .defer) }, at: RuleHarness.time("2026-11-21T21:00:00Z"))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(7200))
        for key in ["a", "b"] { harness.item(key, "up", was: "down") }
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: b: up → down", "out: a: down → up"])
    }

    @Test("what begins again while a sink's end is withheld is compared with the value that this sink was told")
    func otherValueMeanwhile() {
        var two = rule(.becomes("down", "limp"))
        two.notify.append(.init(sink: "team"))
        var harness = RuleHarness(two)
        harness.item("a", "down", was: "up")
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "limp", was: "down")
        harness.item("a", "up", was: "limp")
        harness.restart()
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.filter { $0.sink == "team" }.count == 1, "it knows that it is down")
        #expect(harness.messages.filter { $0.sink == "out" }.count == 4)
        harness.item("a", "up", was: "down")
        #expect(harness.messages.suffix(2).map(\.sink) == ["out", "team"])
        #expect(harness.messages.suffix(2).allSatisfy { $0.event.kind == .resolved })
        harness.item("a", "limp", was: "up")
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "limp")
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.silence()
        #expect(harness.messages.last { $0.sink == "team" }?.event.item?.state == "down", "it knows another value")
        #expect(harness.rows.count == 1)
    }

    private var lasting: Rule { rule { $0.recoveredFor = .seconds(300) } }

    @Test("recovered_for: an end is told once it lasted and a poll shows it; what is down again before was never up")
    func recoveredFor() {
        var harness = RuleHarness(lasting)
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(200))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(200))
        harness.item("a", "up", was: "down")
        harness.restart()
        harness.pass(.seconds(299))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.rows.values.map(\.waitingReason) == ["recovering"])
        harness.pass(.seconds(1))
        #expect(harness.sent.count == 1 && harness.needsPoll, "a poll shows whether it is still up")
        harness.poll(isGood: false)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+2)"])
        #expect(harness.rows.isEmpty)
    }

    @Test("recovered_for: a change of what is over does not begin its time anew; another value that matches is told")
    func recoveredToOther() {
        var harness = RuleHarness(
            rule(.becomes("down", "broken")) { $0.recoveredFor = .seconds(300) })
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(200))
        harness.item("a", "idle", was: "up")
        harness.pass(.seconds(100))
        harness.poll()
        #expect(harness.sent.last == "out: a: down → up")
        harness.item("b", "down", was: "up")
        harness.item("b", "up", was: "down")
        harness.item("b", "broken", was: "up")
        harness.pass(.seconds(600))
        harness.poll()
        #expect(harness.sent.suffix(2) == ["out: b: up → down", "out: b: up → broken (+1)"])
    }

    @Test("recovered_for counts from the last end, also where the match between was too short for 'for'")
    func recoveredAfterHeld() {
        var harness = RuleHarness(
            rule {
                $0.pendingFor = .seconds(120)
                $0.recoveredFor = .seconds(300)
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(120))
        harness.poll()
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(200))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(299))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(1))
        harness.poll()
        #expect(harness.sent.count == 2)
    }

    @Test("recovered_for: a good poll of one source confirms no end of another")
    func recoveredElsewhere() {
        var harness = RuleHarness(lasting)
        for (key, source) in [("a", "lab"), ("b", "shop")] {
            harness.item(key, "down", was: "up", source: source)
            harness.item(key, "up", was: "down", source: source)
        }
        harness.pass(.seconds(300))
        harness.poll()
        #expect(harness.sent == ["out: a: up → down", "out: b: up → down", "out: a: down → up"])
        harness.poll("shop")
        #expect(harness.sent.last == "out: b: down → up")
    }

    @Test("recovered_for: an end whose match goes on lets no other end go without a poll")
    func goesOnBesideOthers() {
        var harness = RuleHarness(lasting)
        for key in ["a", "b"] {
            harness.item(key, "down", was: "up")
            harness.item(key, "up", was: "down")
        }
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(300))
        #expect(harness.sent.count == 2 && harness.needsPoll)
        harness.poll()
        #expect(harness.sent.dropFirst(2) == ["out: b: down → up"])
        #expect(!harness.needsPoll)
    }

    @Test("recovered_for: what is old again by then is not told over with the ends of other items")
    func oldAgain() {
        var harness = RuleHarness(rule(.older("seen", .seconds(20))) { $0.recoveredFor = .seconds(40) })
        for key in ["a", "b"] {
            harness.field(key, "seen", "2026-11-21T12:00:00Z", was: "2026-11-21T11:00:00Z", state: "up")
        }
        harness.pass(.seconds(30))
        harness.poll()
        for key in ["a", "b"] {
            harness.field(key, "seen", "2026-11-21T12:00:30Z", was: "2026-11-21T12:00:00Z", state: "up")
        }
        harness.poll(isGood: false)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.messages.map(\.event.kind) == [.changed, .changed, .changed, .changed])
    }

    @Test("recovered_for of a source needs no poll: its good polls are what lasts")
    func recoveredSource() {
        var harness = RuleHarness(rule(.sourceState([.failing])) { $0.recoveredFor = .seconds(300) })
        harness.source(.failing, "y", "status 500")
        harness.source(.recovered, "y", "status 500")
        harness.pass(.seconds(299))
        #expect(harness.sent == ["out: y is failing"])
        harness.source(.failing, "y", "status 500")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: y is failing"])
        harness.source(.recovered, "y", "status 500")
        harness.pass(.seconds(300))
        #expect(harness.sent.count == 2)
    }

    @Test("the sinks of an escalation get the end, too")
    func escalated() {
        var harness = RuleHarness(
            rule { $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])] })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "boss: a: down → up"])
    }

    @Test("a value of 'until' ends the reminders, not the match")
    func until() {
        var harness = RuleHarness(
            rule(.appears) { $0.remind = Reminder(every: .seconds(600), until: ["seen"]) })
        harness.item("a", "new")
        harness.item("a", "seen", was: "new")
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1)
        harness.gone("a", "seen")
        #expect(harness.sent == ["out: a: new", "out: a is gone"])
    }

    @Test("a match that the limit withheld and that is over is not announced beside the recovery")
    func limited() {
        var harness = RuleHarness(rule { $0.limit = Limit(count: 1, per: .seconds(600)) })
        for state in ["down", "up", "down", "up"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        // Its count waits for the next message, for a week.
        harness.pass(.seconds(8 * 86_400))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    /// Lets an item go down and come up again, or vanish, and returns the message about the end.
    private func end(
        title: String, text: String? = nil, isGone: Bool = false, _ change: (inout Rule.Ending) -> Void = { _ in }
    ) throws -> Message {
        func template(_ text: String) throws -> MustacheTemplate { try MustacheTemplate(text, names: .message) }
        var rule = rule()
        rule.priority = .high
        rule.notify = [.init(sink: "out", title: try template(title), text: try text.map(template))]
        change(&rule.ending)
        var harness = RuleHarness(rule)
        harness.item("web", "down", was: "up")
        #expect(harness.messages.first?.priority == .high)
        if isGone { harness.gone("web", "down") } else { harness.item("web", "up", was: "down") }
        #expect(harness.messages.count == 2)
        return try #require(harness.messages.last)
    }

    @Test("a title and a text that would say that the match is true give way to the usual ones, and nothing is urgent")
    func titleOfTheMatch() throws {
        let end = try end(title: "{{item.name}} is DOWN", text: "Wake up: {{item.name}} went down")
        #expect(end.title == "web: down → up" && end.text == "lab · for 0 s" && end.priority == .normal)
        let shown = try self.end(title: "{{item.name}} is DOWN", text: "{{item.name}} is {{item.state}}")
        #expect(shown.title == "web: down → up" && shown.text == "web is up" && shown.priority == .normal)
    }

    @Test(
        "a title that shows what is so now is taken for both",
        arguments: [
            ("{{#resolved}}OK{{/resolved}}{{^resolved}}DOWN{{/resolved}}", "OK"), ("now {{change.to}}", "now up"),
            ("{{item.name}} is {{item.state}}", "web is up"), ("{{event.kind}}", "resolved"),
        ])
    func titleOfBoth(title: String, shown: String) throws {
        let end = try end(title: title)
        #expect(end.title == shown && end.priority == .high)
    }

    @Test("an item that is gone has the state of before, which no end shows")
    func titleOfGone() throws {
        #expect(try end(title: "{{item.name}} is {{item.state}}", isGone: true).title == "web is gone")
        #expect(try end(title: "{{#resolved}}OK{{/resolved}}", isGone: true).title == "OK")
    }

    @Test("the end has the title, text and priority that 'resolved' gives it")
    func ownEnd() throws {
        let same = try end(title: "web is DOWN") { $0.title = .same }
        #expect(same.title == "web is DOWN" && same.priority == .high)
        let own = try end(title: "web is DOWN", text: "{{item.state}}") {
            $0.title = (try? MustacheTemplate("{{item.name}} is back", names: .message)).map(Rule.Ending.Text.own)
            $0.text = .same
        }
        #expect(own.title == "web is back" && own.text == "up" && own.priority == .normal)
        #expect(try end(title: "web is DOWN") { $0.priority = .low }.priority == .low)
    }

    @Test("only the sinks that 'resolved' names are told the end")
    func someSinks() {
        var rule = rule()
        rule.notify = ["a", "b"].map { .init(sink: $0) }
        rule.ending.sinks = ["b"]
        var harness = RuleHarness(rule)
        harness.item("web", "down", was: "up")
        harness.item("web", "up", was: "down")
        #expect(harness.sent.suffix(1) == ["b: web: down → up"] && harness.sent.count == 3)
        #expect(harness.suppressed == ["web: down → up: 'resolved' names other sinks"] && harness.rows.isEmpty)
    }

    @Test("the ends of failures of one server are an end for templates, too")
    func endsOfServer() throws {
        var rule = rule(.sourceState([.failing]))
        rule.notify = [.init(sink: "out", title: try MustacheTemplate("{{#resolved}}OK{{/resolved}}", names: .message))]
        var harness = RuleHarness(rule)
        for kind in [Event.Kind.failing, .recovered] {
            for source in ["a", "b", "c"] { harness.source(kind, source, "status 500") }
            harness.pass(.seconds(60))
        }
        #expect(harness.sent == ["out: ", "out: ", "out: OK", "out: OK"])
    }

    @Test("a match that was told twice lasted from its first message to its end")
    func toldTwice() {
        var harness = RuleHarness(rule(.becomes("down", "lost")))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(600))
        harness.item("a", "lost", was: "down")
        harness.pass(.seconds(600))
        harness.item("a", "up", was: "lost")
        #expect(harness.last?.kind == .resolved && harness.last?.summary?.stood == 1200)
    }

    @Test("thirty ends in one group of a limit are one message, and those that follow within its time are another one")
    func storm() {
        var harness = RuleHarness(rule { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        let hosts = (10..<40).map { "h\($0)" }
        harness.poll(events: hosts.map { harness.event(.changed, key: $0, "down", was: "up") })
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 2)
        harness.pass(.seconds(3600))
        harness.poll(events: hosts.dropFirst(3).map { harness.event(.changed, key: $0, "up", was: "down") })
        #expect(harness.sent.count == 3)
        #expect(harness.last?.summary?.parts.count == 27)
        for host in hosts.prefix(2) { harness.item(host, "up", was: "down") }
        #expect(harness.sent.count == 3)
        harness.restart()
        harness.poll()
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 4)
        #expect(harness.last?.summary?.parts.map(\.key) == ["h10", "h11"])
        harness.item("h12", "down", was: "down")
        harness.item("h12", "up", was: "down")
        #expect(harness.sent.last == "out: h12: down → up", "the first end since the group's last message")
        harness.pass(.seconds(3600))
        #expect(harness.rows.isEmpty)
    }

    @Test(
        "a match that was dropped is not what sinks were told: its value is told when it comes again, and reminders name it"
    )
    func dropped() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            rule(.becomes("warn", "crit")) {
                $0.quiet = Quiet(windows: [night], action: .defer)
                $0.remind = Reminder(every: .seconds(7200))
            })
        let warn = harness.item("a", "warn", was: "ok")
        harness.silence(Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        let crit = harness.item("a", "crit", was: "warn")
        harness.silence()
        harness.restart()
        harness.poll()
        harness.pass(.seconds(7200))
        #expect(harness.last?.kind == .reminder && harness.last?.summary?.events == [crit.id.description])
        harness.pass(.seconds(9 * 3600))
        let count = harness.sent.count
        harness.item("a", "ok", was: "crit")
        let again = harness.item("a", "crit", was: "ok")
        #expect(harness.sent.count == count)
        harness.pass(.seconds(8 * 3600 + 60))
        #expect(harness.messages.dropFirst(count).first?.event.id == again.id)
        harness.item("a", "ok", was: "crit")
        #expect(harness.last?.summary?.events == [again.id.description])
        var ended = RuleHarness(rule(.becomes("warn", "crit")))
        let told = ended.item("a", "warn", was: "ok")
        ended.silence(Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        ended.item("a", "crit", was: "warn")
        ended.silence()
        ended.item("a", "ok", was: "crit")
        #expect(ended.last?.summary?.events == [told.id.description] && warn.id != crit.id)
    }

    @Test("a quiet time or a silence that drops matches keeps the end of what was told before it")
    func kept() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            rule { $0.quiet = Quiet(windows: [night], action: .drop) }, at: RuleHarness.time("2026-11-21T21:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(7200))
        harness.item("a", "up", was: "down")
        harness.item("b", "down", was: "up")
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        harness.item("c", "down", was: "up")
        harness.silence(Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        harness.item("c", "up", was: "down")
        harness.silence()
        #expect(harness.sent.last == "out: c: down → up")
    }
}
