// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The watched sources, and when and in which lane each is polled next.
struct PollSchedule {
    /// A poll under way. It occupies a slot until `ended`.
    struct Start {
        let source: WatchedSource
        let lane: Lane
        /// The source's origin now, which a reload may change.
        let origin: String
        /// Why a source with a stream is polled; nil for any other poll.
        var polled: String?
        /// Whether this only checks the health. It occupies the source like a poll, so that no poll changes the record
        /// meanwhile.
        var isHealthCheck = false
    }

    /// What became due while the machine slept is polled once, spread over this long at most.
    static let catchUp = Duration.seconds(30)
    /// When two hosts fell silent, the others are polled within this time: before the polls of those two become failures.
    static let referenceDelay = Duration.seconds(2)

    private let interests: RuleInterests
    private let network: NetworkMonitor
    private let random: any RandomGenerator
    private var slots = PollSlots()
    private(set) var byName: [String: WatchedSource] = [:]
    private var byNumber: [WatchedSource] = []
    /// Numbers of removed sources, to be given out again.
    private var freeNumbers: [Int] = []
    private var dueQueue = DueQueue()
    /// When failing sources become failing or stale without a poll. A time may be too early, and is checked when it comes.
    private var healthDeadlines = DueQueue()

    init(
        _ sources: [Source], _ interests: RuleInterests, _ network: NetworkMonitor, _ random: any RandomGenerator
    ) {
        (self.interests, self.network, self.random) = (interests, network, random)
        for source in sources { _ = add(source) }
    }

    // MARK: Sources

    subscript(name: String) -> WatchedSource? { byName[name] }

    /// Every watched source.
    var all: [WatchedSource] { byNumber.filter { !$0.isRemoved } }

    /// Adds a source; it is not scheduled yet.
    private mutating func add(_ source: Source) -> WatchedSource {
        let watched = WatchedSource(source, number: freeNumbers.popLast() ?? byNumber.count)
        if watched.number == byNumber.count { byNumber.append(watched) } else { byNumber[watched.number] = watched }
        byName[source.name] = watched
        return watched
    }

    /// Removes a source and cancels its poll; its number is free when that has ended.
    private mutating func remove(_ source: WatchedSource) {
        source.remove()
        byName[source.source.name] = nil
        dueQueue.remove(source.number)
        healthDeadlines.remove(source.number)
        if !source.isPolled { freeNumbers.append(source.number) }
    }

    /// Takes another configuration of a source.
    private mutating func replace(_ watched: WatchedSource, with source: Source, now: Moment) {
        let old = watched.source
        watched.replace(with: source)
        defer { scheduleHealthCheck(watched, now: now) }
        if source.hasSameRequest(as: old), old.interval == source.interval { return }
        if dueQueue.due(of: watched.number) != nil { scheduleFirst(watched, now: now) }
    }

    /// Takes another set of sources; those that are not in it are removed.
    /// - Parameter stored: the records of an earlier run, for new sources.
    mutating func reload(_ sources: [Source], stored: [String: SourceRecord], now: Moment) {
        // Each may have another host now, which need not be slow.
        for source in all where slots.stopWaiting(source) { schedule(source, at: now.boot) }
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
        network.watch(all)
    }

    /// The earlier ones of these sources that were removed while they were polled, and still are.
    func removed(_ sources: [Source]) -> [WatchedSource] {
        let names = Set(sources.map(\.name))
        return byNumber.filter { $0.isRemoved && $0.isPolled && names.contains($0.source.name) }
    }

    /// Takes the records of an earlier run. `scheduleAll` must follow.
    func restore(_ records: [SourceRecord], at now: Moment) {
        for record in records {
            guard let source = self[record.name] else { continue }
            source.restore(record, at: now)
            network.restore(record, origin: source.origin)
        }
        network.watch(all)
    }

    // MARK: Times

    /// The earliest due time of a source that is not being polled and does not wait for a slot.
    var nextPoll: BootTime? { dueQueue.next }

    /// When a poll may start next; nil while every slot is taken, since the end of a poll starts the next one then.
    var nextStart: BootTime? {
        guard slots.hasFree else { return nil }
        return PollSchedule.earlier(nextPoll, network.isOffline ? nil : healthDeadlines.next)
    }

