// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// The message that it has for one sink about an event.
    /// - Parameter held: how many before it were held back and are not said.
    func delivery(
        of event: Event, to notice: NotificationTarget, held: Int = 0, at now: Timestamp, _ id: Identifier
    ) -> Delivery {
        let context = event.templateContext(rule: name, field: field, suppressed: held)
        let more = held > 0 ? ["\(counted(held, "message")) held back before"] : []
        let text = notice.text?.render(context) ?? ([MessageFormatter.text(of: event)] + more).joined(separator: " · ")
        var message = Message(
            id: "msg_" + id.description, rule: name, sink: notice.sink, event: event,
            title: notice.title?.render(context) ?? MessageFormatter.title(of: event), text: text, priority: priority)
        (message.tags, message.suppressed) = (tags, held)
        return Delivery(message: message, created: now, due: now)
    }
}

extension RuleSet {
    /// The messages that an event makes without any gate: one per matching rule and sink it names.
    /// - Parameters:
    ///   - broken: told the rule and what went wrong when a pattern hit its match limit: that is no "no match".
    ///   - identifier: makes a new id at each call.
    public func deliveries(
        of event: Event, at now: Timestamp, broken: (_ rule: String, _ detail: String) -> Void = { _, _ in },
        identifier: () -> Identifier
    ) -> [Delivery] {
        verdicts(on: event).flatMap { verdict -> [Delivery] in
            if case .broken(let detail) = verdict.answer { broken(verdict.rule.name, detail) }
            guard verdict.answer == .matched else { return [] }
            return verdict.rule.notify.map { verdict.rule.delivery(of: event, to: $0, at: now, identifier()) }
        }
    }
}
