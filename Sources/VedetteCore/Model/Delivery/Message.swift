// SPDX-License-Identifier: Apache-2.0

/// A message of one rule to one sink about one cause. Its id is the receiver's idempotency key and never changes (I4).
public struct Message: Sendable, Hashable {
    /// What each id begins with.
    public static let idPrefix = "msg_"

    /// `msg_` and a UUIDv7: no dot, as Standard Webhooks asks.
    public var id: String
    /// The rule's name.
    public var rule: String
    /// The sink's name.
    public var sink: String
    /// The event that it is about.
    public var event: Event
    /// The title.
    public var title: String
    /// The text; may be empty.
    public var text: String
    /// How urgent it is.
    public var priority: Priority
    /// Labels that a sink may show.
    public var tags: [String] = []
    /// Earlier messages that were withheld and that this one counts.
    public var suppressed = 0
    /// The field that the rule is about; nil when it is about no field.
    public var field: String?
    /// The receiver's name of the earlier message whose place this one takes; nil for a new message. The dispatcher sets it for
    /// an attempt.
    public var replacing: String?

    /// The item or source that it is about; empty for a message about several. A journal stores it.
    public var subject: String {
        let parts = event.summary?.parts ?? []
        guard let first = parts.first else { return event.kind == .digest ? "" : Subject(event).text }
        let isOne = parts.allSatisfy { $0.source == first.source && $0.key == first.key }
        return isOne ? Subject(source: first.source, key: first.key).text : ""
    }

    /// Whether both are messages of one rule that can be about one subject.
    func sharesSubject(with other: Message) -> Bool {
        guard rule == other.rule else { return false }
        let (one, two) = (subject, other.subject)
        return one == two || one.isEmpty || two.isEmpty
    }

    /// Creates a message.
    public init(
        id: String, rule: String, sink: String, event: Event, title: String, text: String, priority: Priority = .normal
    ) {
        (self.id, self.rule, self.sink, self.event) = (id, rule, sink, event)
        (self.title, self.text, self.priority) = (title, text, priority)
    }
}
