// SPDX-License-Identifier: Apache-2.0

/// How a sink is treated, whatever its kind.
public struct DeliveryPolicy: Sendable, Hashable {
    /// At most so many of one sink in flight (I7).
    public static let mostAtOnce = 4

    /// Attempts in flight at once, 1 to `mostAtOnce`.
    public var concurrency = mostAtOnce
    /// At least so long from the start of one attempt to the start of the next.
    public var interval = Duration.zero
    /// Messages of one source need not arrive in order (I6), so one that is retried holds up none.
    public var isParallel = false
    public var queue = QueueBound()
    /// What was not delivered within this time is dead.
    public var giveUp = Duration.seconds(72 * 3600)
    /// Who gets what died here: the first; what dies there too, the next.
    public var fallbacks: [String] = []

    public init() {}
}

/// How much may be owed to one sink.
public struct QueueBound: Sendable, Hashable {
    /// Which messages die when it is exceeded.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        case dropOldest = "drop_oldest"
        case dropNewest = "drop_newest"
    }

    public var count = 250_000
    /// Of texts and events.
    public var bytes: Int64 = 500_000_000
    public var policy = Policy.dropOldest

    public init() {}
}
