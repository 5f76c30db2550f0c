// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// One source and its record in memory. It belongs to the watcher's actor.
final class WatchedSource {
    private(set) var source: Source
    private(set) var origin: String
    /// Its number in the due queue.
    let number: Int
    private(set) var record: SourceRecord
    /// The wall clock's lead over the boot-time clock when the record's times were right.
    private var wallOffset: Int64?
    /// Its poll under way.
    var poll: Poll?
    /// Its health check under way, which occupies it like a poll.
    var healthCheck: Task<Void, Never>?
    /// Callers that wait until its poll has ended.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var isRemoved = false
    /// Its request was changed during its poll, which is made again.
    private var mustRestart = false
    /// Its URL was changed since the start of its poll: a Retry-After of the old one does not hold for the new one.
    private var hasMoved = false
    /// Its record waits in `DeferredWrites`.
    private var hasDeferredWrite = false
    /// Its due time was computed again after an edit, and the journal still has the old one.
    private var hasEditedDue = false
    /// Rows of which only measures changed, to be written with its record.
    private(set) var refreshes: [StoredItem] = []
    var lastResult: OnceResult?
    /// The warnings of the last body that was read.
    var lastWarnings: [String] = []
    /// The answers of its items' links.
    var links = LinkCache()
    /// The request of its last poll.
    var prepared: PreparedRequest?
    /// Its health is not checked before: the journal refused the last change.
    var nextHealthCheck: BootTime?
    /// How often any source was written (`CommitBatcher.successes`) when its last good poll could not be; nil where that was
    /// stored.
    var successesWhenUnstored: Int?
    /// Its last attempt got no response, so it is polled at once when the network is back.
    var isSilent = false
    /// What was done for other sources because of the network while its poll was under way.
    var missedActions = Set<NetworkMonitor.Action>()
    /// How long its last connection lasted that an unreadable record ended; nil for none since one outlasted it.
    var unreadableAge: Duration?
    /// Its poll under way reads a stream, and ends only when that does.
    var isStreaming = false
    /// When its poll under way, or waiting for a slot, was due; nil once that poll has started.
    var startedDue: BootTime?
    /// Somebody asked for its next poll, which its calendar does not delay.
    var isAskedFor = false
    var counters = PollMeter.Counters()
    var durations = PollDurations()

    init(_ source: Source, number: Int) {
        (self.source, self.number) = (source, number)
        origin = WebURL(source.url)?.origin ?? source.url
        record = SourceRecord(name: source.name)
    }

    // MARK: Its configuration

    /// Takes another configuration. A poll that is under way with another request is cancelled.
    func replace(with source: Source) {
        let old = self.source
        self.source = source
        origin = WebURL(source.url)?.origin ?? source.url
        prepared = nil
        guard !source.hasSameRequest(as: old) else { return }
        links = LinkCache()
        mustRestart = isPolled
        if old.url != source.url { hasMoved = true }
        restart()
        cancelPoll()
    }

    /// Notes that it is no longer watched, and cancels its poll.
    func remove() {
        isRemoved = true
        cancelPoll()
    }

    /// Whether the result of its poll under way is dropped: it is no longer watched, or has another request.
    var dropsResult: Bool { isRemoved || mustRestart }

    /// Makes it due at once.
    private func restart() {
        record.due = nil
        if hasMoved { (record.notBefore, record.movedTo) = (nil, nil) }
    }

    // MARK: Its poll

    var isPolled: Bool { poll != nil || healthCheck != nil }

    func cancelPoll() {
        poll?.cancel()
        healthCheck?.cancel()
    }

