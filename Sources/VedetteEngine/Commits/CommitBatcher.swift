// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// Groups commits: while one transaction is being written, the records that arrive gather for the next one.
///
/// Records are written in the order in which they were submitted, so a later state never precedes an earlier one. Deferred
/// writes go through the same writer for the same reason.
final class CommitBatcher: Sendable {
    private struct Entry {
        var record: PollRecord
        let ticket: CommitTicket
        /// Earlier records without which it is not to be written.
        let basis: [CommitTicket]
        /// The rows in it that were to be written before.
        var older: [StoredItem] = []

        mutating func add(older rows: [StoredItem]) {
            older.add(older: rows)
            record.add(older: rows)
        }
    }

    private struct State {
        var waiting: [Entry] = []
        /// The newest deferred write of each source.
        var deferred: [String: DeferredWrite] = [:]
        /// Rows of deferred writes that the journal refused, by source. The source's next write takes them when its
        /// turn comes: when it is submitted, an earlier one that changes these rows may still wait.
        var unwritten: [String: [StoredItem]] = [:]
        var isWriting = false
        var finishers: [CheckedContinuation<Void, Never>] = []
        var successes = 0

        /// Keeps rows that were refused for the source's next write. They are later than those that are kept already,
        /// since writes fail in the order in which they were handed in.
        mutating func keep(_ rows: [StoredItem], of source: String) {
            guard !rows.isEmpty else { return }
            var rows = rows
            rows.add(older: unwritten[source] ?? [])
            unwritten[source] = rows
        }

        /// Lets the first record of each source take the rows that were refused before.
        mutating func addUnwritten(to batch: [Entry]) -> [Entry] {
            batch.map { entry in
                guard let name = entry.record.record?.name, let rows = unwritten.removeValue(forKey: name) else {
                    return entry
                }
                var entry = entry
                entry.add(older: rows)
                return entry
            }
        }

        mutating func addUnwritten(to deferred: [DeferredWrite]) -> [DeferredWrite] {
            deferred.map { write in
                var write = write
                write.items.add(older: unwritten.removeValue(forKey: write.record.name) ?? [])
                return write
            }
        }
    }

    /// After so many records that failed as `.busy`, while none was written, the journal is busy for all: each waits for seconds.
    private static let maximumBusy = 2

    private let journal: any Journal
    private let log: any Log
    private let meter: EventMeter
    private let ruleMeter: RuleMeter
    private let limits: @Sendable () -> EvictionLimits
    private let announce: @Sendable (_ pending: [Delivery], Eviction) async -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limits: returns the limits of the queues at the time of a commit.
    ///   - announce: takes the pending deliveries of a commit, and what it evicted to keep the limits. The next commit and
    ///     those who wait for this one go on when it returns, so deliveries are announced in the order of their ids (I6).
    init(
        journal: any Journal, log: any Log, meter: any Meter = NoMeter(),
        limits: @escaping @Sendable () -> EvictionLimits = { .none },
        announce: @escaping @Sendable (_ pending: [Delivery], Eviction) async -> Void = { _, _ in }
    ) {
        (self.journal, self.log) = (journal, log)
        (self.meter, ruleMeter) = (EventMeter(meter), RuleMeter(meter))
        (self.limits, self.announce) = (limits, announce)
    }

    /// How often a record of a source was written. When it grows while the polls of one source fail, the journal is not away.
    var successes: Int { state.withLock { $0.successes } }

    /// Takes a record for the next transaction, without waiting for it.
    /// - Parameter basis: earlier records without which it is not to be written: when one fails, this one fails, too.
    func submit(_ record: PollRecord, after basis: [CommitTicket] = []) -> CommitTicket {
        let ticket = CommitTicket()
        startWriting { state in
            var entry = Entry(record: record, ticket: ticket, basis: basis)
            // A deferred write of that source is older than this record, and is not made any more.
            if let name = record.record?.name, let deferred = state.deferred.removeValue(forKey: name) {
                entry.add(older: deferred.items)
            }
            state.waiting.append(entry)
        }
        return ticket
    }

