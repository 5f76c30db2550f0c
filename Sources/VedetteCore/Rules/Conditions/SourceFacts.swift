// SPDX-License-Identifier: Apache-2.0

/// The items of other sources that `if` and `unless` ask for, as the last good polls showed them. Of each condition it keeps
/// the keys of the items that match.
struct SourceFacts: Sendable {
    private struct Fact: Sendable {
        var condition: SourceCondition
        var keys = Set<String>()

        mutating func update(_ key: String, _ item: Item?) {
            if item.map(condition.matches) == true { keys.insert(key) } else { keys.remove(key) }
        }
    }

    /// The facts of each rule, in the order of its conditions. The last one of a rule with `how_many` is that.
    private var facts: [String: [Fact]] = [:]
    /// The rules that ask for a source.
    private var rules: [String: Set<String>] = [:]
    /// The sources that were read. Before that, nothing is known that could hold a message back.
    private var known = Set<String>()
    /// What polls brought since the facts are gathered; nil when they are complete. The journal may have older values.
    private var polled: Polled?

    private struct Polled {
        var keys: [String: Set<String>] = [:]
        /// Sources of which every key is from a poll.
        var whole = Set<String>()
    }

    init() {}

    /// - Parameter isGathering: whether stored items follow, while polls go on.
    init(_ set: RuleSet, isGathering: Bool = false) {
        if isGathering { polled = Polled() }
        for rule in set.rules {
            let conditions = rule.sourceConditions
            guard !conditions.isEmpty else { continue }
            facts[rule.name] = conditions.map { Fact(condition: $0) }
            for condition in conditions { rules[condition.source, default: []].insert(rule.name) }
        }
    }

    /// The rules that ask for a source.
    func rules(asking source: String) -> Set<String> { rules[source] ?? [] }

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
        if observation.baseline != nil {
            polled?.whole.insert(source)
            clear(source)
        }
        for stored in observation.stored { if let item = stored.item { set(source, item.key, item) } }
        for key in observation.deleted { set(source, key, nil) }
    }

    /// Adds the stored items of a source, except what a poll brought since the facts are gathered.
    mutating func addStored(_ source: String, _ items: [Item]) {
        known.insert(source)
        guard polled?.whole.contains(source) != true else { return }
        let newer = polled?.keys[source] ?? []
        for item in items where !newer.contains(item.key) { change(source) { $0.update(item.key, item) } }
    }

    /// Replaces the items of a source that another watcher has polled. No item is a fact, too.
    mutating func replace(_ source: String, _ items: [Item]) {
        known.insert(source)
        clear(source)
        for item in items { add(source, item) }
    }

    /// Forgets a source of which no poll is stored.
    mutating func forget(_ source: String) {
        known.remove(source)
        clear(source)
    }

    /// Ends the gathering.
    mutating func complete() { polled = nil }

    mutating func add(_ source: String, _ item: Item) {
        known.insert(source)
        set(source, item.key, item)
    }

    private mutating func clear(_ source: String) {
        change(source) { $0.keys = [] }
    }

    private mutating func set(_ source: String, _ key: String, _ item: Item?) {
        polled?.keys[source, default: []].insert(key)
        change(source) { $0.update(key, item) }
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

    /// Returns the first condition of the rule that does not hold; nil when all hold.
    func unmet(_ rule: Rule) -> SourceCondition? {
        let unmet = facts[rule.name]?.prefix(rule.gates.conditions.count).first {
            known.contains($0.condition.source) && $0.keys.isEmpty != $0.condition.isExcluded
        }
        return unmet?.condition
    }
}
