// SPDX-License-Identifier: Apache-2.0

/// When a source was polled last and will be polled next. A watcher stores the time of a poll that changed nothing up to
/// five seconds late, so that the stored times of a source with a short interval are old: its present times follow from
/// its interval.
public struct PollTimes: Sendable, Hashable {
    /// Stored times that are older than this belong to a poll that takes long, not to a late write.
    private static let longestDelay = Duration.seconds(15)

    /// The last poll; nil before the first.
    public var last: Timestamp?
    /// The last good poll; nil before the first.
    public var lastGood: Timestamp?
    /// The next poll, in the past when it is due or under way; nil before the first, and where no watcher runs.
    public var next: Timestamp?
    /// Whether it is the server's Retry-After that delays the next poll.
    public var isDelayedByServer = false
    /// Whether its server pushes over an open connection, so that there is no next poll.
    public var isPushed = false

    /// Reads the times of a source. One that waits for its first window has no record yet; one whose windows have all ended
    /// has no next poll.
    public init(_ source: SourceStatus, isWatching: Bool, now: Timestamp) {
        self.init(source.record, isWatching: isWatching, now: now)
        guard isWatching, let opening = source.calendar.map({ $0.knownOpening(now) }) else { return }
        if let opening {
            if opening > now { next = max(next ?? opening, opening) }
        } else {
            next = nil
        }
    }

    /// Reads the times of a record; nil for a source that was never polled.
    public init(_ record: SourceRecord?, isWatching: Bool, now: Timestamp) {
        guard let record else { return }
        (last, lastGood) = (record.health.lastPollAt, record.snapshot?.goodAt)
        guard isWatching else { return }
        isPushed = record.connection == .open
        next = [record.due, record.notBefore].compactMap { $0 }.max()
        isDelayedByServer = record.notBefore.map { $0 > now && $0 > record.due ?? now } ?? false
        guard record.health.failures == 0, let last, let next, next <= now, last < next else { return }
        let (interval, late) = (next.milliseconds - last.milliseconds, now.milliseconds - next.milliseconds)
        let limit = PollTimes.longestDelay.wholeMilliseconds
        guard interval <= limit, late <= limit else { return }
        let polled = next.milliseconds + late / interval * interval
        // A poll that fails is stored at once, so that the polls since a good one were good, too.
        if let good = lastGood, good >= last { lastGood = Timestamp(milliseconds: polled) }
        (self.last, self.next) = (Timestamp(milliseconds: polled), Timestamp(milliseconds: polled + interval))
    }
}
