// SPDX-License-Identifier: Apache-2.0

/// What the result of a poll changes: the source's record, its rows and its events.
public struct PollTransition: Sendable {
    public let source: Source
    public private(set) var record: SourceRecord
    public let now: Timestamp
    let random: any RandomGenerator
    public private(set) var events: [DraftEvent] = []
    /// Rows to write.
    public private(set) var writes: [StoredItem] = []
    /// Rows of which only measures changed: they alone need no commit.
    public private(set) var refreshes: [StoredItem] = []
    /// Keys of rows to delete.
    public private(set) var deletions: [String] = []
    public private(set) var isNewBaseline = false
    /// Nothing changed but due times, validators and measures, so the record may be written later.
    public private(set) var isDeferrable = false
    /// Why nothing was learned of the source.
    public private(set) var obstacle: String?

    public init(source: Source, record: SourceRecord, now: Timestamp, random: any RandomGenerator) {
        (self.source, self.record, self.now, self.random) = (source, record, now, random)
        self.record.urlDigest = source.urlDigest
    }

    public mutating func failed(_ failure: Failure, detail: String, retryAfter: Duration?) {
        if let event = record.health.pollFailed(failure, detail: detail, fails: source.fails, at: now) {
            events.append(event)
        }
        if let event = record.health.becameStale(every: source.interval.every, at: now) { events.append(event) }
        record.due = now.advanced(
            by: source.interval.delay(failures: record.health.failures, random: random.fraction()))
        wait(retryAfter)
    }

    /// The machine is offline, so the failure is not the source's: nothing is counted. It is polled again at its interval,
    /// since the first answer shows that the network is back.
    public mutating func pollIgnored(_ detail: String) {
        (isDeferrable, obstacle) = (true, detail)
        record.health.pollIgnored(at: now)
        let delay = source.interval.delay(states: [:], freshFor: nil, random: random.fraction())
        record.due = now.advanced(by: max(delay, PollTransition.shortestOfflineDelay))
    }

    /// Shortest delay between two polls of a source while the machine is offline.
    public static let shortestOfflineDelay = Duration.seconds(15)

    /// The bad state counts; it is believed when enough polls in a row agree.
    public mutating func unconfirmed(retryAfter: Duration?) {
        record.health.pollUnconfirmed(at: now)
        record.due = now.advanced(by: source.interval.delay(states: [:], freshFor: nil, random: random.fraction()))
        wait(retryAfter)
    }

    /// No poll was made: time alone makes the source failing or stale.
    public mutating func timePassed() {
        events += record.health.timePassed(
            source.interval, fails: source.fails, notBefore: record.notBefore, at: now)
    }

    /// Adds an event about the machine that this source's poll found.
    public mutating func add(_ event: DraftEvent) {
        events.append(event)
        isDeferrable = false
    }

    /// - Parameter stored: the rows of the snapshot, when absences wait for a second good poll.
    public mutating func unchanged(_ validators: Validators, stored: [String: StoredItem], freshFor: Duration?) {
        guard let snapshot = record.snapshot else { return }
        let absent = stored.values.filter { $0.absentSince != nil }
        let difference = Differ(source: source, now: now).confirm(snapshot, pending: absent, validators: validators)
        read(difference, freshFor: freshFor)
    }

    public mutating func read(_ difference: Difference, freshFor: Duration?, retryAfter: Duration? = nil) {
        let old = record.snapshot
        isDeferrable =
            difference.changesNothing && record.health.failures == 0 && retryAfter == nil
            && old?.identity == difference.head.identity && old?.fingerprints == difference.head.fingerprints
            && old?.emptiness == difference.head.emptiness && old?.pendingAbsences == difference.head.pendingAbsences
            && old?.isWhole == difference.head.isWhole && old?.hasOtherKeys == difference.head.hasOtherKeys
        if let event = record.health.pollSucceeded(at: now) { events.append(event) }
        events += difference.events
        (writes, deletions, isNewBaseline) = (difference.writes, difference.deletions, difference.isNewBaseline)
        refreshes = difference.refreshes
        record.snapshot = difference.head
        record.due = now.advanced(
            by: source.interval.delay(states: difference.head.states, freshFor: freshFor, random: random.fraction()))
        wait(retryAfter)
    }

    private mutating func wait(_ retryAfter: Duration?) {
        record.notBefore = retryAfter.map { now.advanced(by: PollInterval.clamped(retryAfter: $0)) }
    }
}
