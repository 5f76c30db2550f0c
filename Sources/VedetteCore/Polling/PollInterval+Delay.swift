// SPDX-License-Identifier: Apache-2.0

/// The delay until the next poll.
extension PollInterval {
    static let jitter = 0.1
    static let longestBackoff = Duration.seconds(3600)
    /// The shortest delay between two polls of a source while the machine is offline.
    public static let shortestOffline = Duration.seconds(15)
    /// The shortest delay after 410: the server says that the resource is gone for good (RFC 9110 §15.5.11).
    static let ofGone = Duration.seconds(86_400)

    /// After a good poll: `every`, or `while`'s while an item is in transition; slowed by the server's freshness where
    /// the user wrote no interval; jittered by 10 % either way, so that sources spread.
    /// - Parameters:
    ///   - states: the number of items by state.
    ///   - freshFor: how long the response is fresh by its own account.
    ///   - random: 0..<1.
    public func delay(states: [String: Int], freshFor: Duration?, random: Double) -> Duration {
        var base = every
        if let whileEvery, whileStates.contains(where: { states[$0, default: 0] > 0 }) {
            base = whileEvery
        } else if !isExplicit, let freshFor {
            base = max(base, min(freshFor, .seconds(86_400)))
        }
        return base * (1 - PollInterval.jitter + 2 * PollInterval.jitter * random)
    }

    /// After the nth failure in a row: `every` plus a random part of min(1 h, every · 2ⁿ).
    /// - Parameter random: 0..<1.
    public func delay(failures: Int, random: Double) -> Duration {
        let doubled = failures >= 20 ? PollInterval.longestBackoff : every * (1 << failures)
        return every + min(PollInterval.longestBackoff, doubled) * random
    }

    /// The longest time from the first of so many failed polls in a row to the last.
    func longestDelay(untilFailures count: Int) -> Duration {
        (1..<max(1, count)).reduce(.zero) { $0 + delay(failures: $1, random: 1) }
    }

    /// Returns when so much time has passed in which the source may be polled.
    public func deadline(_ duration: Duration, since start: Timestamp) -> Timestamp {
        calendar?.deadline(duration, since: start) ?? start.advanced(by: duration)
    }

    /// Whether a good poll left open what another one decides: an absence, an empty list, an item in transition.
    func isOpen(after snapshot: SnapshotHead) -> Bool {
        if snapshot.pendingAbsences > 0 { return true }
        if let emptiness = snapshot.emptiness, emptiness != .accepted { return true }
        return whileEvery != nil && whileStates.contains { snapshot.states[$0, default: 0] > 0 }
    }

    /// Returns when the next poll is due whose stored time was computed from another interval, as an edit leaves it: as near
    /// to that time as this interval allows after the last poll, so that a backoff stays one.
    public func due(edited record: SourceRecord) -> Timestamp? {
        guard let stored = record.due, let last = record.health.lastPollAt else { return record.due }
        let (health, states) = (record.health, record.snapshot?.states ?? [:])
        let shortest =
            health.failures > 0
            ? delay(failures: health.failures, random: 0) : delay(states: states, freshFor: nil, random: 0)
        let usual = min(
            max(stored, last.advanced(by: shortest)), last.advanced(by: max(shortest, longestDelay(health))))
        guard let calendar else { return usual }
        let isOpen = health.failures > 0 || record.snapshot.map(isOpen) ?? true
        return calendar.due(usual, after: last, isOpen: isOpen, spread: .zero)
    }

    /// The longest that a stored due time may lie ahead, whatever the wall clock did meanwhile.
    public func longestDelay(_ health: Health) -> Duration {
        let isGone = health.problem?.failure == Failure.gone.rawValue
        let backoff = isGone ? PollInterval.ofGone : health.failures > 0 ? PollInterval.longestBackoff : .zero
        let usual = max(every, whileEvery ?? .zero)
        return (isExplicit ? usual : max(usual, .seconds(86_400))) * (1 + PollInterval.jitter) + backoff
    }
}

extension Duration {
    public static func * (duration: Duration, factor: Double) -> Duration {
        .milliseconds(Int64((Double(duration.wholeMilliseconds) * factor).rounded()))
    }
}
