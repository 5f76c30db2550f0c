// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteText

@testable import VedetteCore

@Suite("Playing events without a watcher")
struct RuleSimulationTests {
    private static func change(_ key: String, _ from: String, _ to: String, _ number: UInt64) -> Event {
        Event(
            id: Identifier(time: RuleHarness.noon, random: (1, number)), kind: .changed, time: RuleHarness.noon,
            source: "lab", sourceKind: "json", poll: "p", item: Item(key: key, title: key, state: to),
            changes: [FieldChange(field: "state", from: .text(from), to: .text(to))])
    }

    @Test("digests that wait for a limit are all told")
    func digests() {
        let rule = Rule.when(.changes(["state"])) {
            $0.digest = DigestPlan(release: .every(.seconds(60)), by: .item)
            $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
        }
        var simulation = RuleSimulation(RuleSet([rule]), civil: ZoneTime())
        var number: UInt64 = 0
        for key in ["a", "b", "c"] {
            for (from, to) in [("up", "down"), ("down", "lost")] {
                number += 1
                _ = simulation.evaluate(Self.change(key, from, to, number))
            }
        }
        let deliveries = simulation.advance(to: RuleHarness.noon.advanced(by: .seconds(3600)))
        let sent = deliveries.filter { $0.state == .pending }.map(\.message)
        #expect(sent.map(\.event.summary?.count) == [2, 4])
        #expect(Set(deliveries.map(\.message.id)).count == deliveries.count)
    }

    @Test("each change of a rule's own test is a match of its own")
    func changes() {
        let rule = Rule.when(.changes(["state"])) {
            $0.escalate = [Escalation(after: .seconds(60), notify: [Rule.NotificationTarget(sink: "boss")])]
        }
        let steps = [("a", "b"), ("b", "c"), ("c", "d")].map { from, to in
            (
                item: Item(key: "a", state: to),
                changes: [FieldChange(field: "state", from: .text(from), to: .text(to))]
            )
        }
        var test = RuleTest(
            kind: .changed, item: steps[0].item, changes: steps[0].changes, lasts: .seconds(59),
            expect: .sent(["out"]))
        test.later = Array(steps.dropFirst())
        #expect(test.failure(of: rule, ZoneTime()) == nil, "the escalation counts from the last change")
    }
}
