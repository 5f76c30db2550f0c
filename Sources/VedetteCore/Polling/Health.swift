// SPDX-License-Identifier: Apache-2.0

/// Whether a source answers, and since when it does not.
public struct Health: Sendable, Hashable {
    /// Failed polls in a row after which a source is failing, unless its `fails` says otherwise.
    public static let usualFails = 3

    /// Failed polls since the last good one.
    public var failures = 0
    /// A `failing` event stands. The next good poll is `recovered`, as it is after `stale`.
    public var isFailing = false
    /// A `stale` event stands.
    public var isStale = false
    /// The first failed poll since the last good one.
    public var failingSince: Timestamp?
    public var lastPollAt: Timestamp?
    /// Of the last poll, if it failed.
    public var problem: Event.Problem?

    public init() {}

    /// - Parameter fails: consecutive failures that make the source `failing`; a wrong password or pin needs one.
    public mutating func pollFailed(_ failure: Failure, detail: String, fails: Int, at now: Timestamp) -> DraftEvent? {
        failures += 1
        lastPollAt = now
        failingSince = failingSince ?? now
        problem = Event.Problem(failure: failure.rawValue, detail: detail)
        guard !isFailing, failures >= (failure.needsPerson ? 1 : fails) else { return nil }
        isFailing = true
        return DraftEvent(.failing, error: problem)
    }

    /// Notes a poll while the machine is offline: neither a failure nor a recovery, and time towards `stale` stands still.
    public mutating func pollIgnored(at now: Timestamp) {
        if let failingSince, let lastPollAt {
            let passed = max(0, now.milliseconds - lastPollAt.milliseconds)
            self.failingSince = min(now, failingSince.advanced(by: .milliseconds(passed)))
        }
        lastPollAt = now
    }

    /// Notes a poll that showed a bad state which is not believed yet: it counts, and is no failure.
    public mutating func pollUnconfirmed(at now: Timestamp) {
        failures += 1
        lastPollAt = now
    }

    /// Returns a `stale` event, once, when there was no good poll for ten intervals and at least an hour.
    public mutating func becameStale(every: Duration, at now: Timestamp) -> DraftEvent? {
        guard let staleAt = staleAt(every: every), staleAt <= now else { return nil }
        isStale = true
        return DraftEvent(.stale, error: problem)
    }

    /// Returns the events of time that passed without a poll.
    /// - Parameter notBefore: the server's Retry-After.
    public mutating func timePassed(
        _ interval: PollInterval, fails: Int, notBefore: Timestamp?, at now: Timestamp
    ) -> [DraftEvent] {
        var events: [DraftEvent] = []
        if let at = failingAt(interval, fails: fails, notBefore: notBefore), at <= now {
            isFailing = true
            events.append(DraftEvent(.failing, error: problem))
        }
        if let stale = becameStale(every: interval.every, at: now) { events.append(stale) }
        return events
    }

    /// Returns when `timePassed` has the next event; nil when only a poll can bring one.
    public func deadline(_ interval: PollInterval, fails: Int, notBefore: Timestamp?) -> Timestamp? {
        [failingAt(interval, fails: fails, notBefore: notBefore), staleAt(every: interval.every)].compactMap { $0 }
            .min()
    }

    /// Returns when the source becomes stale; nil when it does not fail, or is stale already.
    private func staleAt(every: Duration) -> Timestamp? {
        isStale ? nil : failingSince?.advanced(by: max(every * 10, .seconds(3600)))
    }

    /// Returns when the source becomes failing although Retry-After forbids the polls that would show it: at the time by
    /// which `fails` polls would have failed. Nil while polls can happen, since then they decide.
    private func failingAt(_ interval: PollInterval, fails: Int, notBefore: Timestamp?) -> Timestamp? {
        guard !isFailing, let failingSince, let notBefore else { return nil }
        let at = failingSince.advanced(by: interval.longestDelay(untilFailures: fails))
        return at < notBefore ? at : nil
    }

    public mutating func pollSucceeded(at now: Timestamp) -> DraftEvent? {
        let wasReported = isFailing || isStale
        var past = problem
        past?.lasted = failingSince.map { max(0, now.seconds(since: $0)) }
        (failures, lastPollAt, problem) = (0, now, nil)
        (isStale, failingSince) = (false, nil)
        guard wasReported else { return nil }
        isFailing = false
        return DraftEvent(.recovered, error: past)
    }
}
