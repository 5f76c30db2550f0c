// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// Returns the delivery of an event to one target, with its texts rendered.
    /// - Parameter withheld: earlier messages that were withheld and that this one counts.
    func delivery(
        of event: Event, to target: NotificationTarget, withheld: Int = 0, at now: Timestamp, _ id: Identifier
    ) -> Delivery {
        let context = event.templateContext(rule: name, field: field, suppressed: withheld)
        let more = withheld > 0 ? ["\(counted(withheld, "message")) held back before"] : []
        let text = target.text?.render(context) ?? ([MessageFormatter.text(of: event)] + more).joined(separator: " · ")
        var message = Message(
            id: "msg_" + id.description, rule: name, sink: target.sink, event: event,
            title: target.title?.render(context) ?? MessageFormatter.title(of: event), text: text, priority: priority)
        (message.tags, message.suppressed) = (tags, withheld)
        return Delivery(message: message, created: now, due: now)
    }
}
