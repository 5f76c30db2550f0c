// SPDX-License-Identifier: Apache-2.0

/// Renders the usual title and text of a message. A rule with templates of its own renders those.
public enum MessageFormatter {
    /// Returns the title: `prod-1: Starting → Ready for use`.
    /// - Parameter field: the field that the rule is about; nil for the state, else the first that changed.
    public static func title(of event: Event, field: String? = nil) -> String {
        if let title = event.summary?.title { return title }
        let name = event.item.map { $0.title ?? $0.key } ?? event.source
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

    /// Returns the text: a line with source, duration or cause, then the lines of a digest or group; empty when there is
    /// none.
    /// - Parameters:
    ///   - field: the field that the rule is about.
    ///   - withheld: earlier messages that were withheld.
    public static func text(of event: Event, field: String? = nil, withheld: Int = 0) -> String {
        let more = withheld > 0 ? ["\(counted(withheld, "message")) held back before"] : []
        let first = (details(of: event, field) + more).joined(separator: " · ")
        let excerpt =
            event.kind == .changed ? event.mainChange(of: field).flatMap { $0.isLong ? $0.summary : nil } : nil
        return ([first] + (excerpt.map { [$0] } ?? []) + lines(of: event)).filter { !$0.isEmpty }.joined(
            separator: "\n")
    }

    private static func details(of event: Event, _ field: String?) -> [String] {
        let stood = event.summary?.stood.map { ["for \(duration(seconds: $0))"] } ?? []
        if let problem = event.error {
            let detail = [.recovered, .resolved].contains(event.kind) ? "before: \(problem.detail)" : problem.detail
            let down = problem.lasted.map { ["down for \(duration(seconds: $0))"] } ?? []
            return (problem.server.map { ["server \($0)"] } ?? []) + down + [detail] + stood
        }
        guard event.item != nil, event.kind != .test else { return stood }
        var parts = [event.source]
        if event.kind == .changed, let lasted = event.mainChange(of: field)?.lasted {
            parts.append("after \(duration(seconds: lasted))")
        }
        if event.kind == .appeared { parts.append("new") }
        parts += stood
        if let message = event.item?["message_text"] { parts.append(message.description) }
        return parts
    }

    /// Returns a line for each event that a digest or group names, and the number of the others.
    public static func lines(of event: Event) -> [String] {
        guard let summary = event.summary, !summary.lines.isEmpty else { return [] }
        let more = summary.count - summary.lines.count
        return summary.lines + (more > 0 ? ["and \(more) more"] : [])
    }

    /// Returns a duration in its two largest units: `4 min 12 s`, `2 d 3 h`.
    public static func duration(seconds: Double) -> String { duration(seconds: seconds, isWhole: true) }

    /// Returns a duration in its largest unit: `4 min`, `2 d`.
    public static func shortDuration(seconds: Double) -> String { duration(seconds: seconds, isWhole: false) }

    private static func duration(seconds: Double, isWhole: Bool) -> String {
        let whole = Int64(seconds.isNaN ? 0 : min(max(0, seconds.rounded()), 1e15))
        if whole == 0, seconds > 0 { return "under 1 s" }
        guard let first = units.firstIndex(where: { whole >= $0.seconds }) else { return "0 s" }
        let high = String(whole / units[first].seconds) + units[first].name
        guard isWhole, first + 1 < units.count else { return high }
        let low = whole % units[first].seconds / units[first + 1].seconds
        return low == 0 ? high : high + " " + String(low) + units[first + 1].name
    }

    private static let units: [(seconds: Int64, name: String)] = [
        (86_400, " d"), (3600, " h"), (60, " min"), (1, " s"),
    ]
}

extension Event.Kind {
    /// Whether it announces the end of what was announced before: a match is over, a source or the network is back.
    public var isEnd: Bool { [.resolved, .recovered, .online].contains(self) }
}

extension Event {
    /// Returns the change of a field, else that of the state, else the first.
    public func mainChange(of field: String? = nil) -> FieldChange? {
        field.flatMap(change) ?? changes.first { $0.field == "state" } ?? changes.first
    }
}

extension Rule {
    /// Returns the delivery of an event to one target, with its texts rendered.
    /// - Parameter withheld: earlier messages that were withheld and that this one counts.
    func delivery(
        of event: Event, to target: NotificationTarget, withheld: Int = 0, at now: Timestamp, _ id: Identifier
    ) -> Delivery {
        let field = when.changedField(in: event)
        let target = event.isAboutSeveral ? target.forSeveral : target
        let context = event.templateContext(rule: name, field: field, suppressed: withheld)
        let text =
            target.text?.render(context) ?? MessageFormatter.text(of: event, field: field, withheld: withheld)
        var message = Message(
            id: "msg_" + id.description, rule: name, sink: target.sink, event: event,
            title: target.title?.render(context) ?? title(of: event), text: text, priority: priority)
        (message.tags, message.suppressed, message.field) = (tags, withheld, field)
        return Delivery(message: message, created: now, due: now)
    }

    /// Returns the title of an event that shows the change that this rule is about.
    func title(of event: Event) -> String {
        MessageFormatter.title(of: event, field: when.changedField(in: event))
    }
}

extension Rule.NotificationTarget {
    /// The target without texts that only one event can fill: of several, they would name none.
    fileprivate var forSeveral: Rule.NotificationTarget {
        func usable(_ template: (any Template)?) -> (any Template)? { template?.isAboutOne == true ? nil : template }
        return Rule.NotificationTarget(sink: sink, title: usable(title), text: usable(text))
    }
}

extension Event {
    /// Whether it is a digest, or a message about several subjects.
    fileprivate var isAboutSeveral: Bool { kind == .digest || summary?.parts.isEmpty == false }
}

extension Template {
    /// Whether it shows values of one event, and not those of a digest.
    fileprivate var isAboutOne: Bool {
        let ofOne = names.contains { name in
            ["item.", "change.", "error."].contains(where: name.hasPrefix) || name == "link"
        }
        return ofOne && !names.contains { $0.hasPrefix("digest.") }
    }
}
