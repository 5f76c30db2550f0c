// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore
import VedetteSystem

/// Writes a journal under its registration, and renews that.
final class JournalWriter: Sendable {
    /// The longest pause between two attempts to learn how a transaction ended.
    private static let longestPause = Duration.seconds(5)

    private struct State {
        var isClosing = false
        /// When the registration was last renewed.
        var renewedAt: ContinuousClock.Instant?
        /// When that was requested, or the registration: the database counts the term from a later time.
        var leasedFrom: BootTime
        var isLost = false
        /// The registrations of others that were expired at that time, where it was late.
        var unrenewed: [Int64: String] = [:]
        /// The changes of rules that this watcher knows.
        var version: Int64 = 0
        var renewing: Task<Void, Never>?
        var reportAway: @Sendable (JournalError) -> Void = { _ in }
    }

    let registration: WatcherRegistration
    private let worker: ConnectionWorker
    private let renewer: ConnectionWorker
    private let state: Mutex<State>
    /// Why this watcher must end, once another one has deleted its registration, or a later version has upgraded the tables.
    let losses: AsyncStream<JournalError>
    private let loss: AsyncStream<JournalError>.Continuation

    /// See `JournalShares`.
    var leasedFrom: BootTime? { state.withLock { $0.isLost ? nil : $0.leasedFrom } }

    /// - Parameters:
    ///   - worker: the connection of all writes.
    ///   - start: a time before the registration was requested.
    init(_ worker: ConnectionWorker, _ registration: WatcherRegistration, from start: BootTime) {
        (self.worker, self.registration) = (worker, registration)
        renewer = ConnectionWorker(worker.server)
        state = Mutex(State(leasedFrom: start))
        (losses, loss) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: Lease.renewal)) != nil, let self { await self.renew() }
        }
        state.withLock { $0.renewing = task }
    }

    deinit { state.withLock { $0.renewing }?.cancel() }

    /// Sets what is called where a write waits for the server to come back.
    func reportAway(to report: @escaping @Sendable (JournalError) -> Void) {
        state.withLock { $0.reportAway = report }
    }

    /// Notes up to which number this watcher knows the changes of rules.
    func know(version: Int64) { state.withLock { $0.version = max($0.version, version) } }

    /// Runs a block in one transaction that counts itself in the registration.
    func write<T: Sendable>(
        _ change: JournalChange?, _ block: @escaping @Sendable (Transaction) throws -> T
    ) async throws(JournalError) -> T {
        do throws(JournalError) {
            return try await worker.run { [weak self, registration] connection in
                let transaction = try Transaction(connection, writer: registration)
                let value: T
                let end: Transaction.End
                do {
                    value = try block(transaction)
                    end = try transaction.commit(change)
                } catch {
                    transaction.rollback()
                    throw error
                }
                if case .inDoubt(let error) = end {
                    guard let self, try self.hasCommitted(transaction.number, error) else { throw error }
                }
                return value
            }
        } catch {
            endIfLost(error)
            throw error
        }
    }

    /// Blocks the thread of the writes until the server tells how a transaction ended: to go on without knowing would make
    /// its events a second time, or lose them.
    private func hasCommitted(_ number: Int64, _ cause: PostgresError) throws -> Bool {
        var (error, pause, isReported) = (cause, Duration.milliseconds(100), false)
        while !state.withLock({ $0.isClosing }) {
            do {
                return try registration.hasCommitted(number, Connection(worker.server))
            } catch let problem as PostgresError {
                error = problem
            }
            if !isReported {
                let report = state.withLock { $0.reportAway }
                report(error.journalError(worker.server.connection.location))
            }
            isReported = true
            usleep(UInt32(pause.wholeMilliseconds * 1000))
            pause = min(pause * 2, Self.longestPause)
        }
        throw error
    }

    func renew() async {
        let (last, version, before) = state.withLock { ($0.renewedAt, $0.version, $0.unrenewed) }
        let isSteady = last.map { $0 + Lease.renewal * 2 > .now } ?? false
        do throws(JournalError) {
            let (start, unrenewed) = try await renewer.run { [registration] connection in
                let start = BootTime.now
                let left = try registration.renew(connection, version: version, ending: isSteady, unrenewed: before)
                return (start, left)
            }
            state.withLock { ($0.renewedAt, $0.unrenewed, $0.leasedFrom) = (.now, unrenewed, start) }
        } catch {
            endIfLost(error)
        }
    }

    /// Tells the end of this watcher, if an error is one. A server that is away has ended no registration.
    private func endIfLost(_ error: JournalError) {
        switch error.reason {
        case .locked, .newer:
            state.withLock { $0.isLost = true }
            loss.yield(error)
        default: break
        }
    }

    /// Ends the renewals and the registration.
    func close() async {
        let task = state.withLock { state in
            state.isClosing = true
            return state.renewing
        }
        task?.cancel()
        await task?.value
        // Where that fails, it expires.
        try? await renewer.run { [registration] in try registration.end($0) }
        await renewer.disconnect()
        loss.finish()
    }
}

extension BootTime {
    /// The time now, on the clock that the engine passes to `JournalShares.maySend`.
    static var now: BootTime { BootTime(milliseconds: KernelClock.boot.milliseconds) }
}
