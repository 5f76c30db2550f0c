// SPDX-License-Identifier: Apache-2.0

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
            target.text?.render(context) ?? MessageText.of(event, field: field, withheld: withheld)
        var message = Message(
            id: Message.idPrefix + id.description, rule: name, sink: target.sink, event: event,
            title: target.title?.render(context) ?? title(of: event), text: text, priority: priority)
        (message.tags, message.suppressed, message.field) = (tags, withheld, field)
        return Delivery(message: message, created: now, due: now)
    }

    /// Returns the title of an event that shows the change that this rule is about.
    func title(of event: Event) -> String {
        MessageTitle.of(event, field: when.changedField(in: event))
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
