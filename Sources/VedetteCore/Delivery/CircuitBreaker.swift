// SPDX-License-Identifier: Apache-2.0

/// Whether a sink is thought dead. While it is, one attempt at a time asks whether it is back, so that the messages of a
/// thousand sources do not each find it out for themselves. (The circuit breaker of M. Nygard, *Release It!*, 2007.)
struct CircuitBreaker: Sendable {
    /// So many attempts in a row must fail.
    static let threshold = 5
    static let first = Duration.seconds(5)
    static let longest = Duration.seconds(300)

    /// In a row.
    private var failures = 0
    private var openings = 0
    private var lane: DeliveryLane?
    /// One lane alone may have a message that the receiver cannot take; it waits by itself.
    private var isShared = false
    /// No attempt before; of an open circuit.
    private(set) var restsUntil: Timestamp?

    var isOpen: Bool { restsUntil != nil }
    /// It has been open for long: minutes, not a hiccup.
    var isLasting: Bool { openings > 6 }

    /// - Parameters:
    ///   - asked: before this time the receiver wants none.
    ///   - chance: 0..<1.
    mutating func failed(_ name: DeliveryLane, at now: Timestamp, asked: Timestamp?, random: Double) {
        if let rest = restsUntil, rest > now {
            // Under way when it opened: no news, but perhaps a wish.
            restsUntil = max(rest, asked ?? rest)
            return
        }
        failures += 1
        if let lane { isShared = isShared || lane != name } else { lane = name }
        guard isShared, failures >= CircuitBreaker.threshold else { return }
        let doubled = CircuitBreaker.first * (1 << min(openings, 6))
        openings += 1
        let most = min(doubled, CircuitBreaker.longest)
        restsUntil = max(now.advanced(by: most * (0.5 + random / 2)), asked ?? now)
    }

    /// The receiver answered.
    /// - Returns: whether it was thought dead.
    mutating func answered() -> Bool {
        let wasOpen = isOpen
        self = CircuitBreaker()
        return wasOpen
    }
}
