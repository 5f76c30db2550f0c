// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("Counts and ages of items")
struct ItemCountTests {
    private func fewer(_ gates: (inout Gates) -> Void = { _ in }) -> Rule {
        let ready = SourceCondition(source: "lab", matcher: .oneOf(["ready"]))
        return Rule.when(
            .all([.source(["lab"], text: "'lab'"), .howMany(ItemCount(ready, bound: .below(2)))]), gates: gates)
    }

    @Test("how_many: one message when the number of items crosses the bound, over a restart")
    func count() {
        var harness = RuleHarness(fewer())
        harness.poll(baseline: [(key: "a", state: "ready"), (key: "b", state: "ready")])
        #expect(harness.sent.isEmpty)
        harness.poll(events: [harness.event(.changed, key: "b", "stopped", was: "ready")])
        #expect(harness.sent == ["out: 1 item of lab with state 'ready', below 2"])
        harness.restart()
        harness.engine.addStoredFacts(of: "lab", [Item(key: "a", state: "ready"), Item(key: "b", state: "stopped")])
        harness.poll(events: [harness.event(.changed, key: "a", "stopped", was: "ready")])
        #expect(harness.sent.count == 1)
        harness.poll(events: [
            harness.event(.changed, key: "a", "ready", was: "stopped"),
            harness.event(.changed, key: "b", "ready", was: "stopped"),
        ])
        harness.poll(events: [harness.event(.changed, key: "a", "stopped", was: "ready")])
        #expect(harness.sent.count == 2)
    }

    @Test("how_many: an event is no match by itself, and a failure of the source does not end what was announced")
    func ofEvents() {
        var harness = RuleHarness(fewer { $0.resolved = true })
        harness.poll(baseline: [(key: "a", state: "ready"), (key: "b", state: "ready")])
        for event in [harness.event(.changed, key: "b", "stopped", was: "ready"), harness.event(.failing)] {
            let results = harness.engine.rules.evaluateAll(event).map(\.result)
            #expect(results == [.unmatched("it is about one event")])
        }
        harness.poll(events: [harness.event(.changed, key: "b", "stopped", was: "ready")])
        harness.source(.failing)
        #expect(harness.sent.count == 1)
    }

    @Test("how_many with resolved: two ends within a minute are two messages, since they are no recoveries of a source")
    func ends() {
        var harness = RuleHarness(fewer { $0.resolved = true })
        harness.poll(baseline: [(key: "a", state: "ready"), (key: "b", state: "ready")])
        for _ in 1...2 {
            harness.poll(events: [harness.event(.changed, key: "b", "stopped", was: "ready")])
            harness.poll(events: [harness.event(.changed, key: "b", "ready", was: "stopped")])
        }
        #expect(harness.sent.count == 4 && harness.last?.kind == .resolved)
    }

    @Test("how_many with for and resolved: a short drop is not announced, and the end of a long one is")
    func held() {
        var harness = RuleHarness(
            fewer {
                $0.pendingFor = .seconds(60)
                $0.resolved = true
            })
        let down = { (harness: inout RuleHarness) in harness.event(.changed, key: "b", "stopped", was: "ready") }
        let up = { (harness: inout RuleHarness) in harness.event(.changed, key: "b", "ready", was: "stopped") }
        harness.poll(baseline: [(key: "a", state: "ready"), (key: "b", state: "ready")])
        harness.poll(events: [down(&harness)])
        harness.pass(.seconds(30))
        harness.poll(events: [up(&harness)])
        harness.pass(.seconds(60))
        #expect(harness.sent.isEmpty)
        harness.poll(events: [down(&harness)])
        harness.pass(.seconds(60))
        #expect(harness.sent.count == 1)
        harness.poll(events: [up(&harness)])
        #expect(harness.sent.count == 2 && harness.last?.kind == .resolved)
    }

