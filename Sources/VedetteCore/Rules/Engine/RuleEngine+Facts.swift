// SPDX-License-Identifier: Apache-2.0

/// What `if`, `unless` and `how_many` ask of other sources.
extension RuleEngine {
    /// The sources whose items `if`, `unless` and `how_many` ask for.
    public var factSources: Set<String> { world.facts.inForce.sources }

    /// Begins to gather what other rules ask for. Until `reload` takes the facts, polls count for them and for those in force.
    /// - Returns: the sources whose stored items are to be added.
    public mutating func gatherFacts(for rules: RuleSet) -> Set<String> {
        world.facts.gather(for: rules)
    }

    /// Adds the stored items of a source to the facts that are gathered, else to those in force.
    public mutating func addStoredFacts(of source: String, _ items: [Item]) {
        world.facts.addStored(source, items)
    }

    /// Replaces the items of a source by those that the journal has.
    public mutating func replaceFacts(of source: String, _ items: [Item]) {
        world.facts.replace(source, items)
    }

    /// Forgets the items of a source of which no poll is stored.
    public mutating func forgetFacts(of source: String) { world.facts.forget(source) }

    mutating func addFact(of source: String, _ item: Item) { world.facts.add(source, item) }
}
