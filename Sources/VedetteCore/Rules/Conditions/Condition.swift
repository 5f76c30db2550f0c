// SPDX-License-Identifier: Apache-2.0

/// What `when` says about an event.
public indirect enum Condition: Sendable {
    /// The event is about one of these sources; `text` is what the rule says, for `explain`.
    case source(Set<String>, text: String)
    /// `item:` and `where:`: the item has a field whose value matches now.
    case item(String, ValueMatcher)
    /// A field changed from a value to a value; nil matches any. A bound alone in `to` must have been crossed.
    case field(String, from: ValueMatcher?, to: ValueMatcher?)
    /// `stays`: a field got a value that matches, from one that does not.
    case stays(String, ValueMatcher)
    /// A numeric field changed by at least this much.
    case by(String, Delta)
    /// The time in a field is longer ago than this.
    case older(String, Duration)
    /// The number of items that match is below or above a bound.
    case howMany(ItemCount)
    /// The item is new.
    case appears
    /// The item is gone.
    case disappears
    /// One of these fields changed.
    case changes([String])
    /// The event is of one of these kinds, about a source, a sink or the watcher.
    case sourceState(Set<Event.Kind>)
    /// Every part matches.
    case all([Condition])
    /// At least one part matches.
    case any([Condition])
    /// The part does not match.
    case not(Condition)

    /// Returns nil when the event matches, else the first part that does not, with both values, as `explain` prints it.
    /// - Throws: when a regular expression hits its match limit.
    public func mismatch(with event: Event) throws(PatternError) -> String? {
        // Also where the rest is under 'not': what the event means is unknown.
        if event.kind == .unknown { return "its type '\(event.type)' is unknown to this version" }
        return try mismatch(withKnown: event)
    }

    private func mismatch(withKnown event: Event) throws(PatternError) -> String? {
        switch self {
        case .source(let names, let text):
            return names.contains(event.source) ? nil : "source is '\(event.source)', not \(text)"
        case .item(let name, let matcher): return try Condition.mismatch(ofItem: name, matcher, event)
        case .field(let name, let from, let to):
            return try Condition.mismatch(ofField: name, from: from, to: to, event)
        case .stays(let name, let matcher): return try Condition.mismatch(ofStay: name, matcher, event)
        case .older(let name, _):
            guard let change = event.change(of: name) else { return "\(name) did not change" }
            return change.to.flatMap(Timestamp.init(written:)) == nil ? "\(name) is no time" : nil
        case .howMany: return Condition.mismatch(ofCount: event)
        case .by(let name, let delta):
            return event.change(of: name).map { delta.mismatch(with: $0, decimal: event.item?.decimals[name]) }
                ?? "\(name) did not change"
        case .appears: return Condition.mismatch(ofKind: [.appeared], event)
        case .disappears: return Condition.mismatch(ofKind: [.disappeared], event)
        case .changes(let names):
            let hasChanged = names.contains { event.change(of: $0) != nil }
            return hasChanged ? nil : "none of \(names.joined(separator: ", ")) changed"
        case .sourceState(let kinds): return Condition.mismatch(ofKind: kinds, event)
        case .all(let parts):
            for part in parts { if let reason = try part.mismatch(withKnown: event) { return reason } }
            return nil
        case .any(let parts):
            var reasons: [String] = []
            for part in parts {
                guard let reason = try part.mismatch(withKnown: event) else { return nil }
                reasons.append(reason)
            }
            return reasons.joined(separator: "; ")
        case .not(let part):
            return try part.mismatch(withKnown: event) == nil ? "a condition under 'not' holds" : nil
        }
    }

    private static func mismatch(ofKind kinds: Set<Event.Kind>, _ event: Event) -> String? {
        if kinds.contains(event.kind) { return nil }
        return "it is '\(event.kind.word)', not \(kinds.map { "'\($0.word)'" }.sorted().joined(separator: " or "))"
    }

    private static func mismatch(
        ofItem name: String, _ matcher: ValueMatcher, _ event: Event
    ) throws(PatternError) -> String? {
        guard let item = event.item else { return "the event is about the source, not about an item" }
        guard let value = item[name] else { return "item.\(name) is absent, not \(matcher.description)" }
        return try matcher.matches(value, decimal: item.decimals[name])
            ? nil : "item.\(name) is '\(value.description)', not \(matcher.description)"
    }

    /// An item that appears counts as a change of each field from absent; one that disappears changes no field.
    private static func mismatch(
        ofField name: String, from: ValueMatcher?, to: ValueMatcher?, _ event: Event
    ) throws(PatternError) -> String? {
        guard let change = event.change(of: name) else { return "\(name) did not change" }
        let sign = event.item?.decimals[name]
        for (side, value, matcher) in [("from", change.from, from), ("to", change.to, to)] {
            guard let matcher else { continue }
            guard let value else { return "\(side) is absent, not \(matcher.description)" }
            guard try matcher.matches(value, decimal: sign) else {
                return "\(side) is '\(value.description)', not \(matcher.description)"
            }
        }
        return from == nil ? to?.threshold?.mismatch(of: change, decimal: sign) : nil
    }

    /// The engine makes the event of a count; no event of a poll is one.
    private static func mismatch(ofCount event: Event) -> String? {
        event.item == nil && (event.kind == .elapsed || event.kind == .appeared) ? nil : "it is about one event"
    }

    /// A value that moves within the set is no further match: it stayed in it.
    private static func mismatch(
        ofStay name: String, _ matcher: ValueMatcher, _ event: Event
    ) throws(PatternError) -> String? {
        if let reason = try mismatch(ofField: name, from: nil, to: matcher, event) { return reason }
        guard let from = event.change(of: name)?.from, try matcher.matches(from, decimal: event.item?.decimals[name])
        else { return nil }
        return "\(name) was '\(from.description)' before, which is \(matcher.description), too"
    }
}

extension Event {
    /// Returns the change of that field; for an item that appeared, a change from absent.
    public func change(of field: String) -> FieldChange? {
        if kind == .appeared, let value = item?[field] { return FieldChange(field: field, from: nil, to: value) }
        return changes.first { $0.field == field } ?? (field == "name" ? changes.first { $0.field == "title" } : nil)
    }
}

extension Condition {
    /// Returns the field whose change made the event match, else the first field that the condition names.
    func changedField(in event: Event) -> String? { change(in: event)?.field ?? field }

    private func change(in event: Event) -> FieldChange? {
        switch self {
        case .field(let name, _, _), .by(let name, _): return event.change(of: name)
        case .changes(let names): return names.lazy.compactMap(event.change).first
        case .all(let parts): return parts.lazy.compactMap { $0.change(in: event) }.first
        case .any(let parts):
            let matching = parts.lazy.filter { $0.matches(event) }.compactMap { $0.change(in: event) }.first
            return matching ?? parts.lazy.compactMap { $0.change(in: event) }.first
        default: return nil
        }
    }
}
