// SPDX-License-Identifier: Apache-2.0

extension Condition {
    /// Whether a match that this condition once made is still true after a later event of the same subject. An event
    /// that says nothing of it leaves it true.
    func persists(after event: Event) -> Bool {
        switch self {
        case .source: true
        case .item(let name, let matcher): event.item.map { Condition.holds($0[name], matcher) } ?? true
        case .field(let name, _, let to): Condition.persists(field: name, to: to, after: event)
        case .appears: event.kind != .disappeared
        case .disappears: event.kind != .appeared
        case .changes, .by: event.kind != .disappeared
        case .sourceState(let kinds): !kinds.contains { Condition.isUndone($0, by: event.kind) }
        case .all(let parts): parts.allSatisfy { $0.persists(after: event) }
        case .any(let parts): parts.contains { $0.persists(after: event) }
        case .not(let part): !part.holdsNow(event)
        }
    }

    private static func persists(field name: String, to: ValueMatcher?, after event: Event) -> Bool {
        guard let item = event.item else { return true }
        guard event.kind != .disappeared else { return false }
        guard let to else { return event.change(of: name) == nil }
        return holds(item[name], to)
    }

    /// A pattern that hits its limit decides nothing: the match stays as it was.
    private static func holds(_ value: Value?, _ matcher: ValueMatcher) -> Bool {
        guard let value else { return false }
        do throws(PatternError) { return try matcher.matches(value) } catch { return true }
    }

    /// Of what stands under `not`: only what speaks of the item as it is can become true later.
    private func holdsNow(_ event: Event) -> Bool {
        switch self {
        case .item(let name, let matcher): event.item.map { Condition.holds($0[name], matcher) } ?? false
        case .all(let parts): !parts.isEmpty && parts.allSatisfy { $0.holdsNow(event) }
        case .any(let parts): parts.contains { $0.holdsNow(event) }
        default: false
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
