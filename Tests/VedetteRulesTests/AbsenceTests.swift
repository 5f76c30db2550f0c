// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Messages about how many events match")
struct AbsenceTests {
    private func backup(_ gates: (inout Gates) -> Void = { _ in }) -> Rule {
        Rule.when(.all([.source(["lab"], text: "'lab'"), .appears])) {
            $0.nothing = .seconds(86_400)
            gates(&$0)
        }
    }

    @Test("nothing: a message follows when nothing matched for so long, at the next good poll, once")
    func nothing() {
        var harness = RuleHarness(backup())
        harness.item("monday", nil)
        harness.pass(.seconds(86_399))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.sent.isEmpty && harness.needsPoll, "a poll shows whether there really was nothing")
        harness.poll()
        #expect(harness.sent == ["out: No match of 'r' for 1 d"])
        harness.pass(.seconds(86_400 * 3))
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("nothing: each match starts the time anew, and none is a message of its own")
    func anew() {
        var harness = RuleHarness(backup())
        for day in 1...3 {
            harness.item("day \(day)", nil)
            harness.pass(.seconds(80_000))
            harness.poll()
        }
        #expect(harness.sent.isEmpty)
        harness.restart()
        harness.pass(.seconds(6400))
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("nothing: the time starts with the rule, and what came while the watcher was down counts")
    func start() {
        var harness = RuleHarness(backup())
        harness.restart()
        harness.sleep(.seconds(2 * 86_400))
        harness.restart(unconfirmed: ["lab"])
        harness.pass(.seconds(60))
        #expect(harness.sent.isEmpty)
        harness.poll(events: [harness.event(.appeared, key: "late", "s", was: "")])
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(86_400))
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("nothing with resolved tells the first match after the silence")
    func resolved() {
        var harness = RuleHarness(backup { $0.resolved = true })
        harness.item("a", nil)
        harness.pass(.seconds(86_400))
        harness.poll()
        harness.item("b", nil)
        harness.item("c", nil)
        #expect(harness.sent == ["out: No match of 'r' for 1 d", "out: b"])
    }

    @Test("nothing with remind and escalate repeats the message until a match, and not while the source fails")
    func reminded() {
        var harness = RuleHarness(
            backup {
                $0.remind = Reminder(every: .seconds(3600))
                $0.escalate = [Escalation(after: .seconds(5400), notify: [.init(sink: "boss")])]
            })
        harness.item("monday", nil)
        harness.pass(.seconds(86_400))
        harness.poll()
        harness.pass(.seconds(3600))
        harness.restart()
        harness.pass(.seconds(1800))
        #expect(
            harness.sent == [
                "out: No match of 'r' for 1 d", "out: No match of 'r' for 1 d 1 h", "boss: No match of 'r' for 1 d",
            ])
        harness.poll(isGood: false)
        harness.pass(.seconds(1800))
        #expect(harness.sent.count == 3)
        harness.poll()
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 4)
        harness.item("a", nil)
        harness.pass(.seconds(80_000))
        #expect(harness.sent.count == 4)
    }

    @Test("nothing with escalate: a step that is due while the source fails follows when it answers again")
    func escalatedLater() {
        var harness = RuleHarness(
            backup { $0.escalate = [Escalation(after: .seconds(5400), notify: [.init(sink: "boss")])] })
        harness.item("monday", nil)
        harness.pass(.seconds(86_400))
        harness.poll()
        harness.poll(isGood: false)
        harness.pass(.seconds(7200))
        #expect(harness.sent == ["out: No match of 'r' for 1 d"])
        harness.poll()
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "boss: No match of 'r' for 1 d")
    }

    @Test("at_least: the match that fills the count within the span is a message, and the count starts anew")
    func atLeast() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.atLeast = Limit(count: 3, per: .seconds(600), by: .rule) })
        for key in ["a", "b"] { harness.item(key, nil) }
        #expect(harness.sent.isEmpty)
        #expect(harness.suppressed == ["a: 1 of 3 within 10 min", "b: 2 of 3 within 10 min"])
        harness.restart()
        harness.item("c", nil)
        #expect(harness.sent == ["out: c (+2)"])
        for key in ["d", "e"] { harness.item(key, nil) }
        harness.pass(.seconds(600))
        harness.item("f", nil)
        #expect(harness.sent.count == 1, "the first two are too old")
        harness.pass(.seconds(600))
        #expect(harness.rows.isEmpty)
    }

    @Test("at_least by a field counts each of its values apart")
    func byField() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.atLeast = Limit(count: 2, per: .seconds(600), by: .field("team")) })
        for (key, team) in [("a", "x"), ("b", "y"), ("c", "x")] {
            harness.item(key, nil, fields: ["team": .text(team)])
        }
        #expect(harness.sent == ["out: c (+1)"])
    }

    @Test("nothing: the time starts with the rule, also when nothing ever matches")
    func never() {
        var harness = RuleHarness(
            Rule.when(.all([.source(["web", "lab"], text: "'lab', 'web'"), .appears])) { $0.nothing = .seconds(3600) })
        harness.restart()
        harness.pass(.seconds(3600))
        harness.poll()
        #expect(harness.sent == ["out: No match of 'r' for 1 h"])
        #expect(harness.last?.source == "lab" && harness.last?.summary?.count == 0)
    }

    @Test("nothing: while one source of the rule fails, a good poll of another one confirms it")
    func anySource() {
        var harness = RuleHarness(
            Rule.when(.all([.source(["broken", "lab"], text: "'broken', 'lab'"), .appears])) {
                $0.nothing = .seconds(3600)
                $0.remind = Reminder(every: .seconds(3600))
            })
        harness.restart()
        #expect(harness.engine.nextConfirmation(of: "lab") == nil, "one source is polled for it")
        harness.poll("broken", isGood: false)
        harness.source(.failing, "broken")
        #expect(harness.engine.sourcesConcerned(by: ["broken"]) == ["broken", "lab"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty && harness.needsPoll)
        harness.poll()
        #expect(harness.sent == ["out: No match of 'r' for 1 h"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2)
        harness.poll(isGood: false)
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2, "no source can be read")
    }

    @Test(
        "nothing: a poll confirms it only when each source of the rule was read again or fails",
        arguments: [false, true])
    func unreadSource(restarts: Bool) {
        for end in ["match", "good poll", "failure"] {
            var harness = RuleHarness(
                Rule.when(.all([.source(["lab", "nightly"], text: "'lab', 'nightly'"), .appears])) {
                    $0.nothing = .seconds(3600)
                    $0.remind = Reminder(every: .seconds(3600))
                })
            harness.restart()
            if restarts {
                harness.sleep(.seconds(3600))
                harness.restart(unconfirmed: ["lab", "nightly"])
            } else {
                harness.poll("nightly", isGood: false)
                harness.pass(.seconds(3600))
            }
            harness.poll()
            harness.poll()
            #expect(harness.sent.isEmpty)
            #expect(harness.engine.nextConfirmation(of: "nightly") == RuleHarness.noon.advanced(by: .seconds(3600)))
            switch end {
            case "match":
                harness.item("a", nil, source: "nightly")
                harness.poll("nightly")
                harness.poll()
                #expect(harness.sent.isEmpty)
                continue
            case "good poll": harness.poll("nightly")
            default:
                harness.source(.failing, "nightly")
                #expect(harness.sent.isEmpty && harness.needsPoll)
                harness.poll()
            }
            #expect(harness.sent == ["out: No match of 'r' for 1 h"], "\(end)")
            if end == "good poll" { harness.poll("nightly", isGood: false) }
            harness.pass(.seconds(3600))
            #expect(harness.sent.count == (end == "good poll" ? 1 : 2), "a reminder waits, too")
        }
    }

    @Test("nothing: the interests of all sources equal the interest of each one")
    func interests() {
        func rule(_ name: String, _ sources: Set<String>) -> Rule {
            Rule.when(.all([.source(sources, text: ""), .appears]), name: name) { $0.nothing = .seconds(3600) }
        }
        var harness = RuleHarness(
            rule("one", ["lab", "shop"]), rule("two", ["lab", "web"]), rule("three", ["shop", "web"]))
        harness.restart()
        harness.poll("lab", isGood: false)
        harness.source(.failing, "lab")
        harness.poll("web", isGood: false)
        harness.sleep(.seconds(60))
        harness.item("a", nil, source: "shop")
        let interests = harness.engine.interests
        #expect(interests.count == 3)
        for source in ["lab", "shop", "web"] { #expect(interests[source] == harness.engine.interest(in: source)) }
    }

    @Test(
        "nothing: the time goes on, and what was told of it, when the source has another name",
        arguments: [false, true])
    func renamedSource(byRestart: Bool) {
        func rule(_ source: String) -> Rule {
            Rule.when(.all([.source([source], text: source), .appears])) {
                $0.nothing = .seconds(3600)
                $0.resolved = true
            }
        }
        var harness = RuleHarness(rule("old"))
        harness.restart()
        harness.edit(rule("lab"), byRestart: byRestart)
        harness.forgetSources(except: ["lab"])
        harness.pass(.seconds(3600))
        harness.poll()
        #expect(harness.sent == ["out: No match of 'r' for 1 h"])
        harness.edit(rule("new"), byRestart: byRestart)
        harness.forgetSources(except: ["new"])
        #expect(harness.sent.count == 1)
        harness.item("a", nil, source: "new")
        #expect(harness.sent.count == 2, "the absence is over")
        harness.pass(.seconds(3600))
        harness.poll("new")
        #expect(harness.sent.count == 3)
    }

    @Test("nothing: a match takes back the message that a silence or a quiet time holds")
    func takenBack() {
        let end = RuleHarness.noon.advanced(by: .seconds(2 * 86_400))
        var harness = RuleHarness(backup())
        harness.item("monday", nil)
        harness.silence(Silence(id: 1, rule: "r", until: end, created: RuleHarness.noon))
        harness.pass(.seconds(86_400))
        harness.poll()
        #expect(harness.rows.values.contains { $0.waitingReason == "silenced" })
        harness.item("tuesday", nil)
        harness.silence()
        #expect(harness.sent.isEmpty && !harness.rows.values.contains { $0.waitingReason == "silenced" })

        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 11 * 60), end: CivilTimeOfDay(minutes: 13 * 60), zone: "UTC")
        harness = RuleHarness(backup { $0.quiet = Quiet(windows: [window], action: .defer) })
        harness.item("monday", nil)
        harness.pass(.seconds(86_400))
        harness.poll()
        #expect(harness.rows.values.contains { $0.waitingReason == "deferred" })
        harness.item("tuesday", nil)
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty)
    }

    @Test("at_least: a match that is exactly as old as the span counts no more, also while no timer fires")
    func exactlyAsOld() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.atLeast = Limit(count: 2, per: .seconds(600), by: .rule) })
        harness.item("a", nil)
        harness.sleep(.seconds(600))
        harness.item("b", nil)
        #expect(harness.sent.isEmpty)
        harness.sleep(.seconds(599))
        harness.item("c", nil)
        #expect(harness.sent == ["out: c (+1)"])
    }

    @Test("at_least: each match is forgotten when the span is over")
    func forgotten() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.atLeast = Limit(count: 5, per: .seconds(600), by: .rule) })
        for (key, wait) in [("a", 100), ("b", 100), ("c", 400)] {
            harness.item(key, nil)
            harness.pass(.seconds(wait))
        }
        var kept: [Int] = []
        for _ in 1...3 {
            kept.append(harness.rows.values.first?.times.count ?? 0)
            harness.pass(.seconds(100))
        }
        #expect(kept == [2, 1, 0])
    }
}