    /// Notes that its poll is over.
    func pollEnded() {
        (poll, healthCheck) = (nil, nil)
        // The commit of the poll that was cancelled may have brought its record back.
        if mustRestart { restart() }
        (mustRestart, hasMoved, isAskedFor) = (false, false, false)
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Waits until its poll has ended.
    /// - Parameter actor: the one that it belongs to. A closure that does not capture its actor runs on the pool, and so would
    ///   this, beside the poll's end.
    func waitForPoll(on actor: isolated any Actor) async {
        await withCheckedContinuation { if isPolled { waiters.append($0) } else { $0.resume() } }
    }

    // MARK: Its record

    /// - Parameters:
    ///   - now: when the record's times were right.
    ///   - refreshes: rows of which only measures changed, which are still to be written with it.
    func take(_ record: SourceRecord, at now: Moment, refreshes: [StoredItem] = []) {
        (self.record, self.refreshes) = (record, refreshes)
        wallOffset = now.wallOffset
    }

    /// Takes the record of a failed poll whose events the journal refused: they are still to be made.
    func takeUnstored(_ failed: SourceRecord, at now: Moment) {
        var record = failed
        (record.health.isFailing, record.health.isStale) = (self.record.health.isFailing, self.record.health.isStale)
        take(record, at: now, refreshes: refreshes)
    }

    /// Takes a record that an earlier run stored. One whose last poll lies in the future was stored while the wall clock
    /// was ahead: its times are moved back by that, and it is polled at once.
    func restore(_ stored: SourceRecord, at now: Moment) {
        var record = stored
        if let last = record.health.lastPollAt, last > now.wall.advanced(by: WatchedSource.smallestJump) {
            record.wallClockJumped(by: .milliseconds(now.wall.milliseconds - last.milliseconds))
            (record.due, record.health.lastPollAt) = (nil, now.wall)
        }
        // As after a reload: the delays that another URL asked for do not hold for this one.
        if let digest = record.urlDigest, digest != source.urlDigest {
            (record.due, record.notBefore, record.movedTo) = (nil, nil, nil)
        }
        take(record, at: now)
    }

    /// Lets its record wait for `takeDeferredWrite`. Returns whether it did not yet.
    func deferWrite() -> Bool {
        defer { hasDeferredWrite = true }
        return !hasDeferredWrite
    }

    /// Returns whether `status` would show a due time from before an edit, once.
    func takeEditedDue() -> Bool {
        defer { hasEditedDue = false }
        return hasEditedDue
    }

    /// Leaves its record to a commit. Returns whether it waited.
    func cancelDeferredWrite() -> Bool {
        defer { hasDeferredWrite = false }
        return hasDeferredWrite
    }

    /// Returns what is to be written; nil when a commit has written it meanwhile.
    func takeDeferredWrite() -> DeferredWrite? {
        defer { (hasDeferredWrite, refreshes) = (false, []) }
        return hasDeferredWrite && !isRemoved ? DeferredWrite(record, items: refreshes) : nil
    }

    /// Delays its next poll.
    func wait(_ delay: Duration, _ dependencies: Dependencies) {
        let now = dependencies.clock.now()
        followWallClock(now)
        record.due = now.wall.advanced(by: delay)
        record.intervalDigest = source.interval.digest
    }

    func change(_ change: (inout SourceRecord) -> Void) { change(&record) }

    /// Commits that its empty list is true. When the journal refuses that, the list is as doubtful as before.
    func acceptEmptiness(_ commits: CommitBatcher) async throws(JournalError) {
        let before = record.snapshot?.emptiness
        record.snapshot?.emptiness = .accepted
        do throws(JournalError) {
            _ = try await commits.submit(PollRecord(record: record)).committed()
        } catch {
            if record.snapshot?.emptiness == .accepted { record.snapshot?.emptiness = before }
            throw error
        }
    }

    /// Moves the record's wall times when the wall clock was set since they were right, so that nothing is early, late or
    /// old because of it.
    func followWallClock(_ now: Moment) {
        let jump = now.wallOffset.addingClamped(-(wallOffset ?? now.wallOffset))
        guard abs(jump) > WatchedSource.smallestJump.wholeMilliseconds else { return }
        record.wallClockJumped(by: .milliseconds(jump))
        wallOffset = now.wallOffset
    }

    /// A clock that is only being corrected moves less between two polls.
    private static let smallestJump = Duration.seconds(2)

    /// The result of a single poll that Retry-After or backoff forbids; nil when it may be made.
    func held(at now: Timestamp) -> OnceResult? {
        let isUnderRetryAfter = record.notBefore.map { $0 > now } ?? false
        let problem = record.health.problem
        guard isUnderRetryAfter || problem != nil && (record.due ?? now) > now else { return nil }
        return .held(source: source.name, failure: problem?.detail)
    }

    /// When the next poll is due: never later than its interval or the server's Retry-After explain, whatever the wall
    /// clock did since the time was stored.
    func due(now: Moment) -> BootTime {
        followWallClock(now)
        followInterval()
        guard let due = record.due ?? record.notBefore else { return opening(now.boot, now) }
        let stored = max(due, record.notBefore ?? due)
        let hasRetryAfter = record.notBefore.map { $0 > now.wall } ?? false
        let usual = max(source.interval.longestDelay(record.health), PollInterval.shortestOffline)
        let most = hasRetryAfter ? max(usual, PollInterval.longestRetryAfter) : usual
        guard let calendar = source.interval.calendar else { return now.boot(at: stored, most: most) }
        let limit = now.wall.advanced(by: most)
        // A poll that was put off since the journal refused the last one is no missed time of the calendar.
        let last = record.health.lastPollAt.map { max($0, now.wall) }
        let planned = calendar.due(stored: stored, after: last, limit: limit)
        return opening(
            now.boot(at: max(planned, min(record.notBefore ?? planned, limit)), most: WatchedSource.longestDeadline),
            now)
    }

    /// Computes the due time again when the interval was edited since it was stored. The attempts of a stream have intervals
    /// of their own.
    private func followInterval() {
        let digest = source.interval.digest
        guard source.stream == nil, let stored = record.intervalDigest, stored != digest else { return }
        (record.due, record.intervalDigest) = (source.interval.due(edited: record), digest)
        hasEditedDue = true
    }

    /// Returns the first time, not before this one and not in the past, at which its calendar allows a poll.
    private func opening(_ time: BootTime, _ now: Moment) -> BootTime {
        guard let calendar = source.interval.calendar else { return time }
        return now.boot(at: calendar.opening(now.wall(at: time)), most: WatchedSource.longestDeadline)
    }

    /// Whether its calendar allows a poll now, or somebody asked for it.
    func allowsPoll(at now: Timestamp) -> Bool {
        isAskedFor || source.interval.calendar?.allowsPoll(at: now) ?? true
    }

    /// Whether it may be polled between the times of its calendar.
    var isPolledAnyTime: Bool {
        if case .at = source.interval.calendar?.plan { return false }
        return true
    }

    /// The same, or earlier where a rule waits for a poll to confirm something.
    /// - Parameter confirmation: when a rule wants that poll; nil when none does.
    func due(now: Moment, confirmation: BootTime?) -> BootTime {
        let usual = due(now: now)
        guard let confirmation, confirmation < usual else { return usual }
        // A poll at or after that time did not confirm it: the next one comes at the usual interval.
        if let last = record.health.lastPollAt, last >= now.wall(at: confirmation) { return usual }
        let due = opening(max(confirmation, now.boot), now)
        guard due < usual else { return usual }
        // Retry-After takes precedence.
        if let notBefore = record.notBefore, notBefore > now.wall(at: due) { return usual }
        return due
    }

    /// A poll within this time of a health deadline decides in its place.
    private static let soon = Duration.seconds(30)
    /// Bounds a health deadline: ten times the longest interval is less.
    private static let longestDeadline = Duration.seconds(100 * 366 * 86_400)

    /// When it becomes failing or stale although no poll shows it; nil when it does not, or when a poll decides.
    /// - Parameter nextPoll: when it is polled next.
    func healthDeadline(now: Moment, nextPoll: BootTime) -> BootTime? {
        followWallClock(now)
        let health = record.health
        guard let at = health.deadline(source.interval, fails: source.fails, notBefore: record.notBefore) else {
            return nil
        }
        let deadline = max(now.boot(at: at, most: WatchedSource.longestDeadline), nextHealthCheck ?? now.boot)
        return nextPoll <= deadline.advanced(by: WatchedSource.soon) ? nil : deadline
    }
}
