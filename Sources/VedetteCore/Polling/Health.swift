// SPDX-License-Identifier: Apache-2.0

/// Whether a source answers, and since when it does not.
public struct Health: Sendable, Hashable {
    /// Failed polls since the last good one.
    public var failures = 0
    /// A `failing` event stands; the next good poll says `recovered`.
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
        guard !isFailing, failures >= (failure.needsAPerson ? 1 : fails) else { return nil }
        isFailing = true
        return DraftEvent(.failing, error: problem)
    }

    /// A poll while the machine is offline: no failure, and no recovery either; and nothing grows old meanwhile.
    public mutating func wasPolled(at now: Timestamp) {
        if let failingSince, let lastPollAt {
            let passed = max(0, now.milliseconds - lastPollAt.milliseconds)
            self.failingSince = min(now, failingSince.advanced(by: .milliseconds(passed)))
        }
        lastPollAt = now
    }

    /// Bad news that so many polls in a row must bring before it is believed; they are no failures.
    public mutating func doubted(at now: Timestamp) {
        failures += 1
        lastPollAt = now
    }

    /// What is known has grown old: no good poll for ten intervals, and an hour at least. Said once.
    public mutating func grewOld(every: Duration, at now: Timestamp) -> DraftEvent? {
        guard !isStale, let failingSince, failingSince.advanced(by: max(every * 10, .seconds(3600))) <= now else {
            return nil
        }
        isStale = true
        return DraftEvent(.stale, error: problem)
    }

    public mutating func pollSucceeded(at now: Timestamp) -> DraftEvent? {
        let past = problem
        (failures, lastPollAt, problem) = (0, now, nil)
        (isStale, failingSince) = (false, nil)
        guard isFailing else { return nil }
        isFailing = false
        return DraftEvent(.recovered, error: past)
    }
}
