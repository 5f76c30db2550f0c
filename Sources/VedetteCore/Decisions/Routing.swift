// SPDX-License-Identifier: Apache-2.0

extension RuleSet {
    /// The messages that an event makes: one per matching rule and sink it names.
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
            return verdict.rule.notify.map { notice in
                let context = event.templateContext(rule: verdict.rule.name, field: verdict.rule.field)
                let message = Message(
                    id: "msg_" + identifier().description, rule: verdict.rule.name, sink: notice.sink, event: event,
                    title: notice.title?.render(context) ?? Wording.title(of: event),
                    text: notice.text?.render(context) ?? Wording.text(of: event), priority: verdict.rule.priority)
                return Delivery(message: message, created: now, due: now)
            }
        }
    }
}
