// SPDX-License-Identifier: Apache-2.0

/// Tracks whether a sink's receiver is down. While the circuit is open, one attempt at a time probes the receiver, instead
/// of one per source. (The circuit breaker of M. Nygard, *Release It!*, 2007.)
struct CircuitBreaker: Sendable {
    /// Failed attempts in a row that open the circuit.
    static let threshold = 5
    /// The first pause after the circuit opened; each further one doubles.
    static let first = Duration.seconds(5)
    /// The longest pause.
    static let longest = Duration.seconds(300)

    /// Failed attempts in a row.
    private var failures = 0
    private var openings = 0
    private var source: String?
    /// Whether messages of more than one source failed. One alone may have a message that the receiver cannot take.
    private var isShared = false
    /// When the next probe may start; nil while the circuit is closed.
    private(set) var openUntil: Timestamp?

    var isOpen: Bool { openUntil != nil }
    /// Whether it has been open for minutes.
    var isLasting: Bool { openings > 6 }

    /// Records a failed attempt.
    /// - Parameters:
    ///   - retryAfter: the receiver's Retry-After, as a time.
    ///   - random: 0..<1.
    ///   - isDiverted: whether other sinks get the messages; then any failure opens it, and each attempt is a probe.
    mutating func failed(
        _ name: DeliveryLane, at now: Timestamp, retryAfter: Timestamp?, random: Double, isDiverted: Bool = false
    ) {
        if let until = openUntil, until > now {
            // The attempt was in flight when the circuit opened; only its Retry-After counts.
            openUntil = max(until, retryAfter ?? until)
            return
        }
        failures += 1
        isShared = isShared || source.map { $0 != name.source } ?? false
        source = source ?? name.source
        guard isDiverted || isShared && failures >= CircuitBreaker.threshold else { return }
        let doubled = CircuitBreaker.first * (1 << min(openings, 6))
        openings += 1
        let pause = min(doubled, CircuitBreaker.longest)
        openUntil = max(now.advanced(by: pause * (0.5 + random / 2)), retryAfter ?? now)
    }

    /// Records that the receiver answered.
    /// - Returns: whether the circuit was open.
    mutating func succeeded() -> Bool {
        let wasOpen = isOpen
        self = CircuitBreaker()
        return wasOpen
    }
}
