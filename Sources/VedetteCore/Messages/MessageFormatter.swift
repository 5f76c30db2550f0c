// SPDX-License-Identifier: Apache-2.0

/// Renders the title and text of a message for which the rule has no template.
public enum MessageFormatter {
    /// Returns the title: `prod-1: Starting → Ready for use`.
    public static func title(of event: Event) -> String {
        if let title = event.summary?.title { return title }
        let name = event.item.map { $0.title ?? $0.key } ?? event.source
        switch event.kind {
        case .appeared: return event.item?.state.map { "\(name): \($0)" } ?? name
        case .changed:
            guard let change = mainChange(of: event) else { return name }
            guard change.field != "title" else { return "\(change.from?.description ?? "") is now \(name)" }
            return change.field == "state"
                ? "\(name): \(text(change.from)) → \(text(change.to))"
                : "\(name): \(change.field) \(text(change.from)) → \(text(change.to))"
        case .disappeared: return "\(name) is gone"
        case .failing: return "\(name) is failing"
        case .recovered: return "\(name) answers again"
        case .stale: return "\(name) has not answered for long"
        case .suspect: return "\(name) may be wrong"
        case .burst: return "\(counted(event.summary?.count ?? 0, "more event")) in \(name)"
        case .ruleFailed: return "\(counted(event.summary?.count ?? 0, "event")) of \(name) not evaluated"
        case .offline: return "The network is gone"
        case .online: return "The network is back"
        case .paused: return "The sink \(name) refuses messages"
        case .disabled: return "The sink \(name) is gone for good"
        case .elapsed: return event.item?.state.map { "\(name): still \($0)" } ?? "\(name): still so"
        case .digest: return "\(counted(event.summary?.count ?? 0, "event")) in \(event.source)"
        case .reminder: return event.item?.state.map { "\(name): still \($0)" } ?? "\(name): still so"
        case .resolved: return "\(name): no longer so"
        case .test: return "Test message"
        }
    }

    /// Returns the text: a second line with source, duration or cause; empty when there is none.
    public static func text(of event: Event) -> String {
        if [.digest, .burst].contains(event.kind) { return event.summary.map(digest) ?? "" }
        if let problem = event.error {
            let server = problem.server.map { "server \($0) · " } ?? ""
            return server
                + ([.recovered, .resolved].contains(event.kind) ? "before: \(problem.detail)" : problem.detail)
        }
        guard event.item != nil, event.kind != .test else { return "" }
        var parts = [event.source]
        if let lasted = mainChange(of: event)?.lasted { parts.append("after \(duration(seconds: lasted))") }
        if event.kind == .appeared { parts.append("new") }
        if let seconds = event.summary?.stood { parts.append("for \(duration(seconds: seconds))") }
        if let message = event.item?["message_text"] { parts.append(message.description) }
        return parts.joined(separator: " · ")
    }

    /// A line for each event that the digest kept, and the number of the others.
    private static func digest(_ summary: Event.Summary) -> String {
        let more = summary.count - summary.lines.count
        return (summary.lines + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n")
    }

    /// Returns the change that the title shows: that of the state, else the first.
    public static func mainChange(of event: Event) -> FieldChange? {
        event.changes.first { $0.field == "state" } ?? event.changes.first
    }

    private static func text(_ value: Value?) -> String { value?.description ?? "none" }

    /// Returns a duration in its two largest units: `4 min 12 s`, `2 d 3 h`.
    public static func duration(seconds: Double) -> String {
        let whole = Int64(seconds.isNaN ? 0 : min(max(0, seconds.rounded()), 1e15))
        if whole == 0, seconds > 0 { return "under 1 s" }
        let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        guard let first = units.firstIndex(where: { whole >= $0.0 }) else { return "0 s" }
        let high = whole / units[first].0
        guard first + 1 < units.count else { return "\(high) \(units[first].1)" }
        let low = whole % units[first].0 / units[first + 1].0
        return low == 0 ? "\(high) \(units[first].1)" : "\(high) \(units[first].1) \(low) \(units[first + 1].1)"
    }
}

/// The names that a template can use.
public enum TemplateNames {
    /// Names that every message has.
    public static let fixed = [
        "event.id", "event.type", "event.kind", "event.time", "event.source", "event.poll",
        "change.field", "change.from", "change.to", "change.lasted",
        "source.name", "source.kind", "rule.name", "link", "error.class", "error.detail",
        "suppressed", "digest.count", "digest.lines",
    ]
    /// Names of an item that every kind has.
    public static let item = ["item.key", "item.title", "item.name", "item.state", "item.url", "item.time"]
}

extension Event {
    /// Returns the values of the template names for this event.
    /// - Parameters:
    ///   - field: the field that the rule is about; its change is `change`.
    ///   - suppressed: messages that were withheld before this one.
    public func templateContext(rule: String, field: String?, suppressed: Int = 0) -> TemplateContext {
        let change = field.flatMap { self.change(of: $0) } ?? MessageFormatter.mainChange(of: self)
        return TemplateContext { name in
            if name.hasPrefix("item.") {
                let part = String(name.dropFirst(5))
                return part == "time" ? self.item?.time.map { .text($0.rfc3339) } : self.item?[part]
            }
            switch name {
            case "event.id": return .text(self.id.description)
            case "event.type": return .text(self.kind.rawValue)
            case "event.kind": return .text(self.kind.word)
            case "event.time": return .text(self.time.rfc3339)
            case "event.source", "source.name": return .text(self.source)
            case "event.poll": return .text(self.poll)
            case "source.kind": return .text(self.sourceKind)
            case "rule.name": return .text(rule)
            case "suppressed": return suppressed > 0 ? .text(String(suppressed)) : nil
            case "digest.count": return self.summary.map { .text(String($0.count)) }
            case "digest.lines": return self.summary.map { .list($0.lines) }
            case "link": return self.item?.url.map(Value.text)
            case "change.field": return change.map { .text($0.field) }
            case "change.from": return change?.from
            case "change.to": return change?.to
            case "change.lasted": return change?.lasted.map { .text(MessageFormatter.duration(seconds: $0)) }
            case "error.class": return self.error.map { .text($0.failure) }
            case "error.detail": return self.error.map { .text($0.detail) }
            default: return nil
            }
        }
    }
}
