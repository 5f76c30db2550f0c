// SPDX-License-Identifier: Apache-2.0

/// A receiver of messages. It neither throws nor retries; it returns the outcome of one attempt.
public protocol Sink: Sendable {
    /// Makes one attempt to deliver a message.
    func deliver(_ message: Message) async -> Outcome
    /// Waits until a receiver that was away is back, so that pending deliveries skip the rest of their backoff. Returns
    /// false when the sink cannot tell, or when the task was cancelled. Called after a `.retry`, once at a time.
    func waitForReceiver() async -> Bool
    /// Closes connections, threads and notifications. Called once, after the last delivery.
    func close() async
}

extension Sink {
    /// Returns false: most receivers do not tell when they are back.
    public func waitForReceiver() async -> Bool { false }
    /// Does nothing.
    public func close() async {}
}

/// The outcome of one attempt to deliver.
public enum Outcome: Sendable, Hashable {
    /// The receiver has the message.
    case delivered
    /// The attempt should be repeated, not sooner than `after` (the receiver's Retry-After).
    case retry(reason: String, after: Duration?)
    /// The receiver will never accept this message.
    case rejected(reason: String)
    /// The receiver refuses us (401, 403). The sink is paused until a person acts; the delivery stays pending.
    case paused(reason: String)
    /// The receiver is gone for good (410). Treated as `paused`, with an event of its own.
    case disabled(reason: String)
}

/// Takes silences from the receiver of a message, for instance from a button of a desktop notification.
public protocol Silencer: Sendable {
    /// Adds a silence. Returns at once; a failure is logged by the watcher, since the caller cannot show it.
    func silence(_ silence: Silence)
}
