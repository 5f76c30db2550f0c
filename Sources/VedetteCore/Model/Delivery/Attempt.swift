// SPDX-License-Identifier: Apache-2.0

/// The outcome of one attempt to deliver, as the journal keeps it.
public struct Attempt: Sendable, Hashable {
    /// The row id of the delivery.
    public var delivery: Int64
    /// The delivery's state after the attempt.
    public var state: DeliveryState
    /// Attempts including this one.
    public var attempts: Int
    /// When the next attempt is due, for `retry`.
    public var due: Timestamp
    /// When the attempt ended.
    public var at: Timestamp
    /// Why it failed.
    public var reason: String?
    /// Whether a request was made; false for an end by a bound of the queue.
    public var wasMade = true
    /// For a delivery that is sent: the receiver's name of the message, where a later one can take its place.
    public var receiverID: String?
    /// For a delivery that ended: the message to a fallback, committed with it.
    public var successor: Delivery?

    /// Creates an attempt.
    public init(
        delivery: Int64, state: DeliveryState, attempts: Int, due: Timestamp, at: Timestamp, reason: String?
    ) {
        (self.delivery, self.state, self.attempts) = (delivery, state, attempts)
        (self.due, self.at, self.reason) = (due, at, reason)
    }
}
