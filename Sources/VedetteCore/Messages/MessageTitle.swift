// SPDX-License-Identifier: Apache-2.0

/// The usual title of a message, which a rule without one of its own has.
public enum MessageTitle {
    /// Returns the title: `prod-1: Starting → Ready for use`.
    /// - Parameter field: the field that the rule is about; nil for the state, else the first that changed.
    public static func of(_ event: Event, field: String? = nil) -> String {
        if let title = event.summary?.title { return title }
        let name = name(of: event)
        switch event.kind {
        case .appeared: return value(of: field, event).map { "\(name): \($0)" } ?? name
        case .changed:
            guard let change = event.mainChange(of: field) else { return name }
            guard change.field != "title" else { return "\(change.from?.description ?? "") is now \(name)" }
            if change.isLong, change.from != nil, change.to != nil { return "\(name): \(change.field) changed" }
            return change.field == "state" ? "\(name): \(change.summary)" : "\(name): \(change.field) \(change.summary)"
        case .disappeared: return "\(name) is gone"
        case .failing: return "\(name) is failing"
        case .recovered: return "\(name) answers again"
        case .stale: return "\(name) has not answered for long"
        case .suspect: return "\(name) may be wrong"
        case .burst: return "\(counted(event.summary?.count ?? 0, "more event")) in \(name)"
        case .ruleFailed: return "\(counted(event.summary?.count ?? 0, "event")) of \(name) not evaluated"
        case .offline: return "The network is gone"
        case .online: return "The network is back"
        case .unequal: return "The watchers have different configurations"
        case .equal: return "The watchers have the same configuration again"
        case .paused: return "The sink \(name) refuses messages"
        case .disabled: return "The sink \(name) is gone for good"
        case .elapsed, .reminder: return "\(name)\(stillTrue(event, field))"
        case .digest: return "\(counted(event.summary?.count ?? 0, "event")) in \(event.source)"
        case .resolved: return "\(name): no longer so"
        case .test: return "Test message"
        case .unknown: return "\(name): event of the unknown type \(event.type)"
        }
    }

    /// Returns what is still true for a reminder, as the end of a title.
    private static func stillTrue(_ event: Event, _ field: String?) -> String {
        switch event.summary?.cause {
        case .disappeared: return " is still gone"
        case .failing: return " is still failing"
        case .stale: return " has still not answered"
        case .suspect: return " may still be wrong"
        case .offline: return " is still offline"
        case .unequal: return " still has different configurations"
        default: break
        }
        guard let field, field != "state", field != "title", field != "name" else {
            return event.item?.state.map { ": still \($0)" } ?? ": still so"
        }
        return event.item?[field].map { ": \(field) still \($0.description)" } ?? ": still so"
    }

    /// Returns the value of a field as a title shows it: the state alone, any other field with its name.
    private static func value(of field: String?, _ event: Event) -> String? {
        guard let field, !["state", "title", "name", "key"].contains(field) else { return event.item?.state }
        return event.item?[field].map { "\(field) \($0.description)" }
    }

    /// Returns the title of a message about several events: what became of all sources alike, else the first two lines.
    /// - Parameters:
    ///   - event: the one whose place the message takes.
    ///   - lines: one for each event, as far as they are shown.
    ///   - count: how many events there are, also in digests.
    static func of(_ events: [Event], inPlaceOf event: Event, lines: [String], count: Int) -> String {
        if let title = ofHealth(events, inPlaceOf: event) { return title }
        let more = count - 2
        return lines.prefix(2).joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }

