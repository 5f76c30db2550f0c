// SPDX-License-Identifier: Apache-2.0

/// What an engine takes over from the engines of other watchers that share its journal. No step of its own may await its
/// commit meanwhile.
extension RuleEngine {
    /// The part of the rules that one of several watchers evaluates; a single watcher evaluates all.
    struct Share: Sendable {
        /// The rules whose deadlines it evaluates; nil for all.
        private var rules: Set<String>?
        /// The sources whose polls it evaluates.
        private var sources = Set<String>()

        func fires(_ rule: String) -> Bool { rules?.contains(rule) ?? true }
        func polls(_ source: String) -> Bool { rules == nil || sources.contains(source) }

        mutating func join(_ source: String) { if rules != nil { sources.insert(source) } }
        mutating func leave(_ source: String) { sources.remove(source) }

        /// Returns the rules whose deadlines were another watcher's before.
        mutating func fire(_ rules: Set<String>) -> Set<String> {
            defer { self.rules = rules }
            return rules.subtracting(self.rules ?? [])
        }
    }

    /// Replaces rows by those that other watchers wrote. Rows of a rule that is unknown here are left out.
    /// - Parameter isComplete: whether these are all rows of the journal, so that any other one is gone.
    public mutating func take(_ changes: [RuleMemory.Key: RuleMemory?], isComplete: Bool = false, at now: RuleTime) {
        if isComplete { for key in table.keys where !changes.keys.contains(key) { forget(key) } }
        for (key, row) in changes {
            if let row, let rule = rules.rule(named: key.rule) ?? row.ofGoneRule {
                put(row.clamped(by: rule, at: now))
            } else {
                forget(key)
            }
        }
        // They are in the journal already.
        step.clear()
    }

    /// Takes the health of sources that other watchers poll.
    /// - Parameters:
    ///   - sources: the sources that `health` is about.
    ///   - uncertain: the sources among them whose last poll failed.
    public mutating func take(_ health: SourceHealth, of sources: Set<String>, uncertain: Set<String>) {
        for source in sources {
            world.take(health, of: source)
            if uncertain.contains(source) { pollFailed(source) } else { becomeCertain(source) }
        }
    }

    /// Tells what `depends`, `if` and `unless` withheld and what is allowed now, as other watchers found.
    public mutating func openSourceGates(at now: RuleTime, identifier: () -> Identifier) -> Step {
        take(at: now, identifier) { engine, moment in engine.openSourceGates(at: moment) }
    }

    mutating func openSourceGates(at moment: StepContext) {
        for rule in rules.rules { openDependencies(of: rule, at: moment) }
        openConditions(at: moment)
    }

    /// Begins to follow the polls of a source.
    /// - Parameter isUncertain: whether its items may have changed since its last good poll.
    public mutating func join(_ source: String, isUncertain: Bool) {
        share.join(source)
        becomeCertain(source)
        if isUncertain { pollFailed(source) }
    }

    /// Ends to follow the polls of a source, which another watcher polls from now on.
    public mutating func leave(_ source: String) {
        share.leave(source)
        becomeCertain(source)
    }

    private mutating func becomeCertain(_ source: String) {
        guard world.confirmElsewhere(source) else { return }
        // Their timers may have run down meanwhile.
        for key in table.keys(of: source) { table.renewTimers(of: key) }
    }

    /// Evaluates the deadlines of these rules alone from now on, and the polls of the sources that it joins alone.
    public mutating func fire(_ rules: Set<String>) {
        let gained = share.fire(rules)
        // A timer that ran down while another watcher evaluated the rule is set again.
        for row in table.all where gained.contains(row.key.rule) {
            table.renewTimers(of: row.key)
        }
    }

    /// Whether it evaluates the deadlines of a rule. One that is gone belongs to no watcher, so that each of them tries.
    func fires(_ rule: String) -> Bool { share.fires(rule) || rules.rule(named: rule) == nil }

    /// Returns the other sources on which the messages of a step may depend.
    public func sourcesRead(by step: Step) -> Set<String> {
        var sources = Set<String>()
        for name in step.rules {
            guard let rule = rules.rule(named: name) else { continue }
            sources.formUnion(rule.gates.depends)
            sources.formUnion(rule.sourceConditions.map(\.source))
        }
        // A recovery names the other sources of the server that still fail.
        let servers = world.health.servers
        let recovered = step.deliveries.map(\.message.event).filter { $0.item == nil }.compactMap { servers[$0.source] }
        if !recovered.isEmpty {
            let affected = Set(recovered)
            sources.formUnion(servers.filter { affected.contains($0.value) }.keys)
        }
        return sources
    }
}
