// SPDX-License-Identifier: Apache-2.0

/// Messages of one source to one sink go out in order, so they wait in one lane.
public struct DeliveryLane: Sendable, Hashable {
    public var source: String
    public var sink: String

    public init(source: String, sink: String) { (self.source, self.sink) = (source, sink) }
}

/// One message for one sink.
public struct Delivery: Sendable, Hashable {
    /// The journal's number: the order of release. 0 until it is committed.
    public var id: Int64
    public var message: Message
    public var created: Timestamp
    /// Attempts so far.
    public var attempts: Int
    /// Not before this wall time.
    public var due: Timestamp
    /// What came of the last attempt, or why it is suppressed.
    public var reason: String?
    /// As it is committed: `pending`, or `suppressed` by a gate of its rule.
    public var state: DeliveryState
    /// Of a message that died elsewhere and was passed on: the sinks that follow when it dies here too.
    public var chain: [String]?

    public init(
        id: Int64 = 0, message: Message, created: Timestamp, attempts: Int = 0, due: Timestamp, reason: String? = nil,
        state: DeliveryState = .pending
    ) {
        (self.id, self.message, self.created) = (id, message, created)
        (self.attempts, self.due, self.reason) = (attempts, due, reason)
        self.state = state
    }

    public var lane: DeliveryLane { DeliveryLane(source: message.event.source, sink: message.sink) }

    /// The same message for the next sink of its chain, when it died here; nil at the end of the chain.
    /// - Parameters:
    ///   - fallbacks: of its own sink.
    ///   - id: of the new message: another receiver knows nothing of this one.
    public func passedOn(
        along fallbacks: [String], where isKnown: (String) -> Bool, id: String, at now: Timestamp
    ) -> Delivery? {
        let chain = chain ?? fallbacks
        guard let next = chain.firstIndex(where: isKnown) else { return nil }
        var message = message
        (message.id, message.sink) = (id, chain[next])
        var successor = Delivery(
            message: message, created: now, due: now, reason: "the sink '\(self.message.sink)' failed")
        successor.chain = Array(chain[(next + 1)...])
        return successor
    }
}

/// Where a delivery stands. The last three are ends: it is never attempted again by itself.
public enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    case pending
    /// Waits for `due` after a failed attempt.
    case retry
    /// Its sink rests until a person acts.
    case paused
    case sent
    case dead
    case suppressed

    public var isPending: Bool {
        switch self {
        case .pending, .retry, .paused: true
        case .sent, .dead, .suppressed: false
        }
    }
}

/// The outcome of one attempt to deliver, as the journal keeps it.
public struct Attempt: Sendable, Hashable {
    /// Failed attempts that the journal keeps per delivery, the newest.
    public static let kept = 32

    public var delivery: Int64
    public var state: DeliveryState
    public var attempts: Int
    /// For `retry`: when the next one is due.
    public var due: Timestamp
    public var at: Timestamp
    public var reason: String?
    /// False for an end without an attempt, as by a bound.
    public var wasMade = true
    /// Of a death: the message for another sink, committed with it.
    public var successor: Delivery?

    public init(
        delivery: Int64, state: DeliveryState, attempts: Int, due: Timestamp, at: Timestamp, reason: String?
    ) {
        (self.delivery, self.state, self.attempts) = (delivery, state, attempts)
        (self.due, self.at, self.reason) = (due, at, reason)
    }
}
