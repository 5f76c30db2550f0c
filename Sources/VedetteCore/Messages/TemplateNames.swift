// SPDX-License-Identifier: Apache-2.0

/// The names that a template can use.
public enum TemplateNames {
    /// Names that every message has.
    public static let fixed = [
        "event.id", "event.type", "event.kind", "event.time", "event.source", "event.poll",
        "change.field", "change.from", "change.to", "change.lasted", "change.diff",
        "source.name", "source.kind", "rule.name", "link", "error.class", "error.detail",
        "suppressed", "resolved", "digest.count", "digest.lines", "group", "acknowledged",
    ]
    /// Names of an item that every kind has.
    public static let item = ["item.key", "item.title", "item.name", "item.state", "item.url", "item.time"]
}

extension Event {
    /// Returns the values of the template names for this event.
    /// - Parameters:
    ///   - field: the field that the rule is about; its change is `change`.
    ///   - suppressed: messages that were withheld before this one.
    ///   - group: the value of the field by which the rule groups its messages.
    ///   - acknowledged: who works on the match, and since when: `by anna 5 min ago`.
    public func templateContext(
        rule: String, field: String?, suppressed: Int = 0, group: String? = nil, acknowledged: String? = nil
    ) -> TemplateContext {
        let change = mainChange(of: field)
        return TemplateContext { name in
            if name.hasPrefix("item.") {
                guard let item = self.item else { return nil }
                switch name {
                case "item.time": return item.time.map { .text($0.rfc3339) }
                // As the default title names it.
                case "item.title", "item.name": return item[String(name.dropFirst(5))] ?? .text(item.key)
                default: return item[String(name.dropFirst(5))]
                }
            }
            switch name {
            case "event.id": return .text(self.id.description)
            case "event.type": return .text(self.type)
            case "event.kind": return .text(self.kind.word)
            case "event.time": return .text(self.time.rfc3339)
            case "event.source", "source.name": return .text(self.source)
            case "event.poll": return .text(self.poll)
            case "source.kind": return .text(self.sourceKind)
            case "rule.name": return .text(rule)
            case "suppressed": return suppressed > 0 ? .text(String(suppressed)) : nil
            case "resolved": return self.isEnd ? .text("true") : nil
            case "digest.count": return .text(String(self.summary?.count ?? 1))
            case "digest.lines":
                let lines = self.summary?.lines ?? []
                return .list(lines.isEmpty ? [MessageTitle.of(self, field: field)] : lines)
            case "group": return group.map(Value.text)
            case "acknowledged": return acknowledged.map(Value.text)
            case "link": return self.item?.url.map(Value.text)
            case "change.field": return change.map { .text($0.field) }
            case "change.from": return change?.from
            case "change.to": return change?.to
            case "change.lasted": return change?.lasted.map { .text(DurationText.long(seconds: $0)) }
            case "change.diff": return change?.excerpt.map { .text($0.map(\.text).joined()) }
            case "error.class": return self.error.map { .text($0.failure) }
            case "error.detail": return self.error.map { .text($0.detail) }
            default: return nil
            }
        }
    }
}
