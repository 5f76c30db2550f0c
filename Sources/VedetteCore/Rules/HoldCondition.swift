// SPDX-License-Identifier: Apache-2.0

extension Condition {
    /// Whether a match that this condition once made is still true after a later event of the same subject. An event
    /// that says nothing of it leaves it true.
    /// - Parameter original: the event that matched.
    func persists(since original: Event, after event: Event) -> Bool {
        switch self {
        case .source: true
        case .item(let name, let matcher): event.item.map { Condition.holds($0[name], matcher) ?? true } ?? true
        case .field(let name, let from, let to): Condition.persists(field: name, from: from, to: to, after: event)
        case .appears: event.kind != .disappeared
        case .disappears: event.kind != .appeared
        case .changes, .by: event.kind != .disappeared
        case .sourceState(let kinds): !kinds.contains { Condition.isUndone($0, by: event.kind) }
        case .all(let parts): parts.allSatisfy { $0.persists(since: original, after: event) }
        case .any(let parts): Condition.persists(any: parts, since: original, after: event)
        case .not(let part): part.holdsNow(event) != true
        }
    }

    /// What another part would say of the later event is no matter: it never was true.
    private static func persists(any parts: [Condition], since original: Event, after event: Event) -> Bool {
        let met = parts.filter { $0.isMet(by: original) }
        return (met.isEmpty ? parts : met).contains { $0.persists(since: original, after: event) }
    }

    /// Without `to` it left what `from` says, and is not back; without both, any further change is another match.
    private static func persists(
        field name: String, from: ValueMatcher?, to: ValueMatcher?, after event: Event
    ) -> Bool {
        guard let item = event.item else { return true }
        guard event.kind != .disappeared else { return false }
        if let to { return holds(item[name], to) ?? true }
        guard let from else { return event.change(of: name) == nil }
        return holds(item[name], from) != true
    }

    /// Whether an event that a rule speaks of satisfies it. What was found without an event counts as arrived.
    func isMet(by event: Event) -> Bool {
        var event = event
        if event.kind == .elapsed { event.kind = .appeared }
        do throws(PatternError) { return try unmet(by: event) == nil } catch { return false }
    }

    /// Nil when a pattern hit its limit: that decides nothing.
    private static func holds(_ value: Value?, _ matcher: ValueMatcher) -> Bool? {
        guard let value else { return false }
        do throws(PatternError) { return try matcher.matches(value) } catch { return nil }
    }

    /// Of what stands under `not`: only what speaks of the item as it is can become true later; nil for all else.
    private func holdsNow(_ event: Event) -> Bool? {
        switch self {
        case .source(let names, _): return names.contains(event.source)
        case .item(let name, let matcher): return event.item.flatMap { Condition.holds($0[name], matcher) }
        case .all(let parts):
            let answers = parts.map { $0.holdsNow(event) }
            return answers.contains(false) ? false : answers.contains(nil) ? nil : true
        case .any(let parts):
            let answers = parts.map { $0.holdsNow(event) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        case .not(let part): return part.holdsNow(event).map { !$0 }
        default: return nil
        }
    }

    private static func isUndone(_ kind: Event.Kind, by later: Event.Kind) -> Bool {
        switch kind {
        case .failing, .stale: later == .recovered
        case .recovered: later == .failing
        case .offline: later == .online
        case .online: later == .offline
        default: false
        }
    }
}
