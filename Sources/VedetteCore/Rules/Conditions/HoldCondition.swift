// SPDX-License-Identifier: Apache-2.0

extension Condition {
    /// Returns whether the event matches. An item that was found without an event counts as one that appeared. A pattern
    /// that hits its limit counts as no match.
    func matches(_ event: Event) -> Bool {
        var event = event
        if event.kind == .elapsed { event.kind = .appeared }
        do throws(PatternError) { return try mismatch(with: event) == nil } catch { return false }
    }

    /// Returns whether the match that `original` made is still true after a later event of the same subject. An event
    /// that does not concern the condition leaves it true.
    func remainsTrue(since original: Event, after event: Event) -> Bool {
        switch self {
        case .source: true
        case .item(let name, let matcher):
            event.item.map { Condition.test(name, matcher, $0) ?? true } ?? true
        case .field(let name, let from, let to):
            Condition.remainsTrue(field: name, from: from, to: to, since: original, after: event)
        case .stays(let name, let matcher):
            Condition.remainsTrue(field: name, from: nil, to: matcher, since: original, after: event)
        case .older(let name, _): event.kind != .disappeared && event.change(of: name) == nil
        case .howMany: true
        case .appears: event.kind != .disappeared
        case .disappears: event.kind != .appeared
        case .changes, .by: event.kind != .disappeared
        case .sourceState(let kinds): !kinds.contains { Condition.isResolved($0, by: event.kind) }
        case .all(let parts): parts.allSatisfy { $0.remainsTrue(since: original, after: event) }
        case .any(let parts): Condition.remainsTrue(any: parts, since: original, after: event)
        case .not(let part): part.currentResult(event, since: original) != true
        }
    }

    /// Whether an event can have been a match, whatever values its item had then: it is of such a kind, and about such things.
    func concerns(_ event: Event) -> Bool {
        switch self {
        case .source(let names, _): names.contains(event.source)
        case .item: event.item != nil
        case .field, .stays, .older: event.item != nil && event.kind != .disappeared
        case .howMany(let count): event.item == nil && count.condition.source == event.source
        case .appears: event.kind == .appeared
        case .disappears: event.kind == .disappeared
        case .changes(let names): names.contains { event.change(of: $0) != nil }
        case .by(let name, _): event.change(of: name) != nil
        case .sourceState(let kinds): kinds.contains(event.kind)
        case .all(let parts): parts.allSatisfy { $0.concerns(event) }
        case .any(let parts): parts.contains { $0.concerns(event) }
        case .not: true
        }
    }

    /// Only the parts that `original` matched count: the others never were true.
    private static func remainsTrue(any parts: [Condition], since original: Event, after event: Event) -> Bool {
        let matching = parts.filter { $0.matches(original) }
        return (matching.isEmpty ? parts : matching).contains { $0.remainsTrue(since: original, after: event) }
    }

    /// Without `to`, the match is true until the value of `from` is back. Without both, any further change is a match of
    /// its own.
    private static func remainsTrue(
        field name: String, from: ValueMatcher?, to: ValueMatcher?, since original: Event, after event: Event
    ) -> Bool {
        guard let item = event.item else { return true }
        guard event.kind != .disappeared else { return false }
        if let to { return test(name, to, item) ?? true }
        guard let from else { return event.change(of: name) == nil }
        return test(name, from, item) != true
    }

    /// Tests a value of an item.
    ///
    /// - Returns: nil when a pattern hit its limit: then nothing is known.
    private static func test(_ name: String, _ matcher: ValueMatcher, _ item: Item) -> Bool? {
        guard let value = item[name] else { return false }
        do throws(PatternError) { return try matcher.matches(value, decimal: item.decimals[name]) } catch { return nil }
    }

    /// Evaluates a part under `not` against the item as it is now. Only parts about the item's values or the source have a
    /// result; nil for all others.
    private func currentResult(_ event: Event, since original: Event) -> Bool? {
        switch self {
        case .source(let names, _): return names.contains(event.source)
        case .item(let name, let matcher):
            return event.item.flatMap { Condition.test(name, matcher, $0) }
        case .all(let parts):
            let results = parts.map { $0.currentResult(event, since: original) }
            return results.contains(false) ? false : results.contains(nil) ? nil : true
        case .any(let parts):
            let results = parts.map { $0.currentResult(event, since: original) }
            return results.contains(true) ? true : results.contains(nil) ? nil : false
        case .not(let part): return part.currentResult(event, since: original).map { !$0 }
        default: return nil
        }
    }

    private static func isResolved(_ kind: Event.Kind, by later: Event.Kind) -> Bool {
        switch kind {
        case .failing, .stale: later == .recovered
        case .recovered: later == .failing
        case .offline: later == .online
        case .online: later == .offline
        case .unequal: later == .equal
        case .equal: later == .unequal
        default: false
        }
    }
}
