// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore

/// Writes a journal under its lease, and keeps the lease.
final class JournalWriter: Sendable {
    /// The time between two renewals.
    private static let renewal = Duration.seconds(5)
    /// The longest pause between two attempts to learn how a transaction ended.
    private static let longestPause = Duration.seconds(5)

    private struct State {
        var lease: Lease
        var isClosing = false
        var renewing: Task<Void, Never>?
        var reportAway: @Sendable (JournalError) -> Void = { _ in }
    }

    private let worker: ConnectionWorker
    private let renewer: ConnectionWorker
    private let state: Mutex<State>
    /// The end of the lease, once another watcher has taken it.
    let losses: AsyncStream<JournalError>
    private let loss: AsyncStream<JournalError>.Continuation

    /// - Parameter worker: the connection of all writes.
    init(_ worker: ConnectionWorker, _ lease: Lease) {
        self.worker = worker
        renewer = ConnectionWorker(worker.server)
        state = Mutex(State(lease: lease))
        (losses, loss) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: Self.renewal)) != nil, let self { await self.renew() }
        }
        state.withLock { $0.renewing = task }
    }

    deinit { state.withLock { $0.renewing }?.cancel() }

    /// Sets what is called where a write waits for the server to come back.
    func reportAway(to report: @escaping @Sendable (JournalError) -> Void) {
        state.withLock { $0.reportAway = report }
    }

    /// Runs a block in one transaction that counts itself in the lease.
    func write<T: Sendable>(
        _ change: JournalChange?, _ block: @escaping @Sendable (Transaction) throws -> T
    ) async throws(JournalError) -> T {
        let lease = state.withLock { $0.lease }
        do throws(JournalError) {
            return try await worker.run { [weak self] connection in
                let transaction = try Transaction(connection, epoch: lease.epoch)
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
                    guard let self, try self.hasCommitted(transaction.number, of: lease, error) else { throw error }
                }
                return value
            }
        } catch {
            if case .locked = error.reason { loss.yield(error) }
            throw error
        }
    }

    /// Blocks the thread of the writes until the server tells how a transaction ended: to go on without knowing would make
    /// its events a second time, or lose them.
    private func hasCommitted(_ number: Int64, of lease: Lease, _ cause: PostgresError) throws -> Bool {
        var (error, pause, isReported) = (cause, Duration.milliseconds(100), false)
        while !state.withLock({ $0.isClosing }) {
            do {
                return try lease.hasCommitted(number, Connection(worker.server))
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

    private func renew() async {
        let lease = state.withLock { $0.lease }
        do throws(JournalError) {
            try await renewer.run { try lease.renew($0) }
        } catch {
            // A server that is away has given the lease to nobody.
            if case .locked = error.reason { loss.yield(error) }
        }
    }

    /// Ends the renewals and gives the lease back.
    func close() async {
        let (task, lease) = state.withLock { state in
            state.isClosing = true
            return (state.renewing, state.lease)
        }
        task?.cancel()
        await task?.value
        // Where that fails, it expires.
        try? await renewer.run { try lease.release($0) }
        await renewer.disconnect()
        loss.finish()
    }
}
