// SPDX-License-Identifier: Apache-2.0

/// What an engine takes over from the engines of other watchers that share its journal. No step of its own may await its
/// commit meanwhile.
extension RuleEngine {
    /// Replaces rows by those that other watchers wrote. Rows of a rule that is written differently here are left out.
    public mutating func take(_ changes: [RuleMemory.Key: RuleMemory?], at now: RuleTime) {
        for (key, memory) in changes {
            if let memory, let rule = rule(of: key), rule.identity == memory.identity {
                put(memory.clamped(by: rule, at: now))
            } else {
                forget(key)
            }
        }
        // They are in the journal already.
        step = Step()
    }

    /// Takes the health of sources that other watchers poll.
    /// - Parameters:
    ///   - sources: the sources that `health` is about.
    ///   - uncertain: those of them whose last poll failed.
    public mutating func take(_ health: SourceHealth, of sources: Set<String>, uncertain: Set<String>) {
        for source in sources {
            causes[source] = health.failing[source]
            if health.failing[source] != nil { failing.insert(source) } else { failing.remove(source) }
            if health.down.contains(source) { down.insert(source) } else { down.remove(source) }
            if let server = health.servers[source] { servers[source] = server }
            if uncertain.contains(source) { pollFailed(source) } else { becomeCertain(source) }
        }
    }

    /// Lets the messages go that `depends` withheld and whose sources are available, as other watchers found.
    public mutating func openDependencies(at now: RuleTime) -> Step {
        for rule in rules.rules where !rule.gates.depends.isEmpty { openDependencies(of: rule, at: now) }
        return takeStep()
    }

    /// Begins to follow the polls of a source.
    /// - Parameter isUncertain: whether its items may have changed since its last good poll.
    public mutating func join(_ source: String, isUncertain: Bool) {
        followed?.insert(source)
        becomeCertain(source)
        if isUncertain { pollFailed(source) }
    }

    /// Ends to follow the polls of a source, which another watcher polls from now on.
    public mutating func leave(_ source: String) {
        followed?.remove(source)
        becomeCertain(source)
    }

    private mutating func becomeCertain(_ source: String) {
        missing[source] = nil
        guard unconfirmed.remove(source) != nil else { return }
        // Their timers may have run down meanwhile.
        for key in keys(of: source) { if let memory = memories[key] { pushTimer(of: memory) } }
    }

    /// Evaluates the deadlines of these rules alone from now on, and the polls of the sources that it joins alone.
    public mutating func fire(_ rules: Set<String>) {
        let earlier = firingRules ?? []
        firingRules = rules
        followed = followed ?? []
        // A timer that ran down while another watcher evaluated the rule is set again.
        for memory in memories.values where rules.contains(memory.key.rule) && !earlier.contains(memory.key.rule) {
            pushTimer(of: memory)
        }
    }

    /// Returns the other sources on which the messages of a step may depend.
    public func sourcesRead(by step: Step) -> Set<String> {
        var sources = Set<String>()
        for name in step.rules {
            guard let rule = rules.rule(named: name) else { continue }
            sources.formUnion(rule.gates.depends)
            sources.formUnion(rule.sourceConditions.map(\.source))
        }
        // A recovery names the other sources of the server that still fail.
        let recovered = step.deliveries.map(\.message.event).filter { $0.item == nil }.compactMap { servers[$0.source] }
        if !recovered.isEmpty {
            let affected = Set(recovered)
            sources.formUnion(servers.filter { affected.contains($0.value) }.keys)
        }
        return sources
    }
}

extension RuleEngine.Step {
    /// The rules of which the step changed rows or made deliveries.
    public var rules: Set<String> { Set(changes.keys.map(\.rule)).union(deliveries.map(\.message.rule)) }
}
