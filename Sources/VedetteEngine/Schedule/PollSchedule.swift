// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The watched sources, and when each is polled next.
struct PollSchedule {
    /// What became due while the machine slept is polled once, spread over this long at most.
    static let catchUp = Duration.seconds(30)
    /// When two hosts fell silent, the others are polled within this time: before the polls of those two become failures.
    static let referenceDelay = Duration.seconds(2)

    private let interests: RuleInterests
    private let random: any RandomGenerator
    private(set) var byName: [String: WatchedSource] = [:]
    private var byNumber: [WatchedSource] = []
    /// Numbers of removed sources, to be given out again.
    private var freeNumbers: [Int] = []
    private var dueQueue = DueQueue()
    /// When failing sources become failing or stale without a poll. A time may be too early, and is checked when it comes.
    private var healthDeadlines = DueQueue()

    init(_ sources: [Source], _ interests: RuleInterests, _ random: any RandomGenerator) {
        (self.interests, self.random) = (interests, random)
        for source in sources { _ = add(source) }
    }

    // MARK: Sources

    subscript(name: String) -> WatchedSource? { byName[name] }

    /// Every watched source.
    var all: [WatchedSource] { byNumber.filter { !$0.isRemoved } }

    /// Adds a source; it is not scheduled yet.
    mutating func add(_ source: Source) -> WatchedSource {
        let watched = WatchedSource(source, number: freeNumbers.popLast() ?? byNumber.count)
        if watched.number == byNumber.count { byNumber.append(watched) } else { byNumber[watched.number] = watched }
        byName[source.name] = watched
        return watched
    }

    /// Removes a source and cancels its poll; its number is free when that has ended.
    mutating func remove(_ source: WatchedSource) {
        source.isRemoved = true
        source.poll?.cancel()
        byName[source.source.name] = nil
        dueQueue.remove(source.number)
        healthDeadlines.remove(source.number)
        if source.poll == nil { freeNumbers.append(source.number) }
    }

    /// Takes another configuration of a source. A poll that is under way with another request is cancelled.
    mutating func replace(_ watched: WatchedSource, with source: Source, now: Moment) {
        let old = watched.source
        watched.replace(with: source)
        defer { scheduleHealthCheck(watched, now: now) }
        if !source.hasSameRequest(as: old) {
            watched.mustRestart = watched.poll != nil
            if old.url != source.url { watched.hasMoved = true }
            watched.restart()
            watched.poll?.cancel()
        } else if old.interval == source.interval {
            return
        }
        if dueQueue.due(of: watched.number) != nil { scheduleFirst(watched, now: now) }
    }

    /// Takes another set of sources; those that are not in it are removed.
    /// - Parameter stored: the records of an earlier run, for new sources.
    mutating func reload(_ sources: [Source], stored: [String: SourceRecord], now: Moment) {
        let names = Set(sources.map(\.name))
        for source in all where !names.contains(source.source.name) { remove(source) }
        for source in sources {
            if let known = self[source.name] {
                replace(known, with: source, now: now)
            } else {
                let added = add(source)
                if let record = stored[source.name] { added.restore(record, at: now) }
                scheduleFirst(added, now: now)
            }
        }
    }

    // MARK: Times

    /// The earliest due time of a source that is not being polled.
    var next: BootTime? { dueQueue.next }
    /// The earliest time at which the health of a source may change without a poll.
    var nextHealthCheck: BootTime? { healthDeadlines.next }

    func due(_ source: WatchedSource, now: Moment) -> BootTime {
        source.due(now: now, confirmation: interests.confirmation(of: source.source.name))
    }

    mutating func schedule(_ source: WatchedSource, at due: BootTime) { dueQueue.schedule(source.number, at: due) }

    /// Schedules after a start: stored deadlines hold, clamped; overdue sources are polled soon, spread a little.
    mutating func scheduleFirst(_ source: WatchedSource, now: Moment) {
        defer { scheduleHealthCheck(source, now: now) }
        let due = due(source, now: now)
        guard source.record.due != nil, due == now.boot else { return schedule(source, at: due) }
        let spread = min(source.source.interval.every * 0.1, .seconds(5))
        schedule(source, at: due.advanced(by: spread * random.fraction()))
    }

    /// Schedules after a poll, or frees the number of a source that was removed meanwhile.
    mutating func pollEnded(_ source: WatchedSource, now: Moment) {
        source.poll = nil
        guard !source.isRemoved else { return freeNumbers.append(source.number) }
        // The commit of the poll that was cancelled may have brought its record back.
        if source.mustRestart { source.restart() }
        (source.mustRestart, source.hasMoved) = (false, false)
        schedule(source, at: due(source, now: now))
        scheduleHealthCheck(source, now: now)
    }

    private mutating func scheduleHealthCheck(_ source: WatchedSource, now: Moment) {
        let nextPoll = dueQueue.due(of: source.number)
        if let nextPoll, let deadline = source.healthDeadline(now: now, nextPoll: nextPoll) {
            healthDeadlines.schedule(source.number, at: deadline)
        } else {
            healthDeadlines.remove(source.number)
        }
    }

    /// Takes a source that becomes failing or stale now. It is not due until `pollEnded`.
    mutating func startNextHealthCheck(at now: Moment) -> WatchedSource? {
        while let number = healthDeadlines.startNext(at: now.boot) {
            let source = byNumber[number]
            scheduleHealthCheck(source, now: now)
            guard let deadline = healthDeadlines.due(of: number), deadline <= now.boot else { continue }
            healthDeadlines.remove(number)
            dueQueue.remove(number)
            return source
        }
        return nil
    }

    /// Takes the source that has been due longest.
    mutating func startNext(at now: BootTime) -> WatchedSource? {
        let due = dueQueue.next
        guard let source = dueQueue.startNext(at: now).map({ byNumber[$0] }) else { return nil }
        source.startedDue = due
        return source
    }

    // MARK: Early polls

    /// Moves polls forward that new rules wait for.
    mutating func advanceForRules(now: Moment) {
        for source in interests.sources.compactMap({ byName[$0] }) {
            let due = due(source, now: now)
            if let scheduled = dueQueue.due(of: source.number), due < scheduled { schedule(source, at: due) }
        }
    }

    /// Polls what became due while the machine slept.
    mutating func catchUp(at now: BootTime) {
        pollSoon(within: PollSchedule.catchUp, at: now) { [dueQueue] source in
            dueQueue.due(of: source.number).map { $0 <= now } ?? false
        }
    }

    /// Schedules early polls that show whether the network is up.
    mutating func advance(for action: NetworkMonitor.Action, _ network: NetworkMonitor, at now: Moment) {
        switch action {
        case .pollSilentSources: pollSoon(within: PollSchedule.catchUp, at: now.boot, \.isSilent)
        case .pollReferenceHosts:
            // The poll of a long interval may be the only one that knows; Retry-After still takes precedence.
            pollSoon(within: PollSchedule.referenceDelay, at: now.boot) { source in
                network.isAwaited(source.origin) && source.record.notBefore.map { $0 <= now.wall } ?? true
            }
        }
    }

    /// Polls each of these once, spread so that they do not all come at once.
    private mutating func pollSoon(
        within longest: Duration, at now: BootTime, _ isIncluded: (WatchedSource) -> Bool
    ) {
        for source in all where dueQueue.due(of: source.number) != nil && isIncluded(source) {
            let spread = min(source.source.interval.every, longest) * random.fraction()
            schedule(source, at: now.advanced(by: spread))
        }
    }
}
