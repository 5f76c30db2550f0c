// SPDX-License-Identifier: Apache-2.0

/// Whether a source answers, and since when it does not.
public struct Health: Sendable, Hashable {
    /// Failed polls since the last good one.
    public var failures = 0
    /// A `failing` event stands; the next good poll says `recovered`.
    public var isFailing = false
    public var lastPollAt: Timestamp?
    /// Of the last poll, if it failed.
    public var problem: Event.Problem?

    public init() {}

    /// - Parameter fails: consecutive failures that make the source `failing`; a wrong password or pin needs one.
    public mutating func pollFailed(_ failure: Failure, detail: String, fails: Int, at now: Timestamp) -> EventSketch? {
        failures += 1
        lastPollAt = now
        problem = Event.Problem(failure: failure.rawValue, detail: detail)
        guard !isFailing, failures >= (failure.needsAPerson ? 1 : fails) else { return nil }
        isFailing = true
        return EventSketch(.failing, error: problem)
    }

    public mutating func pollSucceeded(at now: Timestamp) -> EventSketch? {
        let past = problem
        (failures, lastPollAt, problem) = (0, now, nil)
        guard isFailing else { return nil }
        isFailing = false
        return EventSketch(.recovered, error: past)
    }
}
