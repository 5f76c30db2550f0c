// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// Returns the delivery of an event to one target, with its texts rendered.
    /// - Parameters:
    ///   - withheld: earlier messages that were withheld and that this one counts.
    ///   - stillFailing: what the usual text of a recovery ends with.
    ///   - acknowledgement: what was said of the match before.
    func delivery(
        of event: Event, to target: NotificationTarget, withheld: Int = 0, stillFailing: String? = nil,
        acknowledgement: Acknowledgement? = nil, at now: Timestamp, _ id: Identifier
    ) -> Delivery {
        let field = when.changedField(in: event)
        let isEnd = gates.resolved && event.isResolved
        var target = isEnd ? self.target(target, atEnd: event) : target
        let priority = isEnd ? ending.priority ?? endPriority(target) : priority
        if event.isAboutSeveral { target = target.forSeveral }
        let context = event.templateContext(
            rule: name, field: field, suppressed: withheld, group: groupName(of: event),
            acknowledged: acknowledgement?.text(at: now))
        let text =
            target.text?.render(context)
            ?? [
                MessageText.of(event, field: field, withheld: withheld),
                acknowledgement.map { $0.remark(in: event, at: now) } ?? "", stillFailing ?? "",
            ].filter { !$0.isEmpty }.joined(separator: " · ")
        var message = Message(
            id: Message.idPrefix + id.description, rule: name, sink: target.sink, event: event,
            title: target.title?.render(context) ?? title(of: event), text: text, priority: priority)
        (message.tags, message.suppressed, message.field) = (tags, withheld, field)
        return Delivery(message: message, created: now, due: now)
    }

    /// Returns the value of the field by which the rule groups its messages; nil for none.
    func groupName(of event: Event) -> String? {
        if let group = event.summary?.group { return group }
        guard case .field(let name) = gates.digest?.by ?? gates.limit?.by else { return nil }
        return event.item?[name]?.description
    }

    /// Returns the title of an event that shows the change that this rule is about.
    func title(of event: Event) -> String {
        MessageTitle.of(event, field: when.changedField(in: event))
    }
}

extension Rule {
    /// What the message about the end of a match says: the keys of `resolved`.
    public struct Ending: Sendable {
        /// A title or text.
        public enum Text: Sendable {
            /// The one of the match.
            case same
            case own(any Template)
        }

        /// The title; nil for the one of the match if it shows what is so now, else the usual one.
        public var title: Text?
        /// The text, chosen as the title is.
        public var text: Text?
        /// The priority; nil for the rule's with the title of the match, else at most `normal`.
        public var priority: Priority?
        /// The sinks that are told the end; empty for all that were told the match.
        public var sinks: Set<String> = []

        /// Creates the ending of `resolved: true`.
        public init() {}
    }

    /// Whether a sink that was told a match is told its end.
    func tellsEnd(to sink: String) -> Bool { ending.sinks.isEmpty || ending.sinks.contains(sink) }

    /// The titles and texts of sinks that the message about an end does not have, since they do not show what is so now.
    public var textsWithoutEnd: [(sink: String, name: String)] {
        guard gates.resolved else { return [] }
        return allTargets.filter { tellsEnd(to: $0.sink) }.flatMap { target in
            let end = self.target(target, atEnd: nil)
            let left = [("title", target.title, end.title), ("text", target.text, end.text)]
            return left.filter { $0.1 != nil && $0.2 == nil }.map { (target.sink, $0.0) }
        }
    }

    /// Returns the target with the texts of an end.
    /// - Parameter event: the end; nil for one that a change of the item shows.
    private func target(_ target: NotificationTarget, atEnd event: Event?) -> NotificationTarget {
        // An item that is gone has the state of before.
        let ofItem =
            event?.changes.isEmpty == true ? [] : ["change.to", "change.diff", "item.state", "item.\(field ?? "")"]
        let names = Set(["resolved", "event.kind", "event.type", "digest.lines"] + ofItem)
        func chosen(_ text: Ending.Text?, _ own: (any Template)?) -> (any Template)? {
            switch text {
            case .own(let template): template
            case .same: own
            case nil: own?.names.isDisjoint(with: names) == false ? own : nil
            }
        }
        return NotificationTarget(
            sink: target.sink, title: chosen(ending.title, target.title), text: chosen(ending.text, target.text))
    }

    /// Returns the priority of an end: a title that is not the one of the match says that nothing is urgent any more.
    private func endPriority(_ end: NotificationTarget) -> Priority {
        let isOfMatch = if case .own = ending.title { false } else { end.title != nil }
        return isOfMatch || priority == .low ? priority : .normal
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

    /// Whether it tells that matches are over.
    fileprivate var isResolved: Bool {
        let parts = summary?.parts ?? []
        return kind == .resolved || !parts.isEmpty && parts.allSatisfy(\.tellsEnd)
    }
}

extension Template {
    /// Whether it shows values of one event, and none of a digest.
    fileprivate var isAboutOne: Bool {
        let ofOne = names.contains { name in
            ["item.", "change.", "error."].contains(where: name.hasPrefix) || name == "link"
        }
        return ofOne && !names.contains { $0.hasPrefix("digest.") }
    }
}
