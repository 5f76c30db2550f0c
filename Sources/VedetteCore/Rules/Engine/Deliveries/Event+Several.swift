// SPDX-License-Identifier: Apache-2.0

/// A message about several events.
extension Event {
    /// Returns the event of a message about several events, each at its latest state. It is in the lane of this one.
    /// - Parameter rule: the rule, whose field the lines show.
    func message(about events: [Event], of rule: Rule, id: Identifier, at now: Timestamp) -> Event {
        var message = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        let lines = events.prefix(MessageLimits.named).map { $0.line(of: rule) }
        message.summary = Summary(
            events: events.prefix(MessageLimits.lines).map(\.id.description), count: events.count, lines: lines)
        message.summary?.links = events.prefix(MessageLimits.named).map { $0.item?.url ?? "" }
        message.summary?.title = MessageTitle.of(events, inPlaceOf: self, lines: lines)
        message.summary?.parts = events.prefix(MessageLimits.parts).map(\.part)
        return message
    }

    /// One line with the latest state.
    private func line(of rule: Rule) -> String {
        let title = rule.title(of: self)
        if let error { return "\(title): \(error.detail)" }
        let announced = changes.first { $0.field == "state" }?.to?.description
        guard let announced, let state = item?.state, state != announced else { return title }
        return "\(title), now \(state)"
    }

    private var part: Summary.Part {
        Summary.Part(
            event: id.description, kind: kind.word, source: source, key: item?.key, title: item?.title,
            state: item?.state ?? error?.detail)
    }
}
