// SPDX-License-Identifier: Apache-2.0

extension Response {
    /// The time for which the server asks a client to wait. Retry-After has a meaning for 503 and redirects (RFC 9110 §10.2.3),
    /// and for 429 (RFC 6585 §4); nil with any other status.
    public func retryAfter(at now: Timestamp) -> Duration? {
        status == 429 || status == 503 || (300..<400).contains(status) ? headers.retryAfter(at: now) : nil
    }
}

/// The time for which a server asks a client to wait (Retry-After, RFC 9110 §10.2.3), as the header has it.
extension ResponseHeaders {
    /// Returns Retry-After, given in seconds or as a date; nil when it is absent, negative, past or invalid.
    public func retryAfter(at now: Timestamp) -> Duration? {
        guard let text = self["Retry-After"] else { return nil }
        if let seconds = Int64(text) { return seconds > 0 ? .seconds(min(seconds, 1 << 31)) : nil }
        // A number beyond Int64 still means a very long time.
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return .seconds(1 << 31) }
        guard let date = Timestamp(httpDate: text, now: now), date > now else { return nil }
        return .milliseconds(date.milliseconds - now.milliseconds)
    }
}

/// The rule of Retry-After: the source is not polled before that time, within bounds. What is due later stays due then.
extension PollInterval {
    /// Retry-After is obeyed between these (adversarial servers send 0, the past, and 10¹²).
    static let retryAfter = Duration.seconds(1)...longestRetryAfter

    /// The longest time for which a server can put off the next poll.
    public static let longestRetryAfter = Duration.seconds(86_400)

    /// Returns a poll's Retry-After within bounds.
    public static func clamped(retryAfter: Duration) -> Duration {
        min(max(retryAfter, PollInterval.retryAfter.lowerBound), PollInterval.retryAfter.upperBound)
    }

    /// Whether a server puts off the next poll beyond the latest time at which so many polls in a row would have failed.
    /// - Parameter since: the time of the first of them.
    public func isPutOff(
        _ retryAfter: Duration?, beyondFailures fails: Int, since: Timestamp, at now: Timestamp
    ) -> Bool {
        guard let notBefore = PollInterval.notBefore(retryAfter, at: now) else { return false }
        return deadline(longestDelay(untilFailures: fails), since: since) < notBefore
    }

    /// Returns the time before which the source is not polled; nil where the server did not ask for one.
    static func notBefore(_ retryAfter: Duration?, at now: Timestamp) -> Timestamp? {
        retryAfter.map { now.advanced(by: clamped(retryAfter: $0)) }
    }
}