    /// Enqueues records without a ticket; they are written after the current batch.
    func write(deferred: [DeferredWrite]) {
        guard !deferred.isEmpty else { return }
        startWriting { state in
            for var write in deferred {
                write.items.add(older: state.deferred[write.record.name]?.items ?? [])
                state.deferred[write.record.name] = write
            }
        }
    }

    /// Forgets what is still to be written of sources that another watcher held meanwhile: what that wrote is newer.
    func forgetDeferred(of sources: Set<String>) {
        state.withLock { state in
            for source in sources {
                state.deferred[source] = nil
                state.unwritten[source] = nil
            }
        }
    }

    /// Returns when every record that was submitted before is written or has failed, however many follow.
    func flush() async {
        guard state.withLock({ $0.isWriting }) else { return }
        do throws(JournalError) {
            _ = try await submit(PollRecord(record: nil)).committed()
        } catch {
            log.log(.debug, "failed to wait for earlier commits: \(error.detail)")
        }
    }

    /// Returns when everything handed in is written or has failed.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isWriting { state.finishers.append(continuation) }
                return !state.isWriting
            }
            if isDone { continuation.resume() }
        }
    }

    private func startWriting(_ change: (inout sending State) -> Void) {
        let mustStart = state.withLock { state in
            change(&state)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { Task { await self.write() } }
    }

    private enum Work {
        case write([Entry], [DeferredWrite])
        case finish([CheckedContinuation<Void, Never>])
    }

    private func write() async {
        while true {
            switch takeWork() {
            case .write(let batch, let deferred):
                await commit(batch)
                await write(deferred)
            case .finish(let finishers):
                for finisher in finishers { finisher.resume() }
                return
            }
        }
    }

    private func takeWork() -> Work {
        state.withLock { state -> Work in
            if state.waiting.isEmpty, state.deferred.isEmpty {
                state.isWriting = false
                defer { state.finishers = [] }
                return .finish(state.finishers)
            }
            defer { (state.waiting, state.deferred) = ([], [:]) }
            return .write(state.waiting, Array(state.deferred.values))
        }
    }

    private func commit(_ submitted: [Entry]) async {
        let batch = state.withLock { $0.addUnwritten(to: submitted) }.filter { !failsWithItsBasis($0) }
        guard !batch.isEmpty, let error = await failure(of: batch) else { return }
        // One record may be at fault: each gets a transaction of its own, so that it fails alone.
        guard batch.count > 1, error.reason.mayConcernOneRecord else { return fail(batch, error) }
        var (rest, busy, hasWritten) = (batch[...], 0, false)
        while hasWritten || busy < CommitBatcher.maximumBusy, let entry = rest.popFirst() {
            guard !failsWithItsBasis(entry) else { continue }
            let batch = state.withLock { $0.addUnwritten(to: [entry]) }
            guard let error = await failure(of: batch) else {
                hasWritten = true
                continue
            }
            if error.reason == .busy { busy += 1 }
            fail(batch, error)
        }
        if !rest.isEmpty { fail(Array(rest), error) }
    }

    /// Lets a record fail with an earlier one on which it is based.
    private func failsWithItsBasis(_ entry: Entry) -> Bool {
        guard let error = entry.basis.lazy.compactMap(\.failure).first else { return false }
        fail([entry], error)
        return true
    }

    /// Commits records in one transaction.
    /// - Returns: why they are not written; nil when they are.
    private func failure(of batch: [Entry]) async -> JournalError? {
        do throws(JournalError) {
            let result = try await journal.commit(batch.map(\.record), within: limits())
            for poll in result.polls { meter.count(poll.events) }
            let deliveries = result.polls.flatMap(\.deliveries)
            for delivery in deliveries { ruleMeter.count(delivery.state, of: delivery.message.rule) }
            let pending = deliveries.filter(\.state.isPending)
            if !pending.isEmpty || !result.eviction.isEmpty { await announce(pending, result.eviction) }
            if batch.contains(where: { $0.record.record != nil }) { state.withLock { $0.successes += 1 } }
            for (entry, committed) in zip(batch, result.polls) { entry.ticket.resolve(.success(committed)) }
            return nil
        } catch {
            return error
        }
    }

    private func fail(_ batch: [Entry], _ error: JournalError) {
        state.withLock { state in
            for entry in batch { state.keep(entry.older, of: entry.record.record?.name ?? "") }
        }
        // The last submitted is undone first.
        for entry in batch.reversed() { entry.ticket.resolve(.failure(error)) }
    }

    private func write(_ deferred: [DeferredWrite]) async {
        let deferred = state.withLock { $0.addUnwritten(to: deferred) }
        guard !deferred.isEmpty, let error = await failure(of: deferred) else { return }
        await isolate(deferred, error, error.logLevel)
    }

    /// - Returns: why they are not written; nil when they are.
    private func failure(of deferred: [DeferredWrite]) async -> JournalError? {
        do throws(JournalError) {
            try await journal.write(deferred: deferred)
            state.withLock { $0.successes += 1 }
            return nil
        } catch {
            return error
        }
    }

    /// Writes what failed together in parts. One of them may be at fault: halves find it among thousands in a few transactions.
    private func isolate(_ deferred: [DeferredWrite], _ error: JournalError, _ level: LogLevel) async {
        guard deferred.count > 1, error.reason == .refused || error.reason == .busy else {
            return keep(deferred, error, level)
        }
        let half = deferred.count / 2
        var failed: [(part: [DeferredWrite], error: JournalError)] = []
        for part in [Array(deferred[..<half]), Array(deferred[half...])] {
            if let error = await failure(of: part) { failed.append((part, error)) }
        }
        // Where neither half can be written, the journal is busy for all of them, and each attempt would wait for seconds.
        if failed.count == 2, failed.allSatisfy({ $0.error.reason == .busy }) { return keep(deferred, error, level) }
        // What others do not share is announced nowhere else.
        for (part, error) in failed { await isolate(part, error, .error) }
    }

    private func keep(_ deferred: [DeferredWrite], _ error: JournalError, _ level: LogLevel) {
        log.log(level, "failed to write due times and measures: \(error.detail)")
        state.withLock { state in
            for write in deferred { state.keep(write.items, of: write.record.name) }
        }
    }
}