    /// Returns the earlier of two times. Each poll asks for it as it ends, so it builds no array.
    static func earlier(_ a: BootTime?, _ b: BootTime?) -> BootTime? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }

    func due(_ source: WatchedSource, now: Moment) -> BootTime {
        source.due(now: now, confirmation: interests.confirmation(of: source.source.name))
    }

    mutating func schedule(_ source: WatchedSource, at due: BootTime) { dueQueue.schedule(source.number, at: due) }

    mutating func scheduleAll(now: Moment) { for source in all { scheduleFirst(source, now: now) } }

    /// Schedules after a start: stored deadlines hold, clamped; overdue sources are polled soon, spread a little.
    private mutating func scheduleFirst(_ source: WatchedSource, now: Moment) {
        defer { scheduleHealthCheck(source, now: now) }
        let due = due(source, now: now)
        guard source.record.due != nil, due == now.boot else { return schedule(source, at: due) }
        let spread = min(source.source.interval.every * 0.1, .seconds(5))
        schedule(source, at: due.advanced(by: spread * random.fraction()))
    }

    /// Makes a source due now, unless a poll of it is under way.
    /// - Returns: whether it is due.
    mutating func makeDue(_ source: WatchedSource, at now: BootTime) -> Bool {
        guard !source.isRemoved, !source.isPolled else { return false }
        slots.stopWaiting(source)
        source.isAskedFor = true
        schedule(source, at: now)
        return true
    }

    /// Schedules after a poll, or frees the number of a source that was removed meanwhile.
    private mutating func scheduleNext(_ source: WatchedSource, now: Moment) {
        source.pollEnded()
        guard !source.isRemoved else { return freeNumbers.append(source.number) }
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

    // MARK: Starts and ends of polls

    /// Whether no poll is under way.
    var isIdle: Bool { slots.isIdle }
    /// True when only open streams are polled, or nothing is.
    var hasOnlyStreams: Bool { slots.hasOnlyStreams }

    func lane(of source: WatchedSource) -> Lane { network.isSlow(source.origin) ? .slowHosts : .polls }

    /// Starts the poll that has been due longest, else a health check; nil when nothing is due that has a slot.
    mutating func startNext(at now: Moment) -> Start? {
        while slots.hasFree, let source = takeDue(at: now) {
            let obstacle = source.source.stream.flatMap { _ in slots.obstacleToStream(of: source.origin) }
            if source.source.stream != nil, obstacle == nil { return start(source, in: .streams) }
            guard network.isSlow(source.origin), !slots.hasFreeSlow else {
                return start(source, in: lane(of: source), polled: obstacle)
            }
            slots.wait(source)
        }
        // Without a network nothing is known of a source.
        guard !network.isOffline, slots.hasFree, let source = takeHealthCheck(at: now) else { return nil }
        return start(source, in: .polls, isHealthCheck: true)
    }

    /// Starts a poll that was due while every slot of slow hosts was taken, as soon as one is free. A source whose origin
    /// answers again goes back to the schedule.
    mutating func startNextWaiting(at now: BootTime) -> Start? {
        while let source = slots.nextWaiting(isSlow: { [network] in network.isSlow($0.origin) }) {
            if network.isSlow(source.origin) { return start(source, in: .slowHosts) }
            schedule(source, at: now)
        }
        return nil
    }

    /// Starts a poll of a source that need not be due.
    mutating func startNow(_ source: WatchedSource) -> Start {
        dueQueue.remove(source.number)
        return start(source, in: lane(of: source))
    }

    private mutating func start(
        _ source: WatchedSource, in lane: Lane, polled: String? = nil, isHealthCheck: Bool = false
    ) -> Start {
        precondition(!source.isPolled, "a source is polled once at a time")
        slots.take(lane, of: source.origin)
        source.isStreaming = lane == .streams
        return Start(
            source: source, lane: lane, origin: source.origin, polled: polled, isHealthCheck: isHealthCheck)
    }

    /// Frees the slot of a poll, and schedules the source's next one and the early polls that its answer, or the lack of one,
    /// makes necessary.
    mutating func ended(_ start: Start, at now: Moment) {
        slots.release(start.lane, of: start.origin)
        let source = start.source
        source.isStreaming = false
        scheduleNext(source, now: now)
        let missed = source.missedActions
        source.missedActions = []
        if !source.isRemoved { for action in missed { advance(source, for: action, at: now) } }
        for action in network.takeActions() { advance(for: action, at: now) }
    }

    /// Takes a source that becomes failing or stale now. It is not due until `ended`.
    private mutating func takeHealthCheck(at now: Moment) -> WatchedSource? {
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
    private mutating func takeDue(at now: Moment) -> WatchedSource? {
        while let due = dueQueue.next, let source = dueQueue.startNext(at: now.boot).map({ byNumber[$0] }) {
            guard source.allowsPoll(at: now.wall) else {
                // It became due in a window that ended while the machine slept, or was early.
                schedule(source, at: self.due(source, now: now))
                continue
            }
            source.startedDue = due
            return source
        }
        return nil
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
    mutating func catchUp(at now: Moment) {
        for source in all {
            guard let due = dueQueue.due(of: source.number), due <= now.boot else { continue }
            pollSoon(source, within: PollSchedule.catchUp, at: now)
        }
    }

    /// Schedules early polls that show whether the network is up. A source whose poll is under way has its turn when that ends:
    /// the poll may have met the silence before, or the answer, and the next one be an hour away.
    private mutating func advance(for action: NetworkMonitor.Action, at now: Moment) {
        for source in all {
            if dueQueue.due(of: source.number) != nil {
                advance(source, for: action, at: now)
            } else {
                source.missedActions.insert(action)
            }
        }
    }

    private mutating func advance(_ source: WatchedSource, for action: NetworkMonitor.Action, at now: Moment) {
        switch action {
        case .pollSilentSources:
            if source.isSilent { pollSoon(source, within: PollSchedule.catchUp, at: now) }
        case .pollReferenceHosts:
            // The poll of a long interval may be the only one that knows; Retry-After still takes precedence.
            guard source.isPolledAnyTime, network.isAwaited(source.origin),
                source.record.notBefore.map({ $0 <= now.wall }) ?? true
            else { return }
            pollSoon(source, within: PollSchedule.referenceDelay, at: now)
        }
    }

    /// Polls a source that is scheduled, at a random time, so that many do not all come at once.
    private mutating func pollSoon(_ source: WatchedSource, within longest: Duration, at now: Moment) {
        guard source.allowsPoll(at: now.wall) else { return }
        let spread = min(source.source.interval.every, longest) * random.fraction()
        schedule(source, at: now.boot.advanced(by: spread))
    }
}
