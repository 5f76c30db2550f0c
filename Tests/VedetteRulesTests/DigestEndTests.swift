// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Ends in a digest")
struct DigestEndTests {
    private static func rule(second: String? = nil, _ change: (inout Gates) -> Void = { _ in }) -> Rule {
        var gates = Gates()
        gates.digest = DigestPlan(release: .every(.seconds(60)))
        gates.resolved = true
        change(&gates)
        let targets = ["out", second].compactMap { $0 }.map { Rule.NotificationTarget(sink: $0) }
        return Rule(name: "r", when: .becomes("down"), notify: targets, gates: gates, identity: 1)
    }

    @Test("twenty that go down and come up again are two messages, over a restart")
    func storm() {
        var harness = RuleHarness(Self.rule())
        for i in 1...20 { harness.item("host-\(i)", "down", was: "up") }
        harness.pass(.seconds(60))
        harness.restart()
        for i in 1...20 { harness.item("host-\(i)", "up", was: "down") }
        harness.restart()
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 20 events in lab", "out: 20 up"])
        #expect(harness.messages.last?.event.summary?.lines.first == "host-1: down → up")
        #expect(harness.rows.isEmpty)
    }

    @Test("one digest tells what is down and what is up again, with its group in the title")
    func both() {
        var harness = RuleHarness(Self.rule { $0.digest?.by = .field("site") })
        let site: Fields = ["site": .text("west")]
        for key in ["a", "b"] { harness.item(key, "down", was: "up", fields: site) }
        harness.pass(.seconds(60))
        for key in ["c", "d", "e"] { harness.item(key, "down", was: "up", fields: site) }
        harness.item("a", "up", was: "down", fields: site)
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: 3 down, 1 up in west")
        #expect(harness.messages.last?.event.summary?.group == "west")
    }

    @Test(
        "an end is in the digest of its match's group, also where the field changed while the match went on",
        arguments: [false, true])
    func groupThatChanged(beforeDigest: Bool) {
        var harness = RuleHarness(Self.rule { $0.digest?.by = .field("site") })
        let site: Fields = ["site": .text("west")]
        for key in ["a", "b"] { harness.item(key, "down", was: "up", fields: site) }
        if !beforeDigest { harness.pass(.seconds(60)) }
        harness.field("a", "site", "east", was: "west", state: "down")
        harness.restart()
        if beforeDigest { harness.pass(.seconds(60)) }
        harness.item("a", "up", was: "down", fields: ["site": .text("east")])
        harness.item("b", "up", was: "down", fields: site)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 2 && harness.sent.last == "out: 2 up in west")
    }

    @Test("an end is in the digest of its match's group, also where its item has another value of the field by then")
    func groupOfMatch() {
        var harness = RuleHarness(Self.rule { $0.digest?.by = .field("state") })
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 2)
        #expect(harness.last?.summary?.parts.map(\.key) == ["a", "b"])
    }

    @Test("of two values in two digests of one time the later one is what the sink knows")
    func twoValues() {
        var rule = Self.rule { $0.digest?.by = .field("state") }
        rule.when = .becomes("limp", "down")
        var harness = RuleHarness(rule)
        harness.item("a", "limp", was: "up")
        harness.item("a", "down", was: "limp")
        harness.pass(.seconds(60))
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("a", "up", was: "down")
        harness.item("a", "limp", was: "up")
        harness.silence()
        harness.pass(.seconds(60))
        #expect(harness.messages.map(\.event.item?.state) == ["limp", "down", "limp"])
    }

    @Test("each sink of a digest knows the value in it, and is told an earlier one again")
    func valueOfEachSink() {
        var rule = Self.rule(second: "team") { $0.recoveredFor = .seconds(300) }
        rule.when = .becomes("limp", "down")
        var harness = RuleHarness(rule)
        for state in ["limp", "down", "limp"] {
            harness.item("a", state, was: "up")
            harness.pass(.seconds(60))
            harness.item("a", "up", was: state)
        }
        #expect(harness.messages.map(\.event.item?.state) == ["limp", "limp", "down", "down", "limp", "limp"])
    }

    @Test("a match that is over before its digest is sent is marked in it, and its end is not told again")
    func over() {
        var harness = RuleHarness(Self.rule())
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 1 down, 1 up"])
        let summary = harness.messages.last?.event.summary
        #expect(summary?.lines == ["a: up → down (over)", "b: up → down"])
        #expect(summary?.parts.map(\.tellsEnd) == [true, false])
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent.last == "out: b: down → up")
        #expect(harness.rows.isEmpty)
    }

    @Test("one match that is over before its digest is sent is told so")
    func oneOver() {
        var harness = RuleHarness(Self.rule())
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: a: up → down (over)"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a sink whose digest a silence holds is told there that the match is over, and the others in the next digest")
    func silenced() {
        var harness = RuleHarness(Self.rule(second: "team"))
        harness.silence(Silence(id: 1, sink: "team", created: RuleHarness.noon))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 2 events in lab", "out: a: down → up"])
        harness.silence()
        #expect(harness.sent.last == "team: 2 events in lab")
        #expect(harness.messages.last?.event.summary?.lines == ["a: up → down (over)", "b: up → down"])
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent.suffix(2) == ["out: b: down → up", "team: b: down → up"])
        #expect(harness.rows.isEmpty)
    }

    @Test("a digest over several sources is held by no silence of one of them, and one over that source alone is")
    func silencedSource() {
        var harness = RuleHarness(Self.rule())
        let silence = Silence(id: 1, source: "lab", created: RuleHarness.noon)
        harness.item("a", "down", was: "up", source: "shop")
        harness.item("b", "down", was: "up")
        harness.silence(silence)
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: 2 down"])
        harness.silence()
        for key in ["c", "d"] { harness.item(key, "down", was: "up") }
        harness.silence(silence)
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
    }

    @Test("a dropped digest is followed by no end, and a digest with an end is not dropped")
    func dropped() {
        var harness = RuleHarness(Self.rule())
        let silence = Silence(id: 1, sink: "out", drops: true, created: RuleHarness.noon)
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.silence(silence)
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(60))
        harness.silence()
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(60))
        #expect(harness.sent == ["out: a: up → down"])
        harness.item("a", "up", was: "down")
        harness.silence(silence)
        harness.pass(.seconds(60))
        harness.silence()
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up"])
        #expect(harness.rows.isEmpty)
    }

    @Test("the end of what was told before a quiet time with a digest is in that digest")
    func quiet() {
        let night = CivilWindow(
            name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.quiet = Quiet(windows: [night], action: .digest)
                $0.resolved = true
            }, at: RuleHarness.time("2026-11-21T21:00:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(2 * 3600))
        harness.item("b", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: 1 down, 1 up"])
        harness.item("b", "up", was: "down")
        #expect(harness.sent.last == "out: b: down → up")
        #expect(harness.rows.isEmpty)
    }

    @Test("what a digest told is reminded of until it is over, and then told over")
    func reminded() {
        var harness = RuleHarness(Self.rule { $0.remind = Reminder(every: .seconds(600)) })
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(60))
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(660))
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "out: b: still down"])
        harness.item("b", "up", was: "down")
        harness.pass(.seconds(3600))
        #expect(harness.sent.count == 4 && harness.rows.isEmpty)
    }
}
