// SPDX-License-Identifier: Apache-2.0

/// `resolved`: which sinks were told a match, and so are to be told its end.
extension RuleEngine {
    /// Returns the sinks that were told the match and not its end, by name.
    func recipients(_ rule: Rule, _ event: Event) -> [String] { memories[recipientsKey(rule, event)]?.lines ?? [] }

    /// Remembers that sinks were told a match.
    mutating func rememberRecipients(_ rule: Rule, _ event: Event, _ sinks: Set<String>, at now: RuleTime) {
        // With `nothing` the row of the absence knows it.
        guard rule.gates.resolved, rule.gates.nothing == .zero, event.kind != .digest, !sinks.isEmpty else { return }
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

    private func recipientsKey(_ rule: Rule, _ event: Event) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .recipients, name: Subject(event).text)
    }
}
