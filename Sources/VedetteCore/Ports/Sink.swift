// SPDX-License-Identifier: Apache-2.0

/// Where a message goes. It neither throws nor retries: it says what came of one attempt.
public protocol Sink: Sendable {
    func deliver(_ message: Message) async -> Outcome
    /// Waits until a receiver that was not there is back, so that what is owed need not wait for the end of its growing
    /// delay. False when nothing tells that, or the task was cancelled. Asked after a `.retry`, once at a time.
    func returned() async -> Bool
    /// Lets go of connections, threads, bubbles. Called once, after the last delivery.
    func close() async
}

extension Sink {
    public func returned() async -> Bool { false }
    public func close() async {}
}

/// What one rule says to one sink about one cause. Its id is the receiver's idempotency key and never changes.
public struct Message: Sendable, Hashable {
    /// `msg_` and a UUIDv7: no dot, as Standard Webhooks asks.
    public var id: String
    public var rule: String
    public var sink: String
    /// The event it speaks of.
    public var event: Event
    public var title: String
    /// May be empty.
    public var text: String
    public var priority: Priority
    /// Words that a sink may show as labels.
    public var tags: [String] = []
    /// How many messages before it were held back and are not said.
    public var suppressed = 0

    public init(
        id: String, rule: String, sink: String, event: Event, title: String, text: String, priority: Priority = .normal
    ) {
        (self.id, self.rule, self.sink, self.event) = (id, rule, sink, event)
        (self.title, self.text, self.priority) = (title, text, priority)
    }
}

public enum Priority: String, Sendable, Hashable, CaseIterable {
    case low, normal, high
}

/// What came of one attempt to deliver.
public enum Outcome: Sendable, Hashable {
    case delivered
    /// Try again, not before the given time from now (the receiver's Retry-After).
    case retry(reason: String, after: Duration?)
    /// Never will be.
    case rejected(reason: String)
    /// The receiver refuses us (401, 403): the sink rests until a person acts; the delivery stays owed.
    case paused(reason: String)
    /// The receiver is gone for good (410): as paused, and said louder.
    case disabled(reason: String)
}
