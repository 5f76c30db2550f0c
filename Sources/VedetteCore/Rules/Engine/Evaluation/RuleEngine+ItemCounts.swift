// SPDX-License-Identifier: Apache-2.0

/// `how_many`: the engine makes an event when the number of items crosses the bound.
extension RuleEngine {
    /// Evaluates the counts of a source after its poll.
    mutating func evaluateCounts(of source: String, at now: RuleTime, _ identifier: () -> Identifier) {
        if uncounted.remove(source) != nil { step.wereUncounted.insert(source) }
        for rule in rules.counting {
            guard let wanted = rule.when.count, wanted.condition.source == source,
                let count = facts.count(rule.name)
            else { continue }
            let key = RuleMemory.Key(rule: rule.name, slot: .counted, name: source)
            switch (wanted.isTrue(count), memories[key] != nil) {
            case (true, false):
                put(RuleMemory(key: key, identity: rule.identity, since: now.steady))
                hold(rule, wanted.event(count, id: identifier(), at: now.wall), at: now, identifier)
            case (true, true): updateCount(rule, wanted, count)
            case (false, true):
                forget(key)
                endCount(rule, wanted.event(count, id: identifier(), at: now.wall), at: now, identifier)
            case (false, false): break
            }
        }
    }

    /// The count is another one beyond the bound: what waits to announce it, and its reminders, have the latest one.
    private mutating func updateCount(_ rule: Rule, _ wanted: ItemCount, _ count: Int) {
        for key in bySubject[Subject(source: wanted.condition.source, key: nil)] ?? [] where key.rule == rule.name {
            guard var memory = memories[key], memory.event?.kind == .elapsed, memory.event?.summary?.count != count
            else { continue }
            memory.event?.summary?.count = count
            memory.event?.summary?.title = MessageTitle.of(count, wanted)
            put(memory)
        }
    }

    /// The count is back within the bound.
    /// - Parameter event: has the count.
    private mutating func endCount(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        for key in RuleEngine.ordered(bySubject[Subject(event)] ?? []) where key.rule == rule.name {
            guard let memory = memories[key] else { continue }
            let reason = "no longer so after \(memory.age(at: now))"
            resolve(memory, rule, reason, by: event, at: now, identifier)
        }
    }
}
