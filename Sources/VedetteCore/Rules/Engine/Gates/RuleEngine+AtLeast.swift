// SPDX-License-Identifier: Apache-2.0

/// `at_least`: one message when so many events match within a time.
extension RuleEngine {
    /// `at_least`: counts a match, and releases it when it is the last one that is needed.
    mutating func count(_ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        guard let needed = rule.gates.atLeast else { return release(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .tally, name: needed.by.value(of: event))
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.times = memory.times.filter { $0.advanced(by: needed.per) > now.steady } + [now.steady]
        guard memory.times.count < needed.count else {
            forget(key)
            return release(rule, event, count: needed.count - 1, at: now, identifier)
        }
        memory.due = memory.times.first?.advanced(by: needed.per)
        guard put(memory) else { return suppressForRoom(rule, event, .tally, at: now, identifier) }
        let window = DurationText.long(seconds: needed.per.inSeconds)
        let reason = "\(memory.times.count) of \(needed.count) within \(window)"
        suppress(rule, event, reason, at: now, identifier)
    }

    /// The oldest match left the span of `at_least`.
    mutating func slideTally(_ memory: RuleMemory, _ rule: Rule, at now: RuleTime) {
        guard let needed = rule.gates.atLeast else { return forget(memory.key) }
        var memory = memory
        memory.times.removeAll { $0.advanced(by: needed.per) <= now.steady }
        guard let first = memory.times.first else { return forget(memory.key) }
        memory.due = first.advanced(by: needed.per)
        put(memory)
    }
}
