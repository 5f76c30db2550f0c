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
    /// The rows among them that time alone brought into a list, for rules about existing items.
    public private(set) var entered: [StoredItem] = []
    /// The rows among them that are read with other options or by another version, for what rules remember of them.
    public private(set) var reread: [StoredItem] = []
    /// Rows of which only measures changed, in this poll or in earlier ones that are not written yet: they alone need no
    /// commit.
    public private(set) var refreshes: [StoredItem]
    /// Keys of rows to delete.
    public private(set) var deletions: [String] = []
    public private(set) var isNewBaseline = false
    /// Nothing changed but due times, validators and measures, so the record may be written later.
    public private(set) var isDeferrable = false
    /// Why nothing was learned of the source.
    public private(set) var obstacle: String?
    /// How a source with a stream is read from now on.
    private let connection: SourceRecord.Connection?
    /// The interval from which the delay of the next attempt is computed.
    private let interval: PollInterval

    /// - Parameters:
    ///   - refreshes: rows that earlier polls refreshed and that are not written yet.
    ///   - connection: how a source with a stream is read from now on. An open one has no due time.
    ///   - reconnect: the time before a closed stream is opened again; nil takes the interval of polls.
    public init(
        source: Source, record: SourceRecord, refreshes: [StoredItem] = [], now: Timestamp,
        random: any RandomGenerator, connection: SourceRecord.Connection? = nil, reconnect: Duration? = nil
    ) {
        (self.source, self.record, self.now, self.random) = (source, record, now, random)
        self.refreshes = refreshes
        self.record.urlDigest = source.urlDigest
        (self.connection, interval) = (connection, reconnect.map { PollInterval(every: $0) } ?? source.interval)
    }

    /// - Parameter isUnreadable: the server sent something that cannot be read.
    public mutating func failed(
        _ failure: Failure, detail: String, isUnreadable: Bool = false, retryAfter: Duration?
    ) {
        if let event = record.health.pollFailed(
            failure, detail: detail, isUnreadable: isUnreadable, fails: source.fails, at: now)
        {
            events.append(event)
        }
        if let event = record.health.becameStale(source.interval, at: now) { events.append(event) }
        let delay = interval.delay(failures: record.health.failures, random: random.fraction())
        schedule(after: failure == .gone ? max(delay, PollInterval.ofGone) : delay)
        wait(retryAfter)
    }

    /// The machine is offline, so the failure is not the source's: nothing is counted. It is polled again at its interval,
    /// since the first answer shows that the network is back.
    public mutating func pollIgnored(_ detail: String) {
        (isDeferrable, obstacle) = (true, detail)
        record.health.pollIgnored(at: now)
        let delay = source.interval.delay(states: [:], freshFor: nil, random: random.fraction())
        schedule(after: max(delay, PollInterval.shortestOffline))
    }

    /// The bad state counts; it is believed when enough polls in a row agree.
    public mutating func unconfirmed(retryAfter: Duration?) {
        record.health.pollUnconfirmed(at: now)
        schedule(after: source.interval.delay(states: [:], freshFor: nil, random: random.fraction()))
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
    public mutating func unchanged(
        _ validators: Validators, stored: [String: StoredItem], freshFor: Duration?, evidence: PollEvidence = .content
    ) {
        guard let snapshot = record.snapshot else { return }
        let absent = stored.values.filter { $0.absentSince != nil }
        let difference = Differ(source: source, now: now).confirm(snapshot, pending: absent, validators: validators)
        read(difference, freshFor: freshFor, evidence: evidence)
    }

    public mutating func read(
        _ difference: Difference, freshFor: Duration?, retryAfter: Duration? = nil, evidence: PollEvidence = .content
    ) {
        let old = record.snapshot
        isDeferrable =
            difference.changesNothing && record.health.failures == 0 && retryAfter == nil
            && old?.identity == difference.head.identity && old?.fingerprints == difference.head.fingerprints
            && old?.emptiness == difference.head.emptiness && old?.pendingAbsences == difference.head.pendingAbsences
            && old?.isWhole == difference.head.isWhole && old?.hasOtherKeys == difference.head.hasOtherKeys
            && old?.resume == difference.head.resume
        if let event = record.health.pollSucceeded(evidence, at: now) { events.append(event) }
        events += difference.events
        (writes, deletions, isNewBaseline) = (difference.writes, difference.deletions, difference.isNewBaseline)
        refresh(difference)
        entered = difference.entered.isEmpty ? [] : writes.filter { difference.entered.contains($0.key) }
        reread = difference.reread.isEmpty ? [] : writes.filter { difference.reread.contains($0.key) }
        record.snapshot = difference.head
        schedule(
            after: record.health.failures > 0
                ? interval.delay(failures: record.health.failures, random: random.fraction())
                : interval.delay(states: difference.head.states, freshFor: freshFor, random: random.fraction()),
            isOpen: record.health.failures > 0 || interval.isOpen(after: difference.head))
        wait(retryAfter)
    }

    /// Writes rows of earlier polls with this poll's rows, unless it changes them, too.
    private mutating func refresh(_ difference: Difference) {
        guard !refreshes.isEmpty, !difference.isNewBaseline else { return refreshes = difference.refreshes }
        let changed = Set((difference.writes + difference.refreshes).map(\.key) + difference.deletions)
        refreshes.removeAll { changed.contains($0.key) }
        refreshes += difference.refreshes
    }

    /// A connection is open.
    /// - Parameter evidence: what it proves by now.
    public mutating func opened(_ evidence: PollEvidence) {
        let failures = record.health.failures
        if let event = record.health.pollSucceeded(evidence, at: now) { events.append(event) }
        if let event = record.health.becameStale(source.interval, at: now) { events.append(event) }
        isDeferrable = events.isEmpty && record.health.failures == failures
        schedule(after: interval.delay(states: [:], freshFor: nil, random: random.fraction()))
        record.notBefore = nil
    }

    /// The server no longer has what followed the resume id, so the next connection starts without one.
    /// - Parameter isListed: whether that connection lists everything; else records may be missing.
    public mutating func resumeExpired(isListed: Bool) {
        record.snapshot?.resume = nil
        schedule(after: interval.delay(states: [:], freshFor: nil, random: random.fraction()))
        guard !isListed else { return }
        let detail = "the server no longer has what followed the last record, so records may be missing"
        events.append(DraftEvent(.suspect, error: .init(failure: Failure.pageGap.rawValue, detail: detail)))
    }

    /// Notes where permanent redirects of a good response led.
    /// - Parameter address: nil when the server redirects no more.
    public mutating func moved(to address: String?) { record.movedTo = address }

    /// An open connection has no due time.
    /// - Parameter isOpen: whether the poll left open what another one decides.
    private mutating func schedule(after delay: Duration, isOpen: Bool = true) {
        record.connection = connection
        let usual = now.advanced(by: delay)
        let due =
            interval.calendar.map { calendar in
                calendar.due(usual, after: now, isOpen: isOpen, spread: delay * 0.1 * random.fraction())
            } ?? usual
        record.due = connection == .open ? nil : due
        record.intervalDigest = source.interval.digest
    }

    private mutating func wait(_ retryAfter: Duration?) {
        record.notBefore = PollInterval.notBefore(retryAfter, at: now)
        guard let calendar = interval.calendar, let due = record.due, let notBefore = record.notBefore, due < notBefore
        else { return }
        record.due = calendar.opening(notBefore)
    }
}
