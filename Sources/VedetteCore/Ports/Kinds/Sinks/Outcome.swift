// SPDX-License-Identifier: Apache-2.0

/// The outcome of one attempt to deliver.
public enum Outcome: Sendable, Hashable {
    /// The receiver has the message, by which name it tells where a later message can take its place.
    case delivered(as: String?)
    /// The attempt should be repeated, not sooner than `after` (the receiver's Retry-After).
    case retry(reason: String, after: Duration?)
    /// The receiver will never accept this message.
    case rejected(reason: String)
    /// The receiver refuses us (401, 403). The sink is paused until a person acts; the delivery stays pending.
    case paused(reason: String)
    /// The receiver is gone for good (410). Treated as `paused`, with an event of its own.
    case disabled(reason: String)

    /// The receiver has the message.
    public static let delivered = Outcome.delivered(as: nil)
}
