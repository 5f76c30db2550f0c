// SPDX-License-Identifier: Apache-2.0

/// What rules ask of other sources: the facts in force, and before a reload those that the coming rules ask for.
struct RuleFacts: Sendable {
    private(set) var inForce: SourceFacts
    /// What the rules of a coming reload ask for, while stored items are added.
    private var gathered: SourceFacts?
    /// How often facts were gathered: a poll whose evaluation began before counts for them, too.
    private(set) var gatherings = 0

    init(_ rules: RuleSet) { inForce = SourceFacts(rules) }

    /// Begins to gather what other rules ask for.
    /// - Returns: the sources whose stored items are to be added.
    mutating func gather(for rules: RuleSet) -> Set<String> {
        let facts = SourceFacts(rules, isGathering: true)
        gathered = facts
        gatherings += 1
        return facts.sources
    }

    /// Puts what was gathered for these rules in force.
    mutating func takeGathered(for rules: RuleSet) {
        inForce = gathered ?? SourceFacts(rules)
        inForce.complete()
        gathered = nil
    }

    mutating func addStored(_ source: String, _ items: [Item]) {
        if gathered != nil { gathered?.addStored(source, items) } else { inForce.addStored(source, items) }
    }

    mutating func replace(_ source: String, _ items: [Item]) {
        inForce.replace(source, items)
        gathered?.replace(source, items)
    }

    mutating func forget(_ source: String) {
        inForce.forget(source)
        gathered?.forget(source)
    }

    mutating func update(_ source: String, _ observation: PollObservation) {
        inForce.update(source, observation)
        gathered?.update(source, observation)
    }

    /// Takes the item of an event. What is gathered has it from the observation of the poll.
    mutating func update(with event: Event) { inForce.update(with: event) }

    mutating func add(_ source: String, _ item: Item) { inForce.add(source, item) }
}
