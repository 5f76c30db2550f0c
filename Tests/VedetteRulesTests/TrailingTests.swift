// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The last message of a gate")
struct TrailingTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")
    private static let evening = RuleHarness.time("2026-11-21T21:55:00Z")

    @Test("the last message of a limit waits for the end of a quiet time")
    func limitInTheNight() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(600))
        harness.restart()
        #expect(harness.sent.count == 1, "22:05 is in the night")
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: a: up → down", "out: a: up → down"])
        #expect(harness.now.wall.rfc3339 == "2026-11-22T07:05:00.000Z")
        harness.pass(.seconds(3600))
        #expect(harness.rows.isEmpty)
    }

    @Test("the last message of a limit is suppressed by a silence, with the reason")
    func limitInSilence() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.engine.setSilences([Silence(id: 1, rule: "r", created: RuleHarness.noon)])
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
        #expect(harness.suppressed.last == "a: up → down: silenced: rule 'r'")
    }

    @Test("a digest that is due in a quiet time waits, and a silence suppresses it")
    func digestInTheNight() {
        var harness = RuleHarness(
            Rule.when(.appears) {
                $0.digest = DigestPlan(release: .every(.seconds(600)))
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: 2 events in lab"])
        for key in ["c", "d"] { harness.item(key, nil) }
        harness.engine.setSilences([Silence(id: 1, source: "lab", created: RuleHarness.noon)])
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1)
        #expect(harness.suppressed.last == "2 events in lab: silenced: source 'lab'")
    }

    @Test("a digest that a silence held until the night waits for the morning")
    func digestSilencedUntilNight() {
        var harness = RuleHarness(
            Rule.when(.appears) {
                $0.digest = DigestPlan(release: .every(.seconds(240)))
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.silence(Silence(id: 1, rule: "r", created: Self.evening))
        harness.pass(.seconds(600))
        harness.silence()
        harness.pass(.seconds(3600))
        #expect(harness.sent.isEmpty, "22:05 is in the night")
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent == ["out: 2 events in lab"])
    }

    @Test("the last message counts everything withheld when it is about a later event")
    func count() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        harness.item("a", "down", was: "up")
        for _ in 1...2 {
            harness.item("a", "up", was: "down")
            harness.item("a", "down", was: "up")
        }
        var last = harness
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "out: a: up → down (+1)", "the second of two is sent")
        last.item("a", "up", was: "down")
        last.pass(.seconds(600))
        #expect(last.sent.last == "out: a: down → up (+2)", "neither of two is sent")
    }

    @Test("the last message of a limit is about the rule's field, with the item as it is")
    func otherFields() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) })
        harness.item("a", "down", was: "up")
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.field("a", "owner", "bob", was: "ann", state: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent.last == "out: a: up → down")
        #expect(harness.last?.item?["owner"] == "bob")
    }

    @Test("the last message about a match that is over starts no reminder")
    func noReminder() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.remind = Reminder(every: .seconds(3600))
            })
        for state in ["down", "up", "down", "up"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: a: up → down", "out: a: down → up (+1)"])
        harness.pass(.seconds(10 * 3600))
        #expect(harness.sent.count == 2)
        #expect(harness.rows.isEmpty)
    }

    @Test("during is the inverse of quiet: outside of its windows a message waits for the next one")
    func during() {
        let work = CivilWindow(
            name: "work", start: CivilTimeOfDay(minutes: 9 * 60), end: CivilTimeOfDay(minutes: 17 * 60),
            days: [1, 2, 3, 4, 5], zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [], outside: [work], action: .defer) },
            at: RuleHarness.time("2026-11-20T16:59:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(60))
        harness.item("b", "down", was: "up")
        #expect(harness.sent == ["out: a: up → down"])
        harness.pass(.seconds(2 * 86_400 + 16 * 3600 - 1))
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(1))
        #expect(harness.sent.count == 2 && harness.now.wall.rfc3339 == "2026-11-23T09:00:00.000Z")
    }

    @Test("a digest can wait for a day of the week")
    func weekly() {
        var harness = RuleHarness(
            Rule.when(.appears) {
                $0.digest = DigestPlan(release: .at(CivilTimeOfDay(minutes: 480, zone: "UTC"), days: [1]))
            })
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.pass(.seconds(86_400 + 20 * 3600 - 1))
        #expect(harness.sent.isEmpty, "it is Sunday, or early on Monday")
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: 2 events in lab"])
    }

    @Test("quiet times that meet are one")
    func chained() {
        let weekend = CivilWindow(
            name: "weekend", start: CivilTimeOfDay(minutes: 0), end: CivilTimeOfDay(minutes: 1440), days: [6, 7],
            zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.appears) { $0.quiet = Quiet(windows: [Self.night, weekend], action: .digest) },
            at: RuleHarness.time("2026-11-20T23:00:00Z"))
        for key in ["a", "b"] { harness.item(key, nil) }
        harness.pass(.seconds(2 * 86_400 + 7 * 3600 + 3599))
        #expect(harness.sent.isEmpty, "it is Monday, still night")
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: 2 events in lab"])
    }

    @Test("a match that is deferred again keeps its count, and matches that ended count too")
    func deferredCount() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        for state in ["down", "up", "down", "up", "down"] {
            harness.item("a", state, was: state == "up" ? "down" : "up")
        }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down (+2)"])
        for state in ["up", "down", "up"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(24 * 3600))
        #expect(harness.rows.isEmpty)
    }

    @Test("once_per counts a value that a limit or a quiet time withholds")
    func once() {
        var harness = RuleHarness(
            Rule.when(.appears) {
                $0.oncePer = "build"
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        harness.item("a", nil, fields: ["build": "1"])
        harness.item("b", nil, fields: ["build": "2"])
        harness.pass(.seconds(10 * 3600))
        harness.item("c", nil, fields: ["build": "2"])
        #expect(harness.sent == ["out: a", "out: b"])
    }

    @Test("a match that is deferred for another night keeps its count")
    func deferredAgain() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [Self.night], action: .defer) },
            at: RuleHarness.time("2026-11-21T23:00:00Z"))
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.sleep(.seconds(86_400))
        harness.restart(unconfirmed: ["lab"])
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down (+1)"])
    }

    @Test("the count of a quiet time goes into the count of the limit")
    func nightAndLimit() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(86_400), by: .rule)
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        harness.item("b", "down", was: "up")
        harness.pass(.seconds(3600))
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(86_400))
        #expect(harness.sent == ["out: b: up → down", "out: a: up → down (+1)"])
    }

    @Test("the last message of a limit by rule is the last one withheld, whatever other items do")
    func lastOfRule() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        for key in ["x", "a", "b"] { harness.item(key, "down", was: "up") }
        harness.item("a", "up", was: "down")
        harness.pass(.seconds(600))
        #expect(harness.sent == ["out: x: up → down", "out: b: up → down (+1)"])
    }

    @Test("a digest is sent an interval after its first event, with a line for each of the first twenty")
    func digestTime() {
        var harness = RuleHarness(Rule.when(.appears) { $0.digest = DigestPlan(release: .every(.seconds(600))) })
        for n in 1...30 {
            harness.item("n\(n)", nil)
            harness.pass(.seconds(20))
        }
        #expect(harness.sent == ["out: 30 events in lab"])
        #expect(harness.last?.summary?.lines.count == 20 && harness.last?.summary?.events.count == 20)
    }

    @Test("after a quiet time a limit runs on the steady clock again")
    func clockAgain() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.limit = Limit(count: 1, per: .seconds(600))
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
            }, at: Self.evening)
        for state in ["down", "up", "down"] { harness.item("a", state, was: state == "up" ? "down" : "up") }
        harness.pass(.seconds(10 * 3600))
        harness.item("a", "up", was: "down")
        harness.item("a", "down", was: "up")
        harness.wallJumps(by: .seconds(-3600))
        harness.pass(.seconds(600))
        #expect(harness.rows.isEmpty)
    }

    @Test("during two windows a message waits for the one that starts first")
    func duringTwo() {
        let windows = [(9, 12), (14, 17)].map { start, end in
            CivilWindow(
                name: "w", start: CivilTimeOfDay(minutes: start * 60), end: CivilTimeOfDay(minutes: end * 60),
                zone: "UTC")
        }
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.quiet = Quiet(windows: [], outside: windows, action: .defer) },
            at: RuleHarness.time("2026-11-20T12:30:00Z"))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(5399))
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.sent == ["out: a: up → down"])
    }
}
