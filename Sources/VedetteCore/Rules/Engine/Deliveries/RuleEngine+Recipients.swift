// SPDX-License-Identifier: Apache-2.0

/// Which sinks were told a match, and so are to be told its end: by `resolved`, or by a rule that matches failures and recoveries.
extension RuleEngine {
    /// Returns the sinks that were told the match and not its end, by name.
    func recipients(_ rule: Rule, _ event: Event) -> [String] { memories[recipientsKey(rule, event)]?.lines ?? [] }

    /// Remembers that sinks were told a match, or its end.
    mutating func rememberRecipients(_ rule: Rule, _ event: Event, _ sinks: Set<String>, at now: RuleTime) {
        // With `nothing` the row of the absence knows it.
        guard rule.gates.resolved || HealthChange(event) != nil, rule.gates.nothing == .zero, event.kind != .digest,
            !sinks.isEmpty
        else { return }
        guard !rule.isEnd(event) else { return forgetRecipients(rule, event, sinks) }
        let key = recipientsKey(rule, event)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        if !memory.times.isEmpty { (memory.since, memory.times, memory.isAfter) = (now.steady, [], false) }
        // A reminder is about an earlier event.
        if event.kind != .reminder { memory.event = event }
        memory.lines = Set(memory.lines).union(sinks).sorted()
        put(memory)
    }

    /// Forgets sinks that were told the end of a match, or that are not to be told it.
    mutating func forgetRecipients(_ rule: Rule, _ event: Event, _ sinks: Set<String>) {
        let key = recipientsKey(rule, event)
        guard !sinks.isEmpty, var memory = memories[key] else { return }
        memory.lines.removeAll(where: sinks.contains)
        if memory.lines.isEmpty { forget(key) } else { put(memory) }
    }

    /// A match that is over is true again: its end will have to be released once more.
    mutating func noteMatchAfterEnd(_ rule: Rule, _ event: Event) {
        let key = recipientsKey(rule, event)
        guard rule.gates.resolved, var memory = memories[key], memory.isAfter else { return }
        memory.isAfter = false
        put(memory)
    }

    /// A match that sinks were told is over, and no message of the rule will say so.
    mutating func endUnresolved(_ memory: RuleMemory, _ rule: Rule, by ending: Event?) {
        if let ending, rule.when.matches(ending) { return }
        forget(memory.key)
    }

    private func recipientsKey(_ rule: Rule, _ event: Event) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .recipients, name: Subject(event).text)
    }
}

extension Rule {
    /// Whether the event is the end of what was told, and no match of its own.
    fileprivate func isEnd(_ event: Event) -> Bool {
        event.kind == .resolved || !gates.resolved && HealthChange(event) == .recovered
    }
}
