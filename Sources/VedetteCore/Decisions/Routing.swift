// SPDX-License-Identifier: Apache-2.0

extension RuleSet {
    /// The messages that an event makes: one per matching rule and sink it names.
    /// - Parameter identifier: makes a new id at each call.
    public func deliveries(of event: Event, at now: Timestamp, identifier: () -> Identifier) -> [Delivery] {
        verdicts(on: event).filter { $0.answer == .matched }.flatMap { verdict in
            verdict.rule.notify.map { notice in
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
