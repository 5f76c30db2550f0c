// SPDX-License-Identifier: Apache-2.0

/// A receiver of messages. It neither throws nor retries; it returns the outcome of one attempt.
public protocol Sink: Sendable {
    /// Whether a message can take the place of an earlier one; see `Message.replacing`.
    var updates: Bool { get }
    /// Makes one attempt to deliver a message.
    func deliver(_ message: Message) async -> Outcome
    /// Waits until a receiver that was away is back, so that pending deliveries skip the rest of their backoff. Returns
    /// false when the sink cannot tell, or when the task was cancelled. Called after a `.retry`, once at a time.
    func waitForReceiver() async -> Bool
    /// Closes connections, threads and notifications. Called once, after the last delivery.
    func close() async
}

extension Sink {
    /// False: few receivers can change a message.
    public var updates: Bool { false }
    /// Returns false: most receivers do not tell when they are back.
    public func waitForReceiver() async -> Bool { false }
    /// Does nothing.
    public func close() async {}
}
