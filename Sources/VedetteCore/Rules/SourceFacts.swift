// SPDX-License-Identifier: Apache-2.0

/// The items of other sources that `if` and `unless` ask for, as the last good polls showed them. Of each condition it keeps
/// the keys of the items that match.
struct SourceFacts: Sendable {
    private struct Fact: Sendable {
        var condition: SourceCondition
        var keys = Set<String>()
    }

    /// The facts of each rule, in the order of its conditions. The last one of a rule with `how_many` is that.
    private var facts: [String: [Fact]] = [:]
    /// The rules that ask for a source.
    private var rules: [String: Set<String>] = [:]
    /// The sources that were read. Before that, nothing is known that could hold a message back.
    private var known = Set<String>()

    init() {}

    init(_ set: RuleSet) {
        for rule in set.rules {
            let conditions = rule.sourceConditions
            guard !conditions.isEmpty else { continue }
            facts[rule.name] = conditions.map { Fact(condition: $0) }
            for condition in conditions { rules[condition.source, default: []].insert(rule.name) }
        }
    }

    /// The sources that rules ask for.
    var sources: Set<String> { Set(rules.keys) }

    mutating func update(with event: Event) {
        guard let item = event.item, rules[event.source] != nil else { return }
        known.insert(event.source)
        set(event.source, item.key, event.kind == .disappeared ? nil : item)
    }

    mutating func update(_ source: String, _ observation: PollObservation) {
        guard rules[source] != nil, observation.isGood else { return }
        known.insert(source)
        if observation.baseline != nil { clear(source) }
        for stored in observation.stored { if let item = stored.item { set(source, item.key, item) } }
        for key in observation.deleted { set(source, key, nil) }
    }

    /// Sets all items of a source.
    mutating func replace(_ source: String, _ items: [Item]) {
        known.insert(source)
        clear(source)
        for item in items { set(source, item.key, item) }
    }

    mutating func add(_ source: String, _ item: Item) {
        known.insert(source)
        set(source, item.key, item)
    }

    private mutating func clear(_ source: String) {
        change(source) { $0.keys = [] }
    }

    private mutating func set(_ source: String, _ key: String, _ item: Item?) {
        change(source) { fact in
            if item.map(fact.condition.matches) == true {
                fact.keys.insert(key)
            } else {
                fact.keys.remove(key)
            }
        }
    }

    private mutating func change(_ source: String, _ body: (inout Fact) -> Void) {
        for rule in rules[source] ?? [] {
            guard var all = facts.removeValue(forKey: rule) else { continue }
            for i in all.indices where all[i].condition.source == source { body(&all[i]) }
            facts[rule] = all
        }
    }

    /// Returns how many items `how_many` of the rule counts; nil before its source was read.
    func count(_ rule: String) -> Int? {
        facts[rule]?.last.flatMap { known.contains($0.condition.source) ? $0.keys.count : nil }
    }

    /// Returns the first condition of the rule that does not hold, as a sentence; nil when all hold.
    func unmet(_ rule: Rule) -> String? {
        let unmet = facts[rule.name]?.prefix(rule.gates.conditions.count).first {
            known.contains($0.condition.source) && $0.keys.isEmpty != $0.condition.isExcluded
        }
        return unmet?.condition.obstacle
    }
}

extension RuleEngine {
    /// The sources whose items `if` and `unless` ask for.
    public var factSources: Set<String> { facts.sources }

    /// Sets the items of a source for `if` and `unless`.
    public mutating func setFacts(of source: String, _ items: [Item]) { facts.replace(source, items) }

    mutating func addFact(of source: String, _ item: Item) { facts.add(source, item) }

    /// Returns why `if` or `unless` suppresses the rule's messages; nil when both let them through.
    func unmetCondition(of rule: Rule) -> String? {
        rule.gates.conditions.isEmpty ? nil : facts.unmet(rule)
    }
}
