// SPDX-License-Identifier: Apache-2.0

/// What `if`, `unless` and `how_many` ask of other sources.
extension RuleEngine {
    /// The sources whose items `if`, `unless` and `how_many` ask for.
    public var factSources: Set<String> { world.facts.sources }

    /// Begins to gather what other rules ask for. Until `reload` takes the facts, polls count for them and for those in force.
    /// - Returns: the sources whose stored items are to be added.
    public mutating func gatherFacts(for rules: RuleSet) -> Set<String> {
        let facts = SourceFacts(rules, isGathering: true)
        gathered = facts
        gatherings += 1
        return facts.sources
    }

    /// Adds the stored items of a source to the facts that are gathered, else to those in force.
    public mutating func addStoredFacts(of source: String, _ items: [Item]) {
        if gathered != nil { gathered?.addStored(source, items) } else { world.facts.addStored(source, items) }
    }

    /// Replaces the items of a source by those that the journal has.
    public mutating func replaceFacts(of source: String, _ items: [Item]) {
        world.facts.replace(source, items)
        gathered?.replace(source, items)
    }

    /// Forgets the items of a source of which no poll is stored.
    public mutating func forgetFacts(of source: String) {
        world.facts.forget(source)
        gathered?.forget(source)
    }

    /// Takes the facts that were gathered for the rules in force.
    mutating func takeGatheredFacts() {
        world.facts = gathered ?? SourceFacts(rules)
        world.facts.complete()
        gathered = nil
    }

    mutating func updateFacts(of source: String, _ observation: PollObservation) {
        world.facts.update(source, observation)
        gathered?.update(source, observation)
    }

    mutating func addFact(of source: String, _ item: Item) { world.facts.add(source, item) }
}
