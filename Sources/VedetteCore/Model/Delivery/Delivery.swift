// SPDX-License-Identifier: Apache-2.0

/// One message to one sink, and where it stands.
public struct Delivery: Sendable, Hashable {
    /// The row id in the journal, which gives the order in a lane; 0 until it is committed.
    public var id: Int64
    /// What is delivered.
    public var message: Message
    /// When the rule made it.
    public var created: Timestamp
    /// Attempts so far.
    public var attempts: Int
    /// The wall time before which no attempt starts.
    public var due: Timestamp
    /// Why the last attempt failed, or why it is suppressed.
    public var reason: String?
    /// The state in which it is committed: `pending`, or `suppressed` by a gate of its rule.
    public var state: DeliveryState
    /// The fallbacks that follow when it dies here too; nil for a message that no other sink failed to deliver.
    public var chain: [String]?
    /// The last of the earlier pending deliveries about its subject in other lanes of its sink, as the journal had them when it
    /// was read; nil for none.
    public var behind: DeliveryPlace?
    /// The receiver's name of the message once it is sent, where a later one can take its place.
    public var receiverID: String?

    /// Creates a delivery.
    public init(
        id: Int64 = 0, message: Message, created: Timestamp, attempts: Int = 0, due: Timestamp, reason: String? = nil,
        state: DeliveryState = .pending
    ) {
        (self.id, self.message, self.created) = (id, message, created)
        (self.attempts, self.due, self.reason) = (attempts, due, reason)
        self.state = state
    }

    /// The lane that it is in.
    public var lane: DeliveryLane {
        DeliveryLane(source: message.event.source, sink: message.sink, priority: message.priority)
    }

    /// Its lane and id.
    public var place: DeliveryPlace { DeliveryPlace(lane: lane, id: id) }

    /// Returns whether a fallback can get the message when it dies here.
    public func hasFallback(among fallbacks: [String], where isKnown: (String) -> Bool) -> Bool {
        (chain ?? fallbacks).contains(where: isKnown)
    }

    /// Returns the delivery of the same message to the next fallback, after it died here; nil when there is none.
    /// - Parameters:
    ///   - fallbacks: the fallbacks of its own sink.
    ///   - isKnown: whether a sink of that name is configured.
    ///   - id: the id of the new message, since another receiver does not know the old one.
    public func fallback(
        among fallbacks: [String], where isKnown: (String) -> Bool, id: String, at now: Timestamp
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

extension Delivery {
    /// The reason of a delivery that `outbox drop` ended.
    public static let droppedReason = "dropped by hand"

    /// Bytes that it counts against the bound of its sink's queue: its texts and its event.
    public var queueBytes: Int64 {
        Int64(message.title.utf8.count + message.text.utf8.count + message.event.json.bytes.count)
    }
}
