// SPDX-License-Identifier: Apache-2.0

/// How a delivery is retried: full jitter over 5 s doubling to 1 h, until `giveUp` after its creation and at least
/// `leastAttempts` times.
public struct RetryPolicy: Sendable, Hashable {
    /// The upper bound of the first delay.
    public static let first = Duration.seconds(5)
    /// The upper bound of every delay.
    public static let longest = Duration.seconds(3600)
    /// The attempts that a delivery gets, however old it is.
    public static let leastAttempts = 10
    /// The time after its creation at which a delivery is dead, where the watcher ran.
    public var giveUp: Duration

    /// Creates a policy.
    public init(giveUp: Duration = DeliveryPolicy().giveUp) { self.giveUp = giveUp }

    /// Returns the attempt to record: the delivery's next state, and when it is due again.
    /// - Parameter random: 0..<1.
    public func attempt(_ delivery: Delivery, _ outcome: Outcome, at now: Timestamp, random: Double) -> Attempt {
        let attempts = delivery.attempts + 1
        func ended(_ state: DeliveryState, _ reason: String?, due: Timestamp? = nil) -> Attempt {
            Attempt(
                delivery: delivery.id, state: state, attempts: attempts, due: due ?? now, at: now, reason: reason)
        }
        switch outcome {
        case .delivered(let receiverID):
            var sent = ended(.sent, nil)
            sent.receiverID = receiverID
            return sent
        case .rejected(let reason): return ended(.dead, reason)
        case .paused(let reason), .disabled(let reason):
            return isTooOld(delivery, attempts, at: now) ? ended(.dead, gaveUp(reason)) : ended(.paused, reason)
        case .retry(let reason, let after):
            let doubled =
                attempts > 12
                ? RetryPolicy.longest : min(RetryPolicy.longest, RetryPolicy.first * (1 << (attempts - 1)))
            let wait = max(doubled * random, min(after ?? .zero, RetryPolicy.longest), .milliseconds(500))
            let due = now.advanced(by: wait)
            if isTooOld(delivery, attempts, at: due) {
                return ended(.dead, gaveUp(reason))
            }
            return ended(.retry, reason, due: due)
        }
    }

    private func isTooOld(_ delivery: Delivery, _ attempts: Int, at due: Timestamp) -> Bool {
        attempts >= RetryPolicy.leastAttempts && due > delivery.created.advanced(by: giveUp)
    }

    private func gaveUp(_ reason: String) -> String {
        "gave up after \(DurationText.long(seconds: giveUp.inSeconds)): \(reason)"
    }
}