extension [StoredItem] {
    /// Adds rows that were to be written before, where it has no later ones.
    fileprivate mutating func add(older rows: [StoredItem]) {
        guard !rows.isEmpty else { return }
        let keys = Set(map(\.key))
        self += rows.filter { !keys.contains($0.key) }
    }
}

extension PollRecord {
    /// Adds rows that were to be written before, unless it changes them itself.
    fileprivate mutating func add(older rows: [StoredItem]) {
        guard !isNewBaseline, !isFirst else { return }
        let keys = Set(writes.map(\.key) + deletions)
        writes += rows.filter { !keys.contains($0.key) }
    }
}

/// The outcome of one submitted record, for one waiter.
final class CommitTicket: Sendable {
    typealias Outcome = Result<Committed, JournalError>

    private enum State {
        case pending
        case awaited(CheckedContinuation<Outcome, Never>)
        case resolved(Outcome)
    }

    private let state = Mutex(State.pending)

    /// Waits until the record is committed; to be called once.
    func committed() async throws(JournalError) -> Committed {
        let outcome = await withCheckedContinuation { continuation in
            let outcome: Outcome? = state.withLock { state in
                if case .resolved(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
        return try outcome.get()
    }

    /// Why it failed; nil while it is pending, and when it is committed.
    var failure: JournalError? {
        state.withLock { state in
            if case .resolved(.failure(let error)) = state { error } else { nil }
        }
    }

    fileprivate func resolve(_ outcome: Outcome) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            defer { state = .resolved(outcome) }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}