    /// Returns the title of a digest over several sources, or with ends: `12 down, 3 up in eu-west`, where two words say what
    /// became of them; nil for matches in one source.
    static func ofDigest(_ log: RuleMemory, of rule: Rule) -> String? {
        guard log.count > 1 else { return log.lines.first }
        guard Set(log.parts.map(\.source)).count > 1 || log.parts.contains(where: \.tellsEnd) else { return nil }
        var counts: [(word: String, count: Int)] = []
        let parts = log.parts.latest
        for part in parts.filter({ !$0.tellsEnd }) + parts.filter(\.tellsEnd) {
            let word = word(of: part, rule)
            if let i = counts.firstIndex(where: { $0.word == word }) {
                counts[i].count += 1
            } else {
                counts.append((word, 1))
            }
        }
        let isComplete = log.parts.count == log.count && counts.allSatisfy { $0.word.count <= 30 }
        guard isComplete, counts.count <= 2 else { return "\(counted(log.count, "event")) of '\(rule.name)'" }
        return counts.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
            + (group(of: log, rule).map { " in \($0)" } ?? "")
    }

    /// The value of the field by which the log is grouped; nil for none.
    static func group(of log: RuleMemory, _ rule: Rule) -> String? {
        guard case .field(let name) = rule.gates.digest?.by, let value = log.event?.item?[name]?.description,
            log.key.name.prefix(while: { $0 != "\u{1F}" }) == value
        else { return nil }
        return value
    }

    private static func word(of part: Event.Summary.Part, _ rule: Rule) -> String {
        let isAboutState = rule.field ?? "state" == "state"
        if part.tellsEnd { return part.key == nil ? "recovered" : isAboutState ? part.state ?? "over" : "over" }
        return switch part.kind {
        case Event.Kind.appeared.word where rule.field == nil: "new"
        case Event.Kind.disappeared.word: "gone"
        case Event.Kind.appeared.word, Event.Kind.changed.word:
            isAboutState ? part.state ?? part.kind : part.kind
        default: part.kind
        }
    }

    /// Returns the title of a message about several sources whose health changed alike; nil for other events.
    private static func ofHealth(_ events: [Event], inPlaceOf event: Event) -> String? {
        guard let change = HealthChange(event), events.allSatisfy({ HealthChange($0) == change }) else { return nil }
        let named = events.prefix(2).map { event in
            let cause = change == .recovered ? nil : event.error.map { " (\($0.detail.prefix(60)))" }
            return event.source + (cause ?? "")
        }
        let verb =
            switch change {
            case .failing: "fail"
            case .stale: "have not answered for long"
            case .recovered: "answer again"
            }
        let more = events.count - named.count
        let server = event.error?.server.map { " of \($0)" } ?? ""
        return "\(named.joined(separator: " and ")) \(verb)" + (more > 0 ? ", and \(more) more\(server)" : "")
    }

    /// Returns the title of a message of `how_many`: `2 items of lab with state Failed, above 1`.
    static func of(_ count: Int, _ wanted: ItemCount) -> String {
        let side =
            switch wanted.bound {
            case .above(let bound): "above \(JSON.number(rounded: bound).text)"
            case .below(let bound): "below \(JSON.number(rounded: bound).text)"
            }
        return "\(counted(count, "item")) of \(wanted.condition.source) with \(wanted.condition.field) "
            + "\(wanted.condition.matcher.description), \(wanted.isTrue(count) ? "" : "no longer ")\(side)"
    }

    /// Returns the title of a message of `nothing`.
    /// - Parameter seconds: the time without a match.
    static func ofAbsence(_ rule: Rule, after seconds: Double) -> String {
        "No match of '\(rule.name)' for \(DurationText.long(seconds: seconds))"
    }

    /// Returns the title of a reminder of an event with a title of its own; nil for any other event.
    static func ofReminder(_ event: Event) -> String? { event.summary?.title.map { "Still so: \($0)" } }

    /// Returns the title of the message that the match of an event is over.
    /// - Parameter ending: the event that ended it; nil when no event shows it.
    static func ofEnd(_ event: Event, by ending: Event?) -> String {
        ending.map { of($0) } ?? "\(name(of: event)): no longer so"
    }

    /// Returns the title of the message that the match of an event has no rule or source any more.
    static func ofUnwatched(_ event: Event) -> String { "\(name(of: event)): no longer watched" }

    private static func name(of event: Event) -> String { event.item.map { $0.title ?? $0.key } ?? event.source }
}
