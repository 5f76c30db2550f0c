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
    /// What the server sent could not be read, in a failed poll since the last good one: only what is read ends that.
    public var isUnreadable = false
    /// The first poll since the last good one that showed a bad state which is not believed yet.
    public var doubtedSince: Timestamp?

    public init() {}

    /// Whether the last poll failed since its secrets were refused: by 401, 403 or 407.
    public var isRefused: Bool {
        [Failure.unauthorized, .forbidden].contains { $0.rawValue == problem?.failure }
    }

    /// - Parameters:
    ///   - isUnreadable: the server sent something that cannot be read.
    ///   - fails: consecutive failures that make the source `failing`; what only a person can end needs one.
    public mutating func pollFailed(
        _ failure: Failure, detail: String, isUnreadable: Bool = false, fails: Int, at now: Timestamp
    ) -> DraftEvent? {
        failures += 1
        self.isUnreadable = self.isUnreadable || isUnreadable
        lastPollAt = now
        failingSince = failingSince ?? now
        problem = Event.Problem(failure: failure.rawValue, detail: detail)
        guard !isFailing, failures >= (failure.needsPerson ? 1 : fails) else { return nil }
        isFailing = true
        return DraftEvent(.failing, error: problem)
    }

    /// Notes a poll while the machine is offline: neither a failure nor a recovery, and time towards `stale` stands still.
    public mutating func pollIgnored(at now: Timestamp) {
        let passed = Duration.milliseconds(max(0, now.milliseconds - (lastPollAt ?? now).milliseconds))
        failingSince = failingSince.map { min(now, $0.advanced(by: passed)) }
        doubtedSince = doubtedSince.map { min(now, $0.advanced(by: passed)) }
        lastPollAt = now
    }

    /// Notes a poll that showed a bad state which is not believed yet: it counts, and is no failure.
    public mutating func pollUnconfirmed(at now: Timestamp) {
        failures += 1
        lastPollAt = now
        doubtedSince = doubtedSince ?? now
    }

    /// Returns a `stale` event, once, when there was no good poll for ten intervals and at least an hour.
    public mutating func becameStale(_ interval: PollInterval, at now: Timestamp) -> DraftEvent? {
        guard isStaleDue(interval, at: now) else { return nil }
        isStale = true
        return DraftEvent(.stale, error: problem)
    }

    /// Whether there was no good poll for so long, and no event says so yet.
    public func isStaleDue(_ interval: PollInterval, at now: Timestamp) -> Bool {
        staleAt(interval).map { $0 <= now } ?? false
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
        if let stale = becameStale(interval, at: now) { events.append(stale) }
        return events
    }

    /// Returns when `timePassed` has the next event; nil when only a poll can bring one.
    public func deadline(_ interval: PollInterval, fails: Int, notBefore: Timestamp?) -> Timestamp? {
        [failingAt(interval, fails: fails, notBefore: notBefore), staleAt(interval)].compactMap { $0 }
            .min()
    }

    /// Returns when the source becomes stale; nil when it does not fail, or is stale already.
    private func staleAt(_ interval: PollInterval) -> Timestamp? {
        guard !isStale, let failingSince else { return nil }
        return interval.deadline(max(interval.every * 10, .seconds(3600)), since: failingSince)
    }

    /// Returns when the source becomes failing although Retry-After forbids the polls that would show it: at the time by
    /// which `fails` polls would have failed. Nil while polls can happen, since then they decide.
    private func failingAt(_ interval: PollInterval, fails: Int, notBefore: Timestamp?) -> Timestamp? {
        guard !isFailing, let failingSince, let notBefore else { return nil }
        let at = interval.deadline(interval.longestDelay(untilFailures: fails), since: failingSince)
        return at < notBefore ? at : nil
    }

    /// Whether that proves that the source works (I12).
    public func isGood(after evidence: PollEvidence) -> Bool {
        switch evidence {
        case .nothing: false
        case .connection: !isUnreadable
        case .content: true
        }
    }

    /// Ends the failure where the poll proves that what failed works again.
    public mutating func pollSucceeded(_ evidence: PollEvidence = .content, at now: Timestamp) -> DraftEvent? {
        guard isGood(after: evidence) else { return nil }
        let wasReported = isFailing || isStale
        var past = problem
        past?.lasted = failingSince.map { max(0, now.seconds(since: $0)) }
        (failures, lastPollAt, problem) = (0, now, nil)
        (isStale, failingSince, isUnreadable, doubtedSince) = (false, nil, false, nil)
        guard wasReported else { return nil }
        isFailing = false
        return DraftEvent(.recovered, error: past)
    }
}
