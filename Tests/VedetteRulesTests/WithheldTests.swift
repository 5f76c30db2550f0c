// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What a gate withheld is told when it opens")
struct WithheldTests {
    private static let limited = Rule.when(.becomes("down")) {
        $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
    }
    private let end = RuleHarness.noon.advanced(by: .seconds(3600))

    private var snooze: Silence { Silence(id: 1, rule: "r", until: end, created: RuleHarness.noon) }

    // MARK: limit

    @Test("the last message of a limit names every item that it withheld")
    func names() {
        var harness = RuleHarness(Self.limited)
        for key in ["x", "a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.restart()
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: x: up → down", "out: a: up → down, b: up → down, and 1 more"])
        #expect(harness.last?.summary?.lines == ["a: up → down", "b: up → down", "c: up → down"])
        #expect(harness.last?.summary?.parts.map(\.state) == ["down", "down", "down"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("the lines name the first ten items and count the rest, and the data has all of them")
    func tenOfTwelve() {
        var harness = RuleHarness(Self.limited)
        for n in 10...22 { harness.item("i\(n)", "down", was: "up") }
        harness.pass(.seconds(600))
        #expect(harness.last?.summary?.lines.count == 10 && harness.last?.summary?.count == 12)
        #expect(harness.last?.summary?.parts.compactMap(\.key) == (11...22).map { "i\($0)" })
        #expect(harness.lastText.hasSuffix("\nand 2 more"))
    }

    @Test("a line has the latest state of its item")
    func latest() {
        var harness = RuleHarness(
            Rule.when(.field("state", from: .oneOf(["up"]), to: nil)) {
                $0.limit = Limit(count: 1, per: .seconds(600), by: .field("team"))
            })
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up", fields: ["team": "t"]) }
        harness.item("a", "lost", was: "down", fields: ["team": "t"])
        harness.pass(.seconds(600))
        #expect(harness.last?.summary?.lines == ["a: up → down, now lost", "b: up → down"])
        #expect(harness.last?.summary?.parts.map(\.state) == ["lost", "down"])
    }

    @Test("when all that a limit withheld is over, the next message has the count, also after a restart")
    func allOver() {
        var harness = RuleHarness(Self.limited)
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up") }
        for key in ["a", "b"] { harness.item(key, "up", was: "down") }
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: x: up → down"], "nothing of it is so any more")
        var late = harness
        harness.restart()
        harness.pass(.seconds(3600))
        harness.item("c", "down", was: "up")
        #expect(harness.sent.dropFirst() == ["out: c: up → down (+2)"])
        harness.pass(.seconds(600))
        harness.item("d", "down", was: "up")
        #expect(harness.sent.last == "out: d: up → down", "it is told once")
        harness.pass(.seconds(600))
        #expect(harness.rows.isEmpty)
        late.pass(.seconds(7 * 86_400))
        #expect(late.rows.isEmpty, "not for ever")
    }

    @Test("what is over is counted by a later message when all else that a limit withheld is silenced")
    func overBesideSilenced() {
        var harness = RuleHarness(Self.limited)
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up") }
        harness.item("b", "up", was: "down")
        harness.silence(Silence(id: 1, item: "a", until: end, created: RuleHarness.noon))
        harness.pass(.seconds(3600))
        #expect(harness.sent.dropFirst() == ["out: a: up → down"])
        harness.pass(.seconds(3600))
        harness.item("c", "down", was: "up")
        #expect(harness.sent.last == "out: c: up → down (+1)")
    }

    @Test("an item that was withheld and is no longer so is counted, and not named")
    func over() {
        var harness = RuleHarness(Self.limited)
        for key in ["x", "a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "out: a: up → down, c: up → down (+1)")
    }

    @Test("the items that the last message named are reminded of in one message, as far as they are still so")
    func reminders() {
        var rule = Self.limited
        rule.gates.remind = Reminder(every: .seconds(1800))
        var harness = RuleHarness(rule)
        for key in ["x", "a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(1200))
        harness.item("b", "up", was: "down")
        harness.restart()
        harness.pass(.seconds(1200))
        #expect(harness.sent.suffix(2) == ["out: x: still down", "out: a: still down, c: still down"])
        #expect(harness.last?.kind == .reminder && harness.last?.summary?.parts.compactMap(\.key) == ["a", "c"])
        harness.item("c", "up", was: "down")
        harness.pass(.seconds(1800))
        #expect(harness.sent.suffix(2) == ["out: x: still down", "out: a: still down"])
    }

    @Test("what one message told is escalated in one message")
    func escalations() {
        var rule = Self.limited
        rule.gates.escalate = [Escalation(after: .seconds(900), notify: [.init(sink: "boss")])]
        var harness = RuleHarness(rule)
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(1500))
        #expect(harness.sent.suffix(2) == ["boss: x: up → down", "boss: a: up → down, b: up → down"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 4)
    }

    // MARK: silences

    @Test("what a snooze held and is still so is told at its end, once, with the count", arguments: [false, true])
    func snoozed(restarts: Bool) {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(snooze)
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.item("c", "up", was: "down")
        if restarts { harness.restart() }
        harness.pass(.seconds(3599))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: up → down, b: up → down (+1)"])
        harness.pass(.seconds(86_400))
        #expect(harness.sent.count == 1 && harness.rows.isEmpty)
    }

    @Test("reminders resume after a snooze")
    func resumed() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.remind = Reminder(every: .seconds(1800)) })
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(3600 + 1800))
        #expect(harness.sent == ["out: a: up → down", "out: a: still down"])
    }

    @Test("a snooze that drops tells nothing at its end")
    func dropped() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        var snooze = snooze
        snooze.drops = true
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(86_400))
        #expect(harness.sent.isEmpty && harness.suppressed.count == 1)
    }

    @Test("a mute that a person ends, and a snooze that a state ends, tell what they held")
    func ended() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(Silence(id: 1, source: "lab", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(86_400))
        #expect(harness.sent.isEmpty)
        harness.silence()
        #expect(harness.sent == ["out: a: up → down"])
        harness.silence(Silence(id: 2, rule: "r", source: "lab", item: "b", untilState: "ready", created: end))
        harness.item("b", "down", was: "up")
        harness.item("b", "ready", was: "down")
        #expect(harness.sent.count == 1, "it is not down any more")
    }

    @Test("a mute that ended while the watcher was down tells what it held")
    func endedMeanwhile() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.engine.setSilences([])
        harness.restart()
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a silence that overlaps another one holds until the later end")
    func overlapping() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(1800))
        let later = Silence(id: 2, source: "lab", until: end.advanced(by: .seconds(3600)), created: RuleHarness.noon)
        harness.silence(snooze, later)
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1800))
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a silence of one sink holds the messages to that sink alone")
    func oneSink() {
        var harness = RuleHarness(Rule.when(.becomes("down"), to: "out", "team"))
        harness.silence(Silence(id: 1, until: end, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"] && harness.suppressedSinks == ["team"])
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down", "team: a: up → down"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 2 && harness.rows.isEmpty)
    }

    @Test("a digest that a snooze held is sent at its end")
    func digest() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.silence(snooze)
        harness.pass(.seconds(3599))
        #expect(harness.sent.isEmpty && harness.suppressed.last?.hasPrefix("2 events in lab: silenced") == true)
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: 2 events in lab"])
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1 && harness.rows.isEmpty)
    }

    @Test("the events that a snooze held go into a digest at its end")
    func gathered() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        harness.silence(snooze)
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 2 events in lab"] && harness.rows.isEmpty)
    }

    @Test("a digest counts the messages that a snooze held and a later one replaced")
    func replacedInDigest() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        harness.silence(snooze)
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        harness.restart()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 2 events in lab (+1)"] && harness.rows.isEmpty)
    }

    @Test("a digest counts what a snooze held and is over")
    func overInDigest() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.digest = DigestPlan(release: .every(.seconds(60))) })
        harness.silence(snooze)
        harness.item("c", "down", was: "up")
        harness.item("c", "up", was: "down")
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        harness.restart()
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: b: up → down (+1)"] && harness.rows.isEmpty)
    }

    @Test("what is over is counted after a restart and after the silence of something else, too")
    func countKept() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.restart()
        harness.silence(snooze, Silence(id: 2, rule: "other", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: a: up → down (+1)"] && harness.rows.isEmpty)
    }

    /// An item went down in a snooze that ends in a quiet time until 14:00.
    private func snoozedBeforeQuiet(_ action: Quiet.Action) -> RuleHarness {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 750), end: CivilTimeOfDay(minutes: 840), zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [night], action: action) })
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        return harness
    }

    @Test("what a snooze held waits for the end of a quiet time, too")
    func thenQuiet() {
        var harness = snoozedBeforeQuiet(.defer)
        harness.pass(.seconds(7199))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: up → down"])
    }

    // MARK: depends

    @Test("what a dependency held and is still so is told after it, at the first good poll of its source")
    func dependency() {
        var harness = RuleHarness(Rule.when(.any([.becomes("down"), .disappears])) { $0.depends = ["gateway"] })
        harness.source(.failing, "gateway")
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.gone("c")
        harness.source(.recovered, "gateway")
        harness.pass(.seconds(60))
        #expect(harness.sent.isEmpty && harness.needsPoll)
        harness.poll(events: [harness.event(.changed, key: "b", "up", was: "down")])
        #expect(harness.sent == ["out: a: up → down, c is gone (+1)"])
        #expect(harness.rows.isEmpty)
    }

    @Test("depends on a source of kind http means its item is down, too; over a restart as well")
    func dependencyDown() {
        let down = Condition.all([.source(["lab"], text: "'lab'"), .becomes("down")])
        var harness = RuleHarness(Rule.when(down) { $0.depends = ["site"] })
        harness.response("site", "down", was: "up")
        harness.item("a", "down", was: "up")
        #expect(harness.suppressed == ["a: up → down: it depends on 'site', which is down"])
        var health = SourceHealth()
        health.down = ["site"]
        harness.restart(health: health)
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.response("site", "up", was: "down")
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a step that is undone leaves the dependency as it was")
    func undone() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.depends = ["gateway"] })
        harness.source(.failing, "gateway")
        harness.item("a", "down", was: "up")
        let failed = harness.evaluate(harness.event(.recovered, "gateway"))
        harness.engine.undo(failed)
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("silenced items that take all their room leave room for a limit, and are one message")
    func many() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(60)) }, room: 2000)
        harness.silence(snooze)
        for n in 0..<2100 { harness.item("\(n)", "down", was: "up") }
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 1 && harness.last?.summary?.count == 2000)
        #expect(harness.last?.summary?.parts.count == 1000)
        harness.item("late", "down", was: "up")
        #expect(harness.sent.count <= 2)
    }

    @Test("after the last message of a limit the window counts that message")
    func counts() {
        var harness = RuleHarness(Self.limited)
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(700))
        harness.item("c", "down", was: "up")
        harness.pass(.seconds(499))
        #expect(harness.sent == ["out: x: up → down", "out: a: up → down, b: up → down"])
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "out: c: up → down")
    }

    @Test("what a silence held counts in the limit when it is told")
    func silencedCounts() {
        var harness = RuleHarness(Self.limited)
        harness.silence(snooze)
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(3700))
        harness.item("c", "down", was: "up")
        harness.pass(.seconds(499))
        #expect(harness.sent == ["out: a: up → down, b: up → down"])
        harness.pass(.seconds(1))
        #expect(harness.sent.last == "out: c: up → down")
    }

    @Test("what a silence held counts in the limit beside the messages of the same poll")
    func countedBeside() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 2, per: .seconds(600), by: .rule) })
        harness.silence(Silence(id: 1, source: "lab", item: "a", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up")
        harness.silence()
        harness.item("c", "down", was: "up")
        #expect(harness.sent == ["out: b: up → down", "out: a: up → down"], "the limit is 2")
        harness.pass(.seconds(600))
        #expect(harness.sent.dropFirst(2) == ["out: c: up → down"])
    }

    @Test("a message about several items counts once in the limit of each value that they have")
    func countedByField() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 2, per: .seconds(600), by: .field("zone")) })
        func down(_ key: String, _ zone: String) { harness.item(key, "down", was: "up", fields: ["zone": .text(zone)]) }
        harness.silence(snooze)
        for (key, zone) in [("a", "east"), ("b", "east"), ("c", "west")] { down(key, zone) }
        harness.pass(.seconds(3600))
        harness.silence()
        #expect(harness.sent == ["out: a: up → down, b: up → down, and 1 more"])
        for (key, zone) in [("d", "east"), ("e", "west"), ("f", "east"), ("g", "west")] { down(key, zone) }
        #expect(harness.sent.dropFirst() == ["out: d: up → down", "out: e: up → down"], "one of each was free")
    }

    @Test("the last message of a limit that a silence holds uses up no value of once_per")
    func limitThenSilenceOncePer() {
        var rule = Self.limited
        rule.gates.oncePer = "key"
        var harness = RuleHarness(rule)
        for key in ["x", "a"] { harness.item(key, "down", was: "up") }
        harness.silence(snooze)
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: x: up → down", "out: a: up → down"])
    }

    @Test("the last message of a limit that a silence holds keeps its count")
    func limitThenSilence() {
        var harness = RuleHarness(Self.limited)
        harness.item("x", "down", was: "up")
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.silence(snooze)
        harness.pass(.seconds(3600))
        #expect(harness.sent == ["out: x: up → down", "out: a: up → down (+1)"])
    }

    @Test("what a message about several items told is what by compares with")
    func announcedTogether() throws {
        let step = try #require(Delta("10"))
        var harness = RuleHarness(
            Rule.when(.by("n", step)) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        for key in ["x", "a", "b"] { harness.field(key, "n", "100", was: "0", state: "up") }
        harness.pass(.seconds(1200))
        #expect(harness.sent.count == 2)
        for key in ["a", "b"] { harness.field(key, "n", "105", was: "100", state: "up") }
        harness.pass(.seconds(1200))
        #expect(harness.sent.count == 2, "5 is no step of 10")
    }

    @Test("a snooze that begins while a silence of one sink holds a message holds it until its own end")
    func oneSinkThenAll() {
        var harness = RuleHarness(Rule.when(.becomes("down"), to: "out", "team"))
        let team = Silence(
            id: 2, until: RuleHarness.noon.advanced(by: .seconds(1800)), sink: "team", created: RuleHarness.noon)
        harness.silence(team)
        harness.item("a", "down", was: "up")
        harness.silence(team, snooze)
        harness.pass(.seconds(3599))
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: up → down", "team: a: up → down"])
    }

    @Test("silences end by the wall clock")
    func wallClock() {
        var harness = RuleHarness(Rule.when(.becomes("down"), to: "out", "team"))
        harness.silence(Silence(id: 1, until: end, sink: "team", created: RuleHarness.noon))
        harness.item("a", "down", was: "up")
        harness.wallJumps(by: .seconds(3600))
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down", "team: a: up → down"])

        harness = RuleHarness(Rule.when(.becomes("down")))
        harness.silence(snooze)
        harness.item("a", "down", was: "up")
        let later = Silence(id: 2, source: "lab", until: end.advanced(by: .seconds(3600)), created: RuleHarness.noon)
        harness.silence(snooze, later)
        harness.wallJumps(by: .seconds(7200))
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("what a snooze held waits for the end of a dependency's outage, and the other way round")
    func snoozeAndOutage() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.depends = ["gateway"] })
        harness.silence(snooze)
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.source(.failing, "gateway")
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty)
        harness.wallJumps(by: .seconds(-3600))
        harness.silence()
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent == ["out: a: up → down (+1)"] && harness.rows.isEmpty)

        harness = RuleHarness(Rule.when(.becomes("down")) { $0.depends = ["gateway"] })
        harness.source(.failing, "gateway")
        harness.item("a", "down", was: "up")
        harness.silence(snooze)
        harness.source(.recovered, "gateway")
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.wallJumps(by: .seconds(3600))
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down"] && harness.rows.isEmpty)
    }

    @Test("a mute that ends before the first good poll after a restart tells what it held after that poll")
    func unconfirmed() {
        var harness = RuleHarness(Rule.when(.becomes("down")))
        let mute = Silence(id: 1, rule: "r", created: RuleHarness.noon)
        harness.silence(mute)
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.restart(unconfirmed: ["lab"])
        harness.silence(mute)
        harness.wallJumps(by: .seconds(-60))
        harness.silence()
        #expect(harness.sent.isEmpty)
        harness.poll(events: [harness.event(.changed, key: "b", "up", was: "down")])
        #expect(harness.sent == ["out: a: up → down (+1)"])
    }

    @Test("what a snooze held and a quiet time then drops is not told")
    func thenDropped() {
        var harness = snoozedBeforeQuiet(.drop)
        harness.pass(.seconds(3600))
        #expect(harness.suppressed.last == "a: up → down: quiet during 'night' until 2026-11-21T14:00:00.000Z")
        harness.pass(.seconds(86_400))
        #expect(harness.sent.isEmpty && harness.rows.isEmpty)
    }

    @Test("a quiet time at the end of a snooze ends by the wall clock")
    func thenQuietWallClock() {
        var harness = snoozedBeforeQuiet(.defer)
        harness.pass(.seconds(3600))
        harness.wallJumps(by: .seconds(3600))
        harness.pass(.zero)
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("what is over when its silence ends is counted by what is told with it, and else leaves nothing")
    func overAtTheEnd() {
        let early = Silence(
            id: 1, item: "a", until: RuleHarness.noon.advanced(by: .seconds(1800)), created: RuleHarness.noon)
        let late = Silence(id: 2, item: "b", until: end, created: RuleHarness.noon)
        for isTold in [true, false] {
            var harness = RuleHarness(Rule.when(.becomes("down")))
            harness.silence(early, late)
            for key in ["a", "b"] { harness.item(key, "down", was: "up") }
            harness.item("a", "up", was: "down")
            if !isTold { harness.item("b", "up", was: "down") }
            harness.pass(.seconds(1800))
            #expect(harness.sent.isEmpty)
            harness.pass(.seconds(1800))
            #expect(harness.sent == (isTold ? ["out: b: up → down (+1)"] : []))
            #expect(harness.rows.isEmpty)
        }
    }

    @Test("what a silence held and is over is counted once, by the first message at its end")
    func countedOnce() {
        for isDown in [false, true] {
            var harness = RuleHarness(Rule.when(.becomes("down")) { $0.resolved = true })
            for key in ["a", "c"] { harness.item(key, "down", was: "up") }
            harness.silence(snooze)
            harness.item("b", "down", was: "up")
            harness.item("b", "up", was: "down")
            for key in ["a", "c"] { harness.item(key, "up", was: "down") }
            if isDown { harness.item("d", "down", was: "up") }
            harness.pass(.seconds(3600))
            let ends =
                isDown ? ["out: a: down → up", "out: c: down → up"] : ["out: a: down → up (+1)", "out: c: down → up"]
            #expect(Array(harness.sent.dropFirst(2)) == ends + (isDown ? ["out: d: up → down (+1)"] : []))
        }
    }

    @Test("a step that is undone leaves a source that went down as it was")
    func undoneDown() {
        let down = Condition.all([.source(["lab"], text: "'lab'"), .becomes("down")])
        var harness = RuleHarness(Rule.when(down) { $0.depends = ["site"] })
        var event = harness.event(.changed, key: "site", "down", was: "up")
        (event.source, event.sourceKind) = ("site", "http")
        let failed = harness.evaluate(event)
        harness.engine.undo(failed)
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
    }

    @Test("a message about several items is in the lane of the last one's source")
    func lane() {
        var harness = RuleHarness(Self.limited)
        harness.item("x", "down", was: "up")
        harness.item("a", "down", was: "up", source: "web")
        harness.pass(.seconds(1))
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(600))
        #expect(harness.last?.source == "lab" && harness.last?.summary?.parts.map(\.source) == ["web", "lab"])
    }

    // MARK: Sinks that pass on events

    private func hooked(_ gates: (inout Gates) -> Void = { _ in }) -> Rule {
        var rule = Rule.when(.becomes("down"), to: "team", "hook") {
            $0.remind = Reminder(every: .seconds(3600))
            gates(&$0)
        }
        rule.notify[1].tellsEach = true
        return rule
    }

    @Test("a sink that passes on events is told of each item, then and in reminders, where others get one message")
    func each() {
        var harness = RuleHarness(hooked())
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.silence()
        #expect(harness.sent == ["team: a: up → down, b: up → down", "hook: a: up → down", "hook: b: up → down"])
        harness.pass(.seconds(3600))
        #expect(
            harness.sent.suffix(3) == [
                "team: a: still down, b: still down", "hook: a: still down", "hook: b: still down",
            ])
    }

    @Test("what a quiet time held of a rule with a limit is one message to every sink, which the limit counts")
    func quietAndLimited() {
        let window = CivilWindow(
            name: "w", start: CivilTimeOfDay(minutes: 11 * 60), end: CivilTimeOfDay(minutes: 13 * 60), zone: "UTC")
        var harness = RuleHarness(
            hooked {
                $0.quiet = Quiet(windows: [window], action: .defer)
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
            })
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(3600))
        harness.poll()
        #expect(harness.sent == ["team: a: up → down, b: up → down", "hook: a: up → down, b: up → down"])
    }

    @Test("what waited for a limit is one message to every sink")
    func limitedEach() {
        var harness = RuleHarness(hooked { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(600))
        #expect(harness.sent.suffix(2) == ["team: b: up → down, c: up → down", "hook: b: up → down, c: up → down"])
    }
}
