// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("What a quiet time deferred")
struct DeferredTests {
    private static let night = CivilWindow(
        name: "night", start: CivilTimeOfDay(minutes: 22 * 60), end: CivilTimeOfDay(minutes: 7 * 60), zone: "UTC")

    private func harness(_ when: Condition = .becomes("down"), _ change: (inout Gates) -> Void = { _ in })
        -> RuleHarness
    {
        RuleHarness(
            Rule.when(when) {
                $0.quiet = Quiet(windows: [Self.night], action: .defer)
                change(&$0)
            }, at: RuleHarness.time("2026-11-21T23:00:00Z"))
    }

    @Test("several items that are still so are told in one message, each with its latest state")
    func together() {
        var harness = harness(.field("state", from: .oneOf(["up"]), to: nil))
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.item("b", "lost", was: "down")
        harness.item("c", "up", was: "down")
        harness.restart()
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down, b: up → down, now lost"])
        #expect(harness.last?.summary?.parts.map(\.state) == ["down", "lost"])
        #expect(harness.suppressed.contains("a: up → down: told after the quiet time in one message with 1 other"))
        harness.pass(.seconds(86_400))
        #expect(harness.sent.count == 1 && harness.rows.isEmpty)
    }

    @Test("the one message counts once for a limit, and one that has no room waits for the limit")
    func limited() {
        var harness = harness { $0.limit = Limit(count: 1, per: .seconds(12 * 3600), by: .rule) }
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down, b: up → down"])
        harness.pass(.seconds(15 * 3600))
        for key in ["a", "b"] { harness.item(key, "up", was: "down") }
        harness.pass(.seconds(3600))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent.count == 2, "the window of the limit has moved on")

        harness = self.harness { $0.limit = Limit(count: 1, per: .seconds(12 * 3600), by: .rule) }
        harness.sleep(.seconds(-2 * 3600))
        harness.item("x", "down", was: "up")
        harness.sleep(.seconds(2 * 3600))
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: x: up → down"], "the limit has no room at the end of the night")
        harness.pass(.seconds(3 * 3600))
        #expect(harness.sent.last == "out: a: up → down, b: up → down")
    }

    @Test("at the end of the night an item whose source fails waits for a good poll, and the others do not")
    func uncertain() {
        var harness = harness()
        harness.item("a", "down", was: "up")
        harness.item("b", "down", was: "up", source: "web")
        harness.poll("web", isGood: false)
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down"])
        harness.poll("web")
        #expect(harness.sent.last == "out: b: up → down")
    }

    @Test("a silence that began in the night holds its items, and the others are told")
    func silenced() {
        var harness = harness()
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up") }
        harness.silence(Silence(id: 1, item: "b", created: RuleHarness.noon))
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down, c: up → down"])
        harness.silence()
        #expect(harness.sent.last == "out: b: up → down")
    }

    @Test("once_per counts each of them, and a value that two have is told once")
    func oncePer() {
        var harness = harness { $0.oncePer = "build" }
        for key in ["a", "b", "c"] { harness.item(key, "down", was: "up", fields: ["build": key == "c" ? "2" : "1"]) }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a: up → down, c: up → down"])
        #expect(harness.suppressed.contains("b: up → down: already sent for build '1'"))
    }

    @Test("they are reminded of together")
    func reminded() {
        var harness = harness { $0.remind = Reminder(every: .seconds(3600)) }
        for key in ["a", "b"] { harness.item(key, "down", was: "up") }
        harness.pass(.seconds(9 * 3600))
        #expect(harness.sent.last == "out: a: still down, b: still down")
    }

    @Test("the end of a match that waited is told to the sinks of its escalation, and no limit or once_per holds it")
    func ends() {
        var harness = harness {
            $0.resolved = true
            $0.oncePer = "build"
            $0.limit = Limit(count: 1, per: .seconds(86_400), by: .rule)
            $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])]
        }
        harness.sleep(.seconds(-2 * 3600))
        harness.item("a", "down", was: "up", fields: ["build": "1"])
        harness.pass(.seconds(2 * 3600))
        #expect(harness.sent == ["out: a: up → down", "boss: a: up → down"])
        harness.item("a", "up", was: "down", fields: ["build": "1"])
        harness.restart()
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "boss: a: down → up"])
    }

    @Test("the end of a match that a silence held is told to the sinks of its escalation, too")
    func silencedEnd() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.resolved = true
                $0.oncePer = "build"
                $0.escalate = [Escalation(after: .seconds(60), notify: [.init(sink: "boss")])]
            })
        harness.item("a", "down", was: "up", fields: ["build": "1"])
        harness.pass(.seconds(60))
        harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        harness.item("a", "up", was: "down", fields: ["build": "1"])
        harness.silence()
        #expect(harness.sent.suffix(2) == ["out: a: down → up", "boss: a: down → up"])
    }

    @Test("a deferred match that once_per suppresses leaves the other one a message of its own")
    func oncePerOfTwo() {
        var harness = harness(.appears) { $0.oncePer = "build" }
        for key in ["a", "b"] { harness.item(key, nil, fields: ["build": "1"]) }
        harness.pass(.seconds(8 * 3600))
        #expect(harness.sent == ["out: a"])
        #expect(harness.suppressed == ["b: already sent for build '1'"])
    }
}
