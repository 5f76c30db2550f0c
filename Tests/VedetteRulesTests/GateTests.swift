// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Gates")
struct GateTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    @Test("limit withholds further messages and ends in one with the latest state and the count")
    func limit() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        harness.item("a", "down", was: "up")
        for _ in 1...3 {
            harness.pass(.seconds(60))
            harness.item("a", "up", was: "down")
            harness.item("a", "down", was: "up")
        }
        harness.item("a", "up", was: "down")
        #expect(harness.sent == ["out: a: up → down"])
        #expect(harness.suppressed.count == 3)
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+3)"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2)
        #expect(harness.rows.isEmpty)
    }

    @Test("a value too long for an index is remembered by its digest, and told from others that begin alike")
    func longValues() {
        func appear(_ harness: inout RuleHarness) {
            let long = String(repeating: "v", count: 5000)
            for (key, build) in [("a", long + "1"), ("b", long + "2"), ("c", long + "1")] {
                harness.item(key, nil, fields: ["build": .text(build)])
            }
            #expect(!harness.rows.isEmpty && harness.rows.keys.allSatisfy { $0.name.utf8.count < 200 })
        }
        var once = RuleHarness(Rule.when(.appears) { $0.oncePer = "build" })
        appear(&once)
        #expect(once.sent == ["out: a", "out: b"])
        var limited = RuleHarness(
            Rule.when(.appears) { $0.limit = Limit(count: 1, per: .seconds(60), by: .field("build")) })
        appear(&limited)
        #expect(limited.sent == ["out: a", "out: b"])
        limited.pass(.seconds(61))
        #expect(limited.sent == ["out: a", "out: b", "out: c"])
    }

    @Test("limit slides: a message is sent again when the oldest has left the window")
    func slides() {
        var harness = RuleHarness(Rule.when(.appears) { $0.limit = Limit(count: 2, per: .seconds(100), by: .rule) })
        for (key, wait) in [("a", 40), ("b", 40), ("c", 20), ("d", 40), ("e", 0)] {
            harness.item(key, nil)
            harness.pass(.seconds(wait))
        }
        #expect(harness.sent == ["out: a", "out: b", "out: c", "out: d"])
    }

    @Test("limit: a message that is exactly as old as the window counts no more, also while no timer fires")
    func exactlyAsOld() {
        var harness = RuleHarness(Rule.when(.appears) { $0.limit = Limit(count: 1, per: .seconds(100), by: .rule) })
        harness.item("a", nil)
        harness.sleep(.seconds(100))
        harness.item("b", nil)
        #expect(harness.sent == ["out: a", "out: b"])
    }

    @Test("limit by a field counts each of its values apart")
    func byField() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.limit = Limit(count: 1, per: .seconds(600), by: .field("team")) })
        harness.item("a", nil, fields: ["team": "x"])
        harness.item("b", nil, fields: ["team": "y"])
        harness.item("c", nil, fields: ["team": "x"])
        #expect(harness.sent == ["out: a", "out: b"])
    }

    @Test("quiet: drop suppresses a match for good")
    func drop() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], action: .drop) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(12 * 3600))
        #expect(harness.sent.isEmpty)
        #expect(harness.suppressed == ["a: up → down: quiet during 'night' until 2026-11-22T07:00:00.000Z"])
        harness.item("a", "down", was: "up")
        #expect(harness.sent.count == 1)
    }

    @Test("quiet: defer sends the latest match in the morning, if it is still true")
    func deferred() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "lost")) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        harness.item("a", "lost", was: "down")
        harness.item("b", "up", was: "down")
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(7 * 3600 - 1))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: down → lost (+1)"])
        #expect(harness.suppressed.contains("b: up → down: no longer so after 1 h"))
        let replaced = "a: up → down: quiet during 'night' until 2026-11-22T07:00:00.000Z; a later one follows"
        #expect(harness.suppressed.contains(replaced))
    }

    @Test("a deferred message goes to the rule's own sinks, not to the sinks of an escalation")
    func deferredTarget() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
                $0.escalate = [Escalation(after: .seconds(600), notify: [.init(sink: "boss")])]
            }, at: RuleHarness.time("2026-11-21T23:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "boss: a: up → down")
    }

    @Test("windows that cover the whole day are cut after a week")
    func alwaysQuiet() {
        let halves = [(0, 12), (12, 24)].map { start, end in
            CivilWindow(
                name: "w", start: CivilTimeOfDay(minutes: start * 60), end: CivilTimeOfDay(minutes: end * 60),
                zone: "UTC")
        }
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: halves, action: .drop) })
        harness.item("a", "down", was: "up")
        #expect(harness.suppressed == ["a: up → down: quiet during 'w' until 2026-11-28T12:00:00.000Z"])
    }

    @Test("quiet: digest sends the matches of the night in one message")
    func nightDigest() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.quiet = Quiet(windows: [Self.night], action: .digest) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        for n in 1...30 { harness.item("n\(n)", nil) }
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: 30 events in lab"])
    }

    @Test("a quiet time and a digest by a field with the value 'quiet' list in two digests")
    func quietValue() {
        var harness = RuleHarness(
            Rule.when(.appears) {
                $0.quiet = Quiet(windows: [Self.night], action: .digest)
                $0.digest = DigestPlan(release: .every(.seconds(8 * 3600)), by: .field("team"))
            },
            at: RuleHarness.time("2026-11-21T21:59:00Z"))
        harness.item("a", nil, fields: ["team": .text("quiet")])
        harness.pass(.seconds(3600))
        harness.item("b", nil, fields: ["team": .text("quiet")])
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: a", "out: b"])
    }

    @Test("a wall clock that is set forward ends a digest that waits for a time of day, and no other")
    func digestClock() {
        let plans: [(Gates) -> Gates] = [
            { gates in
                var gates = gates
                gates.quiet = Quiet(windows: [Self.night], action: .digest)
                return gates
            },
            { gates in
                var gates = gates
                gates.digest = DigestPlan(release: .at(CivilTimeOfDay(minutes: 7 * 60, zone: "UTC")))
                return gates
            },
            { gates in
                var gates = gates
                gates.digest = DigestPlan(release: .every(.seconds(8 * 3600)))
                return gates
            },
        ]
        let sent = plans.map { plan in
            var harness = RuleHarness(
                Rule.when(.appears) { $0 = plan($0) }, at: RuleHarness.time("2026-11-21T23:00:00Z"))
            harness.item("a", nil)
            #expect(harness.suppressed.first?.hasPrefix("a: goes into the digest of ") == true)
            harness.wallJumps(by: .seconds(8 * 3600))
            harness.pass(.zero)
            return harness.sent.count
        }
        #expect(sent == [1, 1, 0])
    }

    @Test("the links of a digest stay beside their lines over a restart")
    func digestLinks() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600))) })
        harness.item("a", nil)
        harness.restart()
        for key in ["b", "c"] {
            var event = harness.event(.appeared)
            event.item = Item(key: key, title: key, url: "https://lab.example.org/\(key)")
            harness.take(harness.evaluate(event))
        }
        harness.restart()
        harness.pass(.seconds(600))
        #expect(harness.last?.summary?.links == ["", "https://lab.example.org/b", "https://lab.example.org/c"])
        #expect(harness.last?.summary?.events.count == 3)
    }

    @Test("a digest does not wait for a good poll after a restart")
    func digestAfterRestart() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600))) })
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.restart(unconfirmed: ["lab"])
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: 2 events in lab"])
    }

    @Test("a wall clock that is set forward ends a quiet time")
    func wallClock() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.wallJumps(by: .seconds(8 * 3600))
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("digest gathers by a field and sends one message per value")
    func digest() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600)), by: .field("team")) })
        for (key, team) in [("a", "x"), ("b", "x"), ("c", "y")] {
            harness.item(key, nil, fields: ["team": .text(team)])
            harness.pass(.seconds(10))
        }
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: 2 events in lab", "out: c"])
    }

    @Test("the data of a digest has each event, over a restart, up to 1,000 of them")
    func digestParts() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600))) })
        for number in 0..<30 { harness.item("a\(number)", "open") }
        harness.restart()
        harness.item("b", "open")
        harness.pass(.seconds(600))
        let parts = harness.last?.summary?.parts ?? []
        #expect(parts.count == 31 && parts.last?.key == "b" && parts.last?.state == "open")
        #expect(harness.last?.summary?.lines.count == 20)
        for number in 0..<1001 { harness.item("c\(number)", nil) }
        harness.pass(.seconds(600))
        #expect(harness.last?.summary?.parts.count == 1000 && harness.last?.summary?.count == 1001)
    }

    @Test("a digest over several sources is titled by what its rule found, not by one of them")
    func digestTitle() {
        func title(
            _ condition: Condition, by: Grouping = .rule, _ fill: (inout RuleHarness) -> Void
        ) -> String? {
            var harness = RuleHarness(
                .when(condition) { $0.digest = DigestPlan(release: .every(.seconds(60)), by: by) })
            fill(&harness)
            harness.pass(.seconds(60))
            return harness.messages.first?.title
        }
        func fall(_ harness: inout RuleHarness, _ keys: String..., to state: String = "down") {
            for key in keys {
                harness.item(key, state, was: "up", source: "site-\(key)", fields: ["area": "eu-west"])
            }
        }
        let states = Condition.becomes("down", "slow", "lost")
        #expect(title(states) { fall(&$0, "a", "b", "c") } == "3 down")
        #expect(title(states, by: .field("area")) { fall(&$0, "a", "b") } == "2 down in eu-west")
        #expect(
            title(states) {
                fall(&$0, "a", "b"); fall(&$0, "b", "c", to: "slow")
            } == "1 down, 2 slow")
        let three = title(states) {
            fall(&$0, "a"); fall(&$0, "b", to: "slow"); fall(&$0, "c", to: "lost")
        }
        #expect(three == "3 events of 'r'")
        #expect(title(.appears) { for name in ["x", "y"] { $0.item("a", "open", source: name) } } == "2 new")
    }

    @Test("once_per sends one message per value")
    func once() {
        var harness = RuleHarness(Rule.when(.appears) { $0.oncePer = "build" })
        harness.item("a", nil, fields: ["build": "1"])
        harness.item("b", nil, fields: ["build": "1"])
        harness.restart()
        harness.item("c", nil, fields: ["build": "1"])
        harness.item("d", nil, fields: ["build": "2"])
        #expect(harness.sent == ["out: a", "out: d"])
    }

    @Test("remind repeats a message until the match ends or a state of 'until' is reached")
    func remind() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600), until: ["acknowledged"]) })
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        #expect(harness.sent.suffix(2).sorted() == ["out: a: still down", "out: b: still down"])
        harness.item("a", "acknowledged", was: "down")
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent.count == 4)
        #expect(harness.rows.isEmpty)
    }

    @Test("reminders that were missed while the program was down are sent as one")
    func missed() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(3600)) })
        harness.item("a", "down", was: "up")
        harness.wallJumps(by: .seconds(10 * 3600))
        harness.restart()
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: up → down", "out: a: still down"])
    }

    @Test("escalate notifies further sinks, each step once, while the match is true")
    func escalate() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.escalate = [
                    Escalation(after: .seconds(600), notify: [.init(sink: "boss")]),
                    Escalation(after: .seconds(1800), notify: [.init(sink: "world")]),
                ]
            })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(700))
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down"])
        harness.restart()
        harness.pass(.seconds(1099))
        #expect(harness.sent.count == 2)
        harness.pass(.seconds(3600))
        #expect(harness.sent.last == "world: a: up → down")
        #expect(harness.sent.count == 3)
    }

    @Test("depends suppresses messages while a source is failing, but not those about that source")
    func depends() {
        var harness = RuleHarness(
            Rule.when(.any([.becomes("down"), .sourceState([.failing])])) { $0.depends = ["gateway"] })
        harness.source(.failing, "gateway")
        harness.item("a", "down", was: "up")
        harness.source(.recovered, "gateway")
        harness.item("b", "down", was: "up")
        #expect(harness.sent == ["out: gateway is failing", "out: b: up → down"])
        #expect(harness.suppressed == ["a: up → down: it depends on 'gateway', which is failing"])
    }

    @Test("a source's own failure does not hide that another source of depends is failing")
    func dependsOnAnother() {
        var harness = RuleHarness(
            Rule.when(.sourceState([.failing])) { $0.depends = ["lab", "gateway"] })
        harness.source(.failing, "gateway")
        harness.source(.failing, "lab")
        #expect(harness.sent == ["out: gateway is failing"])
        #expect(harness.suppressed == ["lab is failing: it depends on 'gateway', which is failing"])
        harness.source(.recovered, "gateway")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: gateway is failing", "out: lab is failing"], "it is so still")
    }

    @Test("depends: an item that is down matters in a source of kind http alone")
    func dependsOnItems() {
        var harness = RuleHarness(
            Rule.when(.all([.source(["lab"], text: "'lab'"), .becomes("down")])) { $0.depends = ["hosts"] })
        harness.item("h", "down", source: "hosts")
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a silence that ended by a step that is undone holds again, beside the others")
    func undoneSilence() {
        var harness = RuleHarness(Rule.when(.becomes("down", "up")))
        harness.engine.setSilences([
            Silence(id: 1, source: "lab", item: "a", untilState: "up", created: RuleHarness.noon),
            Silence(id: 2, rule: "other", created: RuleHarness.noon),
        ])
        let step = harness.evaluate(harness.event(.changed, key: "a", "up", was: "down"))
        harness.engine.undo(step)
        harness.item("a", "down", was: "up")
        #expect(harness.sent.isEmpty && harness.suppressed.count == 1)
    }

    @Test("a silence suppresses what it names, until its time or its state")
    func silences() {
        var harness = RuleHarness(Rule.when(.becomes("down", "up")))
        harness.engine.setSilences([
            Silence(id: 1, item: "a", until: RuleHarness.noon.advanced(by: .seconds(60)), created: RuleHarness.noon),
            Silence(id: 2, source: "lab", item: "b", untilState: "up", created: RuleHarness.noon),
            Silence(id: 3, rule: "other", created: RuleHarness.noon),
        ])
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        #expect(harness.sent == ["out: c: up → down"])
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        harness.item("b", "up", was: "down")
        #expect(harness.sent.suffix(3) == ["out: a: up → down", "out: a: down → up", "out: b: down → up (+1)"])
    }

    @Test("a silence planned ahead withholds from its beginning to its end, and only items whose values match")
    func plannedSilence() {
        var harness = RuleHarness(Rule.when(.becomes("down", "up")))
        let noon = RuleHarness.noon
        var silence = Silence(id: 1, until: noon.advanced(by: .seconds(120)), created: noon)
        silence.from = noon.advanced(by: .seconds(60))
        silence.fields = ["key=a*", "state=down"].compactMap(Silence.FieldPattern.init)
        harness.engine.setSilences([silence])
        harness.item("a1", "down", was: "up")
        #expect(harness.sent == ["out: a1: up → down"])
        harness.pass(.seconds(60))
        for key in ["a2", "b"] { harness.item(key, "down", was: "up") }
        harness.item("a1", "up", was: "down")
        #expect(harness.sent.suffix(2) == ["out: b: up → down", "out: a1: down → up"])
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: a2: up → down")
        #expect(silence.description.hasPrefix("where 'key=a*', where 'state=down', from 2026-"))
    }

    @Test("a silence whose source is a glob holds the sources that it matches, and no others")
    func globOfSources() {
        let silence = Silence(source: "web-*", created: RuleHarness.noon)
        #expect(["web-a", "web-"].allSatisfy(silence.covers(source:)) && !silence.covers(source: "web"))
        func covers(_ source: String) -> Bool {
            let event = Event(
                id: Identifier("e"), kind: .appeared, time: RuleHarness.noon, source: source, sourceKind: "json",
                poll: "p", item: Item(key: "k"))
            return silence.covers(Rule.when(.appears), event, at: RuleHarness.noon)
        }
        #expect(covers("web-a") && !covers("db-a"))
    }

    @Test("a silence of a rule stays in force when the rule is renamed", arguments: [false, true])
    func renamedRule(byRestart: Bool) {
        let condition = Condition.all([.source(["lab"], text: "lab"), .becomes("down", "up")])
        let silence = Silence(id: 1, rule: "old", untilState: "up", created: RuleHarness.noon)
        var harness = RuleHarness(Rule.when(condition, name: "old"))
        harness.silence(silence)
        harness.item("a", "down", was: "up")
        var renamed = Rule.when(condition, name: "new")
        renamed.formerName = "old"
        harness.edit(renamed, byRestart: byRestart)
        harness.silence(silence)
        harness.item("b", "down", was: "up")
        #expect(harness.sent.isEmpty)
        harness.item("c", "up", was: "down", source: "web")
        #expect(harness.engine.silences == [silence], "an item of a source that is not the rule's")
        harness.item("c", "up", was: "down")
        #expect(harness.engine.silences.isEmpty)
    }

    @Test("a value of once_per that a match used before it was told is used by the one that takes its place")
    func replacedBeforeTold() {
        var harness = RuleHarness(
            Rule.when(.becomes("down", "limp"), to: "out", "team") {
                $0.oncePer = "key"
                $0.depends = ["gateway"]
            })
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.item("a", "limp", was: "down")
        #expect(harness.sent == ["out: a: up → down"])
        harness.restart()
        harness.poll()
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "team: a: down → limp (+1)"])
    }
}
