// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport
import VedetteText

@Suite("A restart changes no outcome")
struct RestartTests {
    private static let rules: [Rule] = [
        .when(.becomes("down"), name: "held") { $0.pendingFor = .seconds(90) },
        .when(.becomes("down"), name: "limited") { $0.limit = Limit(count: 2, per: .seconds(300)) },
        .when(.becomes("down"), name: "night") {
            let window = CivilWindow(
                name: "night", start: CivilTimeOfDay(minutes: 12 * 60 + 5), end: CivilTimeOfDay(minutes: 12 * 60 + 12),
                zone: "UTC")
            $0.quiet = Quiet(windows: [window], action: .defer)
        },
        .when(.appears, name: "gathered") { $0.digest = DigestPlan(release: .every(.seconds(200)), by: .item) },
        .when(.becomes("down"), name: "again") { $0.remind = Reminder(every: .seconds(170)) },
        .when(.becomes("up"), name: "once") { $0.oncePer = "key" },
        .when(.becomes("down"), name: "ends", to: "out", "team") {
            let window = CivilWindow(
                name: "noon", start: CivilTimeOfDay(minutes: 12 * 60 + 2), end: CivilTimeOfDay(minutes: 12 * 60 + 9),
                zone: "UTC")
            $0.quiet = Quiet(windows: [window], action: .defer)
            $0.resolved = true
        },
        .when(.becomes("down", "up"), name: "new states") {
            $0.oncePer = "state"
            $0.limit = Limit(count: 1, per: .seconds(200), by: .field("state"))
        },
    ]

    private enum Step {
        case change(String, String), poll, pass(Int)
    }

    private func steps(_ random: inout some RandomNumberGenerator) -> [Step] {
        (0..<120).map { _ in
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                .change(
                    ["a", "b", "c"].randomElement(using: &random) ?? "a", Bool.random(using: &random) ? "down" : "up")
            case 1: .poll
            default: .pass(Int.random(in: 1...45, using: &random))
            }
        }
    }

    private func play(_ steps: [Step], restartAfter: Set<Int>) -> [String] {
        var harness = RuleHarness()
        harness.engine = RuleEngine(RuleSet(Self.rules), civil: ZoneTime())
        var states: [String: String] = [:]
        for (i, step) in steps.enumerated() {
            switch step {
            case .change(let key, let state):
                if states[key] != state { harness.item(key, state, was: states[key]) }
                states[key] = state
            case .poll: harness.poll()
            case .pass(let seconds): harness.pass(.seconds(seconds))
            }
            if restartAfter.contains(i) { harness.restart() }
        }
        harness.pass(.seconds(3600))
        return harness.sent
    }

    @Test(
        "events, polls and time in any order have the same outcome with a restart after any of them", arguments: 0..<40)
    func anywhere(seed: Int) {
        var random = SplitMix64(UInt64(seed) + 1)
        let steps = steps(&random)
        let expected = play(steps, restartAfter: [])
        #expect(!expected.isEmpty)
        let some = Set((0..<12).map { _ in Int.random(in: 0..<steps.count, using: &random) })
        #expect(play(steps, restartAfter: some) == expected)
        #expect(play(steps, restartAfter: Set(steps.indices)) == expected)
    }

    @Test("undo removes everything that a step changed")
    func undone() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.pendingFor = .seconds(90) })
        let event = Event(
            id: Identifier("e"), kind: .changed, time: harness.now.wall, source: "lab", sourceKind: "json", poll: "p",
            item: Item(key: "a", state: "down"),
            changes: [FieldChange(field: "state", from: "up", to: "down")])
        let step = harness.engine.evaluate(event, at: harness.now) { Identifier("x") }
        #expect(harness.engine.remembered.count == 1)
        harness.engine.undo(step)
        #expect(harness.engine.remembered.isEmpty)
        #expect(harness.engine.nextConfirmation(of: "lab") == nil)
    }
}
