// SPDX-License-Identifier: Apache-2.0

/// What a poll saw of a source, besides its events.
public struct PollObservation: Sendable {
    /// It was a good one: it confirms what is still so.
    public var isGood: Bool
    /// Items of a list that were not in it, though it is not certain yet that they are gone: it confirms nothing of them.
    public var missing: Set<String> = []
    /// Items that are known no longer, without an event that says so: they left a window long ago, or have other keys.
    public var forgotten: Set<String> = []
    /// The snapshot starts anew, and this is all that is known.
    public var baseline: [StoredItem]?

    public init(isGood: Bool = true) { self.isGood = isGood }
}

/// What polls say of what is remembered.
extension RuleEngine {
    /// The snapshot starts anew: no event tells what changed and what is gone.
    mutating func beginAnew(
        _ source: String, _ items: [StoredItem], at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let keys = keys(of: source)
        guard !keys.isEmpty else { return }
        let stored = Dictionary(items.map { ($0.key, $0) }) { _, last in last }
        for key in keys {
            guard let memory = memories[key], let rule = rule(of: key), var event = memory.event,
                let name = event.item?.key
            else { continue }
            let wasGone = event.kind == .disappeared
            if let item = stored[name]?.item {
                (event.item, event.changes, event.kind) = (item, [], wasGone ? .appeared : .changed)
                reconsider(memory, rule, event, at: now, identifier)
            } else if !wasGone {
                end(memory, rule, "its source was read anew without it", at: now, identifier)
            }
        }
    }

    /// Items that no event will ever speak of again.
    mutating func forgetItems(
        _ names: Set<String>, of source: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        for key in keys(of: source) {
            guard let memory = memories[key], let rule = rule(of: key), let event = memory.event,
                let name = event.item?.key, names.contains(name), event.kind != .disappeared
            else { continue }
            end(memory, rule, "its source shows it no longer", at: now, identifier)
        }
    }

    /// A good poll, after its events: what waits for it is said.
    /// - Parameter fresh: its events.
    mutating func confirm(
        _ source: String, missing absent: Set<String>, _ fresh: [Event], at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        if unsure.remove(source) != nil { step.wereUnsure.insert(source) }
        missing[source] = absent.isEmpty || keys(of: source).isEmpty ? nil : absent
        for key in keys(of: source) {
            guard let memory = memories[key], memory.isDue(at: now), !isUncertain(memory), let rule = rule(of: key)
            else { continue }
            elapsed(memory, rule, at: now, identifier)
        }
        // Nothing says that a doubt is over but a good poll.
        let doubts = bySubject[Subject(source: source, key: nil)] ?? []
        for key in RuleEngine.ordered(doubts) {
            guard let memory = memories[key], let event = memory.event, [.stale, .suspect].contains(event.kind),
                !fresh.contains(where: { $0.id == event.id }), let rule = rule(of: key)
            else { continue }
            end(memory, rule, "no longer so after \(memory.age(at: now))", at: now, identifier)
        }
    }

    /// A poll that was not good, or none at all: judgement of that source's items pauses until the next good one.
    public mutating func missed(_ source: String) {
        if bySource[source] != nil { unsure.insert(source) }
    }

    /// Whether a good poll of that source is to be told, though it brought nothing.
    public func awaits(_ source: String, at now: RuleTime) -> Bool {
        unsure.contains(source) || missing[source] != nil || nextPull(of: source).map { $0 <= now.steady } ?? false
    }

    /// What is remembered of an item is not said while nobody knows whether it is still so.
    func isUncertain(_ memory: RuleMemory) -> Bool {
        guard memory.waitsForItem, let subject = memory.subject else { return false }
        if unsure.contains(subject.source) { return true }
        guard let key = subject.key, memory.event?.kind != .disappeared else { return false }
        return missing[subject.source]?.contains(key) ?? false
    }
}