    @Test("a message, a reminder and the end tell the latest count")
    func latest() {
        let ready = SourceCondition(source: "lab", matcher: .oneOf(["ready"]))
        var harness = RuleHarness(
            Rule.when(.howMany(ItemCount(ready, bound: .below(3)))) {
                $0.pendingFor = .seconds(60)
                $0.remind = Reminder(every: .seconds(3600))
                $0.resolved = true
            })
        harness.poll(baseline: ["a", "b", "c"].map { (key: $0, state: "ready") })
        for key in ["a", "b"] { harness.poll(events: [harness.event(.changed, key: key, "stopped", was: "ready")]) }
        harness.pass(.seconds(60))
        harness.poll(events: [harness.event(.changed, key: "c", "stopped", was: "ready")])
        harness.pass(.seconds(3600))
        let back = ["a", "b", "c"].map { harness.event(.changed, key: $0, "ready", was: "stopped") }
        harness.poll(events: back)
        #expect(
            harness.sent == [
                "out: 1 item of lab with state 'ready', below 3",
                "out: Still so: 0 items of lab with state 'ready', below 3",
                "out: 3 items of lab with state 'ready', no longer below 3",
            ])
    }

    private let old = Rule.when(.older("finished", .seconds(26 * 3600)))

    private func backup(_ harness: inout RuleHarness, _ time: String, was: String) {
        harness.field("a", "finished", time, was: was, state: "ok")
        harness.poll()
    }

    @Test("older: an item whose time is not renewed is told when it is old enough, once")
    func older() {
        var rule = old
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        backup(&harness, "2026-11-21T10:00:00Z", was: "2026-11-20T10:00:00Z")
        harness.pass(.seconds(22 * 3600))
        backup(&harness, "2026-11-22T10:00:00Z", was: "2026-11-21T10:00:00Z")
        harness.pass(.seconds(26 * 3600 - 1))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        harness.poll()
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(86_400))
        harness.restart()
        harness.poll()
        #expect(harness.sent.count == 1)
        backup(&harness, "2026-11-24T12:00:00Z", was: "2026-11-22T10:00:00Z")
        harness.pass(.seconds(26 * 3600 + 3600))
        harness.poll()
        #expect(harness.sent.count == 2)
    }

    @Test("older: a match waits while the wall clock is set back, over a restart, too", arguments: [false, true])
    func clockSetBack(isRestarted: Bool) {
        var harness = RuleHarness(old)
        backup(&harness, "2026-11-21T11:00:00Z", was: "2026-11-20T10:00:00Z")
        harness.wallJumps(by: .seconds(-3600))
        if isRestarted { harness.restart() }
        harness.pass(.seconds(25 * 3600))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(3600 - 1))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.needsPoll)
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("older: a wall clock that is set forward asks for a poll, which confirms the match")
    func clockSetForward() {
        var harness = RuleHarness(old)
        backup(&harness, "2026-11-21T11:00:00Z", was: "2026-11-20T10:00:00Z")
        harness.wallJumps(by: .seconds(25 * 3600 - 1))
        harness.pass(.zero)
        #expect(!harness.needsPoll)
        harness.pass(.seconds(1))
        #expect(harness.needsPoll && harness.sent.isEmpty)
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("older: a match goes on while the item gets another time that is as old, and ends with a later one")
    func goesOn() {
        var rule = Rule.when(.all([.older("finished", .seconds(3600)), .item("state", .oneOf(["ok"]))])) {
            $0.resolved = true
            $0.limit = Limit(count: 1, per: .seconds(600))
        }
        rule.matchesExisting = true
        var harness = RuleHarness(rule)
        backup(&harness, "2026-11-21T10:00:00Z", was: "2026-11-20T10:00:00Z")
        #expect(harness.sent.count == 1)
        backup(&harness, "2026-11-21T10:30:00Z", was: "2026-11-21T10:00:00Z")
        harness.pass(.seconds(600))
        #expect(harness.sent.count == 1 && harness.suppressed.isEmpty)
        backup(&harness, "2026-11-21T12:00:00Z", was: "2026-11-21T10:30:00Z")
        #expect(harness.messages.map(\.event.kind) == [.changed, .resolved])
        harness.pass(.seconds(3000))
        harness.poll()
        #expect(harness.messages.count == 3)
        harness.field("a", "state", "old", was: "ok", state: "old")
        #expect(harness.messages.map(\.event.kind).last == .resolved, "the other condition no longer holds")
    }

    @Test("how_many above a bound starts beyond it")
    func above() {
        let ready = SourceCondition(source: "lab", matcher: .oneOf(["ready"]))
        var harness = RuleHarness(Rule.when(.howMany(ItemCount(ready, bound: .above(1)))))
        harness.poll(baseline: [(key: "a", state: "ready"), (key: "b", state: "stopped")])
        #expect(harness.sent.isEmpty)
        harness.poll(events: [harness.event(.changed, key: "b", "ready", was: "stopped")])
        #expect(harness.sent.count == 1)
    }

    @Test(
        "older reads seconds and milliseconds since 1970",
        arguments: [(1_763_632_800, 1, true), (1_763_632_800_000, 1, true), (0, 0, false), (1, 0, true)])
    func numbers(written: Int, hours: Int, isTime: Bool) {
        // The number is 25 hours before this noon.
        var harness = RuleHarness(old, at: RuleHarness.time("2025-11-21T11:00:00Z"))
        harness.field("a", "finished", "\(written)", was: "", state: "ok")
        #expect(harness.rows.isEmpty != isTime)
        harness.pass(.seconds(hours * 3600 - 1))
        harness.poll()
        #expect(harness.sent.isEmpty || hours == 0)
        harness.pass(.seconds(1))
        harness.poll()
        #expect(harness.sent.count == (isTime ? 1 : 0))
    }

    @Test(
        "older reads a time without a zone as UTC, a fraction of a second, and microseconds",
        arguments: ["2026-11-21T11:00:00", "2026-11-21 11:00:00.25", "1795258800.25", "1795258800000000"])
    func writtenTimes(text: String) {
        var harness = RuleHarness(old)
        harness.field("a", "finished", text, was: "", state: "ok")
        harness.pass(.seconds(25 * 3600 - 1))
        harness.poll()
        #expect(harness.sent.isEmpty)
        harness.pass(.seconds(2))
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("older: a change of another field leaves the item's time as it is")
    func otherField() {
        var harness = RuleHarness(old)
        harness.field("a", "finished", "2026-11-21T10:00:00Z", was: "", state: "ok")
        harness.field("a", "owner", "bob", was: "ann", state: "ok")
        harness.pass(.seconds(24 * 3600))
        harness.poll()
        #expect(harness.sent.count == 1)
    }
}
