// SPDX-License-Identifier: Apache-2.0

/// `how_many`: a bound for the number of items of a source that match.
public struct ItemCount: Sendable {
    /// The items that count, and their source.
    public var condition: SourceCondition
    /// The bound.
    public var bound: Threshold

    /// Creates a count.
    public init(_ condition: SourceCondition, bound: Threshold) { (self.condition, self.bound) = (condition, bound) }

    func isTrue(_ count: Int) -> Bool {
        switch bound {
        case .above(let bound): Double(count) > bound
        case .below(let bound): Double(count) < bound
        }
    }

    /// The title of the message.
    func title(_ count: Int) -> String {
        let side =
            switch bound {
            case .above(let bound): "above \(JSON.number(rounded: bound).text)"
            case .below(let bound): "below \(JSON.number(rounded: bound).text)"
            }
        return "\(counted(count, "item")) of \(condition.source) with \(condition.field) "
            + "\(condition.matcher.description), \(isTrue(count) ? "" : "no longer ")\(side)"
    }

    /// Returns the event of a message about a count.
    func event(_ count: Int, id: Identifier, at now: Timestamp) -> Event {
        var event = Event(
            id: id, kind: .elapsed, time: now, source: condition.source, sourceKind: Event.watcher, poll: "")
        event.summary = Event.Summary(count: count)
        event.summary?.title = title(count)
        return event
    }
}

extension Timestamp {
    /// Reads the time in a field: RFC 3339, a date, or seconds or milliseconds since 1970.
    init?(written value: Value) {
        let text = value.description
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
            self = time
        } else if let number = Int64(text), number > 0 {
            self.init(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
        } else {
            return nil
        }
    }
}

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
            memory.event?.summary?.title = wanted.title(count)
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
