// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What a poll's result makes of the source's record: pure, so that the shell only commits it.
struct PollTransition {
    let source: Source
    private(set) var record: SourceRecord
    let now: Timestamp
    let random: any RandomGenerator
    private(set) var events: [DraftEvent] = []
    private(set) var writes: [StoredItem] = []
    /// Not worth a commit.
    private(set) var refreshes: [StoredItem] = []
    private(set) var deletions: [String] = []
    private(set) var isNewBaseline = false
    /// Nothing but due times, validators and measures changed.
    private(set) var isTouch = false
    /// Why nothing was learned.
    private var obstacle: String?

    init(source: Source, record: SourceRecord, now: Timestamp, random: any RandomGenerator) {
        (self.source, self.record, self.now, self.random) = (source, record, now, random)
    }

    mutating func failed(_ failure: Failure, detail: String, retryAfter: Duration?) {
        if let event = record.health.pollFailed(failure, detail: detail, fails: source.fails, at: now) {
            events.append(event)
        }
        if let event = record.health.grewOld(every: source.pace.every, at: now) { events.append(event) }
        record.due = now.advanced(
            by: source.pace.delay(failures: record.health.failures, random: random.fraction()))
        record.notBefore = retryAfter.map { now.advanced(by: PollInterval.clamped(retryAfter: $0)) }
    }

    /// The machine is offline: nothing is learned of the source, so nothing is counted, and it is asked at its usual
    /// pace, not too often, for the first answer says that the network is back.
    mutating func frozen(_ detail: String) {
        (isTouch, obstacle) = (true, detail)
        record.health.wasPolled(at: now)
        let delay = source.pace.delay(states: [:], freshFor: nil, random: random.fraction())
        record.due = now.advanced(by: max(delay, PollTransition.offlinePace))
    }

    static let offlinePace = Duration.seconds(15)

    /// Counted, for it is believed when enough polls agree; it is asked again at its usual pace.
    mutating func doubtful(retryAfter: Duration?) {
        record.health.doubted(at: now)
        record.notBefore = retryAfter.map { now.advanced(by: PollInterval.clamped(retryAfter: $0)) }
        record.due = now.advanced(by: source.pace.delay(states: [:], freshFor: nil, random: random.fraction()))
    }

    /// About the machine, found by this source's poll.
    mutating func add(_ event: DraftEvent) {
        events.append(event)
        isTouch = false
    }

    mutating func unchanged(_ validators: Validators, stored: [String: StoredItem], freshFor: Duration?) {
        guard let head = record.snapshot else { return }
        let pending = stored.values.filter { $0.absentSince != nil }
        let difference = Differ(source: source, now: now).confirm(
            head, pending: pending, validators: validators)
        read(difference, freshFor: freshFor)
    }

    mutating func read(_ difference: Difference, freshFor: Duration?, retryAfter: Duration? = nil) {
        let old = record.snapshot
        isTouch =
            difference.changesNothing && record.health.failures == 0 && retryAfter == nil
            && old?.identity == difference.head.identity && old?.fingerprints == difference.head.fingerprints
            && old?.emptiness == difference.head.emptiness && old?.pendingAbsences == difference.head.pendingAbsences
            && old?.isWhole == difference.head.isWhole && old?.hasOtherKeys == difference.head.hasOtherKeys
        if let event = record.health.pollSucceeded(at: now) { events.append(event) }
        events += difference.events
        (writes, deletions, isNewBaseline) = (difference.writes, difference.deletions, difference.isNewBaseline)
        refreshes = difference.refreshes
        record.snapshot = difference.head
        record.notBefore = retryAfter.map { now.advanced(by: PollInterval.clamped(retryAfter: $0)) }
        record.due = now.advanced(
            by: source.pace.delay(states: difference.head.states, freshFor: freshFor, random: random.fraction()))
    }

    /// What `run --once` says of it.
    func onceResult(isBaseline: Bool) -> OnceResult {
        if let obstacle { return .failed(source: source.name, detail: obstacle) }
        if let problem = record.health.problem { return .failed(source: source.name, detail: problem.detail) }
        return .good(items: record.snapshot?.count ?? 0, isBaseline: isBaseline, events: events.count)
    }
}
