// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import VedetteCore

/// Passes every call on to a journal, and announces when it cannot be written: what cannot be stored cannot be sent
/// through the journal either, so that a person would never learn of it.
public final class MonitoredJournal: Journal {
    /// What is announced past the journal.
    public let announcements: AsyncStream<JournalAlarm.Announcement>

    private let journal: any Journal
    private let clock: any Clock
    private let continuation: AsyncStream<JournalAlarm.Announcement>.Continuation
    private let alarm = Mutex(JournalAlarm())

    public init(_ journal: any Journal, clock: any Clock) {
        (self.journal, self.clock) = (journal, clock)
        (announcements, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(8))
    }

    /// Announces a problem again that lasts, when an hour has passed.
    public func remind() {
        let now = clock.now().boot
        announce(alarm.withLock { $0.reminder(at: now) })
    }

    private func announce(_ announcement: JournalAlarm.Announcement?) {
        if let announcement { continuation.yield(announcement) }
    }

    /// Notes a problem that no call has returned yet, for example while a write still waits for its server.
    public func failed(_ error: JournalError) {
        let now = clock.now().boot
        announce(alarm.withLock { $0.failed(error, at: now) })
    }

    private func write<T: Sendable>(_ call: () async throws(JournalError) -> T) async throws(JournalError) -> T {
        let result = try await read(call)
        let now = clock.now().boot
        announce(alarm.withLock { $0.succeeded(at: now) })
        return result
    }

    private func read<T: Sendable>(_ call: () async throws(JournalError) -> T) async throws(JournalError) -> T {
        do throws(JournalError) {
            return try await call()
        } catch {
            failed(error)
            throw error
        }
    }

    // MARK: Journal

    public var shares: (any JournalShares)? { journal.shares }

    public func sourceRecords() async throws(JournalError) -> [SourceRecord] {
        try await read { () async throws(JournalError) in try await journal.sourceRecords() }
    }

    public func stoppedSinks() async throws(JournalError) -> [StoppedSink] {
        try await read { () async throws(JournalError) in try await journal.stoppedSinks() }
    }

    public func lateness() async throws(JournalError) -> [String: PollLateness.Report] {
        try await read { () async throws(JournalError) in try await journal.lateness() }
    }

    public func items(of source: String) async throws(JournalError) -> [String: StoredItem] {
        try await read { () async throws(JournalError) in try await journal.items(of: source) }
    }

    public func items(
        of source: String, withKeys keys: Set<String>
    ) async throws(JournalError) -> [String: StoredItem] {
        try await read { () async throws(JournalError) in try await journal.items(of: source, withKeys: keys) }
    }

    public func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) async throws(JournalError) -> Event? {
        try await read { () async throws(JournalError) in try await journal.lastOfWatcher(kind, or: other) }
    }

    public func ruleMemories() async throws(JournalError) -> [RuleMemory] {
        try await read { () async throws(JournalError) in try await journal.ruleMemories() }
    }

    public func silences() async throws(JournalError) -> [Silence] {
        try await read { () async throws(JournalError) in try await journal.silences() }
    }

    public func commit(
        _ polls: [PollRecord], within limits: EvictionLimits
    ) async throws(JournalError) -> CommitResult {
        try await write { () async throws(JournalError) in try await journal.commit(polls, within: limits) }
    }

    public func write(deferred writes: [DeferredWrite]) async throws(JournalError) {
        try await write { () async throws(JournalError) in try await journal.write(deferred: writes) }
    }

    public func pendingLanes() async throws(JournalError) -> [DeliveryLane] {
        try await read { () async throws(JournalError) in try await journal.pendingLanes() }
    }

    public func pending(
        in lane: DeliveryLane, after: Int64, limit: Int
    ) async throws(JournalError) -> [Delivery] {
        try await read { () async throws(JournalError) in
            try await journal.pending(in: lane, after: after, limit: limit)
        }
    }

    public func sent(before delivery: Delivery, limit: Int) async throws(JournalError) -> [Delivery] {
        try await read { () async throws(JournalError) in try await journal.sent(before: delivery, limit: limit) }
    }

    public func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await read { () async throws(JournalError) in
            try await journal.messages(of: rule, to: sink, about: subject, before: before, limit: limit)
        }
    }

    @discardableResult
    public func record(
        _ attempts: [Attempt], within limits: EvictionLimits
    ) async throws(JournalError) -> RecordResult {
        try await write { () async throws(JournalError) in try await journal.record(attempts, within: limits) }
    }

    public func excludeFromAge(_ pause: Duration) async throws(JournalError) {
        try await write { () async throws(JournalError) in try await journal.excludeFromAge(pause) }
    }

    public func evict(_ limits: EvictionLimits) async throws(JournalError) -> QueueCheck {
        try await write { () async throws(JournalError) in try await journal.evict(limits) }
    }
}
