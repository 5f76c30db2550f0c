// SPDX-License-Identifier: Apache-2.0

/// What a message about several rows is made of: two sinks for which it is the same get the same message.
struct SeveralRows<Row: Hashable>: Hashable {
    private let rows: [Row]
    /// The events as the message shows them; empty where each sink sees the same.
    private let shown: [Event]

    init(_ rows: [Row], _ shown: [Event], of rule: Rule) {
        (self.rows, self.shown) = (rows, rule.announcedFields.isEmpty ? [] : shown)
    }
}

/// A message about several events.
extension Event {
    /// Returns the event of a message about several events, each at its latest state. It is in the lane of this one.
    /// - Parameter rule: the rule, whose field the lines show.
    func message(about events: [Event], of rule: Rule, id: Identifier, at now: Timestamp) -> Event {
        var message = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        let entries = events.prefix(MessageLimits.parts).flatMap { $0.entries(of: rule) }
        let lines = entries.prefix(MessageLimits.named).map(\.line)
        let count = events.reduce(0) { $0 + ($1.kind == .digest ? $1.summary?.count ?? 1 : 1) }
        message.summary = Summary(events: entries.prefix(MessageLimits.lines).map(\.event), count: count, lines: lines)
        message.summary?.links = entries.prefix(MessageLimits.named).map(\.link)
        let names = Set(events.map(rule.groupName))
        let group = names.count == 1 ? names.first ?? nil : nil
        message.summary?.group = group
        message.summary?.title =
            MessageTitle.of(events, inPlaceOf: self, lines: lines, count: count) + (group.map { " in \($0)" } ?? "")
        message.summary?.parts = Array(events.lazy.flatMap(\.parts).prefix(MessageLimits.parts))
        return message
    }

    /// One event of a message about several.
    private struct Entry {
        var event: String
        var line: String
        var link: String
    }

    /// Returns the event's entry; for a digest the entries of its events, since "3 events" says nothing about them.
    private func entries(of rule: Rule) -> [Entry] {
        guard kind == .digest, let summary, !summary.lines.isEmpty else {
            return [Entry(event: id.description, line: line(of: rule), link: item?.url ?? "")]
        }
        return zip(summary.events, summary.lines).enumerated().map { i, entry in
            Entry(event: entry.0, line: entry.1, link: summary.links.indices.contains(i) ? summary.links[i] : "")
        }
    }

    /// One line with the latest state.
    private func line(of rule: Rule) -> String {
        let title = rule.title(of: self)
        if let error { return "\(title): \(error.detail)" }
        let announced = changes.first { $0.field == "state" }?.to?.description
        guard let announced, let state = item?.state, state != announced else { return title }
        return "\(title), now \(state)"
    }

    /// The part of a message about several that this event is, or the parts of the digest that it is.
    var parts: [Summary.Part] {
        if kind == .digest, let parts = summary?.parts, !parts.isEmpty { return parts }
        // An end names the event whose match is over.
        let match = kind == .resolved ? summary?.events.first : nil
        return [
            Summary.Part(
                event: match ?? id.description, kind: kind.word, source: source, key: item?.key, title: item?.title,
                state: presentState)
        ]
    }

    /// The state that the item has now, or why the source fails; nil for an item that is gone.
    var presentState: String? { summary?.cause ?? kind == .disappeared ? nil : item?.state ?? error?.detail }
}
