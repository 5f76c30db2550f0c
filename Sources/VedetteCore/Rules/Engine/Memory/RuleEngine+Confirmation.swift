// SPDX-License-Identifier: Apache-2.0

/// What polls change in the memory of the rules: a good one confirms what is remembered of its items, and no message is sent
/// about an item that none has confirmed.
extension RuleEngine {
    /// Updates what is remembered of a source's items from a new baseline, since no event shows what changed or is gone.
    mutating func rebaseline(
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
                update(memory, rule, with: event, at: now, identifier)
            } else if !wasGone {
                resolve(memory, rule, "it is not in the new baseline of its source", at: now, identifier)
            }
        }
    }

    /// Resolves what is remembered of items that left without an event.
    mutating func forgetItems(
        _ names: Set<String>, of source: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        for name in names { forgetAnnounced(Subject(source: source, key: name)) }
        for key in keys(of: source) {
            guard let memory = memories[key], let rule = rule(of: key), let event = memory.event,
                let name = event.item?.key, names.contains(name), event.kind != .disappeared
            else { continue }
            resolve(memory, rule, "its source no longer shows it", at: now, identifier)
        }
    }

    /// Releases what waited for a good poll of this source. Called after the poll's events.
    /// - Parameter events: the poll's events.
    mutating func confirm(
        _ source: String, missing absent: Set<String>, _ events: [Event], at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        if unconfirmed.remove(source) != nil { step.wereUnconfirmed.insert(source) }
        missing[source] = absent.isEmpty || keys(of: source).isEmpty ? nil : absent
        for key in keys(of: source) {
            guard let memory = memories[key], memory.isDue(at: now), !isUncertain(memory), let rule = rule(of: key)
            else { continue }
            expire(memory, rule, at: now, identifier)
        }
        // No event says that a source is no longer stale or suspect; a good poll does.
        let aboutSource = bySubject[Subject(source: source, key: nil)] ?? []
        for key in RuleEngine.ordered(aboutSource) {
            guard let memory = memories[key], let event = memory.event, [.stale, .suspect].contains(event.kind),
                !events.contains(where: { $0.id == event.id }), let rule = rule(of: key)
            else { continue }
            resolve(memory, rule, "no longer so after \(memory.age(at: now))", at: now, identifier)
        }
    }

    /// Records that a poll failed, or that the source is no longer polled. Messages about its items wait for the next
    /// good poll.
    public mutating func pollFailed(_ source: String) {
        if bySource[source] != nil { unconfirmed.insert(source) }
    }

    /// Returns whether it is unknown if the item is still as remembered. Then no message is sent about it.
    func isUncertain(_ memory: RuleMemory) -> Bool {
        guard memory.dependsOnItem, let subject = memory.subject else { return false }
        if unconfirmed.contains(subject.source) { return true }
        guard let key = subject.key, memory.event?.kind != .disappeared else { return false }
        return missing[subject.source]?.contains(key) ?? false
    }
}
