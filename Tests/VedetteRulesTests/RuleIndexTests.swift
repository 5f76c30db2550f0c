// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@Suite("The index of rules")
struct RuleIndexTests {
    private static func event(_ random: inout SplitMix64) -> Event {
        let (states, keys) = (["up", "down", "lost"], ["a", "b", "c"])
        let key = keys.randomElement(using: &random) ?? "a"
        let state = states.randomElement(using: &random) ?? "up"
        let kinds: [Event.Kind] = [.appeared, .changed, .disappeared, .failing]
        let kind = kinds.randomElement(using: &random) ?? .changed
        let item = Item(
            key: key, title: "T" + key, state: state,
            fields: ["tags": .list(["x", keys.randomElement(using: &random) ?? "a"])])
        let from = states.randomElement(using: &random) ?? "up"
        return Event(
            id: Identifier("e"), kind: kind, time: RuleHarness.noon,
            source: Bool.random(using: &random) ? "lab" : "web",
            sourceKind: "json", poll: "p", item: kind.isAboutItem ? item : nil,
            changes: kind == .changed ? [FieldChange(field: "state", from: .text(from), to: .text(state))] : [])
    }

    private static func condition(_ random: inout SplitMix64, depth: Int = 0) -> Condition {
        let names = ["a", "b", "c"]
        let name = names.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<(depth < 3 ? 12 : 9), using: &random) {
        case 0: return .source([Bool.random(using: &random) ? "lab" : "web"], text: "")
        case 1: return .item("key", .oneOf([name]))
        case 2: return .item("tags", .oneOf([name, "x"]))
        case 3: return .item("title", .glob(Glob("T*")))
        case 4: return .field("state", from: nil, to: .oneOf(["down"]))
        case 5: return .field("state", from: .oneOf(["up"]), to: nil)
        case 6: return .changes(["state", "title"])
        case 7: return Bool.random(using: &random) ? .appears : .disappears
        case 8: return .sourceState([.failing])
        case 9: return .all([condition(&random, depth: depth + 1), condition(&random, depth: depth + 1)])
        case 10: return .any([condition(&random, depth: depth + 1), condition(&random, depth: depth + 1)])
        default: return .not(condition(&random, depth: depth + 1))
        }
    }

    @Test("finds every rule that a full scan finds, in the same order", arguments: 0..<60)
    func complete(seed: Int) {
        var random = SplitMix64(UInt64(seed) + 7)
        let rules = (0..<40).map { Rule.when(Self.condition(&random), name: "r\($0)") }
        let set = RuleSet(rules)
        for _ in 0..<50 {
            let event = Self.event(&random)
            let all = set.evaluateAll(event).filter { $0.result == .matched }.map(\.rule.name)
            let found = set.evaluate(event).filter { $0.result == .matched }.map(\.rule.name)
            #expect(found == all)
        }
    }

    @Test("evaluates only the rules about the item, the value or the source of an event")
    func narrow() {
        let rules =
            (0..<1000).map {
                Rule.when(
                    .all([.source(["lab"], text: ""), .item("key", .oneOf(["k\($0)"])), .becomes("down")]),
                    name: "i\($0)")
            } + (0..<1000).map { Rule.when(.all([.source(["lab"], text: ""), .becomes("s\($0)")]), name: "s\($0)") }
        let event = Event(
            id: Identifier("e"), kind: .changed, time: RuleHarness.noon, source: "lab", sourceKind: "json", poll: "p",
            item: Item(key: "k5", state: "down"),
            changes: [FieldChange(field: "state", from: "up", to: "down")])
        #expect(RuleSet(rules).evaluate(event).map(\.rule.name) == ["i5"])
    }
}
