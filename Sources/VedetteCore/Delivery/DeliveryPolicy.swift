// SPDX-License-Identifier: Apache-2.0

/// The settings that every sink has, whatever its kind.
public struct DeliveryPolicy: Sendable, Hashable {
    /// The largest `concurrency` (I7).
    public static let maximumConcurrency = 4

    /// Attempts in flight at once, 1 to `maximumConcurrency`.
    public var concurrency = maximumConcurrency
    /// The least time from the start of one attempt to the start of the next.
    public var interval = Duration.zero
    /// Whether messages of one source may arrive out of order (I6), so that a retry delays none of them.
    public var isParallel = false
    /// Whether a person reads it, as a desktop, a chat or mail: then a pending message that is no longer true is replaced by the
    /// later one. A program gets each.
    public var isTextSink = false
    /// The bound of its pending messages.
    public var queue = QueueBound()
    /// A message that was not delivered within this time is dead.
    public var giveUp = Duration.seconds(72 * 3600)
    /// The sinks that get what cannot be delivered here: first the first one; what dies there too, the next.
    public var fallbacks: [String] = []
    /// How long a sink with fallbacks fails before they get its messages; it is never longer than `giveUp`.
    public var elseAfter = Duration.seconds(300)

    /// The time after its first failure in a row at which a sink's messages go to its fallbacks; nil without fallbacks.
    var divertsAfter: Duration? { fallbacks.isEmpty ? nil : min(elseAfter, giveUp) }

    /// Creates the usual settings.
    public init() {}
}
