// SPDX-License-Identifier: Apache-2.0

/// What `when` asks of an event.
public indirect enum Condition: Sendable {
    case source(Set<String>, text: String)
    /// `item:` and `where:`: a value of the item as it is now.
    case item(String, ValueMatcher)
    /// A field changed, from and to what; nil stands for anything else. With a bound alone in `to`, it crossed that.
    case field(String, from: ValueMatcher?, to: ValueMatcher?)
    /// A number changed by at least so much.
    case by(String, Delta)
    case appears
    case disappears
    case changes([String])
    case sourceState(Set<Event.Kind>)
    case all([Condition])
    case any([Condition])
    case not(Condition)

    /// Nil when the event satisfies the condition; else the first part that it does not, with both values, as `explain`
    /// prints it.
    public func unmet(by event: Event) throws(PatternError) -> String? {
        switch self {
        case .source(let names, let text):
            return names.contains(event.source) ? nil : "source is '\(event.source)', not \(text)"
        case .item(let name, let matcher): return try Condition.unmet(name, matcher, event)
        case .field(let name, let from, let to): return try Condition.unmet(field: name, from: from, to: to, event)
        case .by(let name, let delta):
            return event.change(of: name).map { delta.unmet(by: $0) } ?? "\(name) did not change"
        case .appears: return Condition.isKind([.appeared], event)
        case .disappears: return Condition.isKind([.disappeared], event)
        case .changes(let names):
            let isMet = names.contains { event.change(of: $0) != nil }
            return isMet ? nil : "none of \(names.joined(separator: ", ")) changed"
        case .sourceState(let kinds): return Condition.isKind(kinds, event)
        case .all(let parts):
            for part in parts { if let reason = try part.unmet(by: event) { return reason } }
            return nil
        case .any(let parts):
            var reasons: [String] = []
            for part in parts {
                guard let reason = try part.unmet(by: event) else { return nil }
                reasons.append(reason)
            }
            return reasons.joined(separator: "; ")
        case .not(let part):
            return try part.unmet(by: event) == nil ? "a condition under 'not' holds" : nil
        }
    }

    private static func isKind(_ kinds: Set<Event.Kind>, _ event: Event) -> String? {
        if kinds.contains(event.kind) { return nil }
        return "it is '\(event.kind.word)', not \(kinds.map { "'\($0.word)'" }.sorted().joined(separator: " or "))"
    }

    private static func unmet(_ name: String, _ matcher: ValueMatcher, _ event: Event) throws(PatternError) -> String? {
        guard let item = event.item else { return "the event is about the source, not about an item" }
        guard let value = item[name] else { return "item.\(name) is absent, not \(matcher.description)" }
        return try matcher.matches(value)
            ? nil : "item.\(name) is '\(value.description)', not \(matcher.description)"
    }

    /// An item that appears counts as a change of each field from absent; one that disappears changes no field.
    private static func unmet(
        field name: String, from: ValueMatcher?, to: ValueMatcher?, _ event: Event
    ) throws(PatternError) -> String? {
        guard let change = event.change(of: name) else { return "\(name) did not change" }
        for (side, value, matcher) in [("from", change.from, from), ("to", change.to, to)] {
            guard let matcher else { continue }
            guard let value else { return "\(side) is absent, not \(matcher.description)" }
            guard try matcher.matches(value) else {
                return "\(side) is '\(value.description)', not \(matcher.description)"
            }
        }
        return unmet(crossing: from == nil ? to?.threshold : nil, change)
    }

    /// A value that moves beyond a bound crosses it once; every further step up there is no news.
    private static func unmet(crossing threshold: Threshold?, _ change: FieldChange) -> String? {
        guard let threshold, let from = change.from, threshold.holds(from) else { return nil }
        let side =
            switch threshold {
            case .above(let bound): "above \(bound)"
            case .below(let bound): "below \(bound)"
            }
        return "\(change.field) was \(side) before, at '\(from.description)', so it did not cross it"
    }
}

extension Event {
    /// The change of that field; of an item that appeared, a change from absent.
    public func change(of field: String) -> FieldChange? {
        if kind == .appeared, let value = item?[field] { return FieldChange(field: field, from: nil, to: value) }
        return changes.first { $0.field == field } ?? (field == "name" ? changes.first { $0.field == "title" } : nil)
    }
}
