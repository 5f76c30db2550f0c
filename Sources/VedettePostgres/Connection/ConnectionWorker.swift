// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore
import VedetteSystem

/// One connection with the thread that uses it. It connects when it is first needed, and again after a failure, with a
/// growing pause between two attempts: a call during the pause fails at once, as the last attempt did.
///
/// The cancellation of the waiting task does not stop a call: a shutdown completes its writes.
final class ConnectionWorker: Sendable {
    private static let shortestPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(5)
    /// Calls that wait; the engine makes a few at a time.
    private static let capacity = 100_000

    private struct State {
        var connection: Connection?
        var failure: PostgresError?
        var pause = ConnectionWorker.shortestPause
        var nextAttempt: ContinuousClock.Instant?
    }

    let server: PostgresServer
    private let queue = BlockingQueue(capacity: ConnectionWorker.capacity)
    private let state = Mutex(State())

    init(_ server: PostgresServer) { self.server = server }

    /// Makes a call with the connection, on its thread.
    /// - Throws: `.unavailable` where there is no connection.
    func run<T: Sendable>(_ call: @escaping @Sendable (Connection) throws -> T) async throws(JournalError) -> T {
        let result: Result<Result<T, JournalError>, BlockingQueue.Refusal> = await Task {
            do throws(BlockingQueue.Refusal) {
                return .success(try await queue.run { self.attempt(call) })
            } catch {
                return .failure(error)
            }
        }.value
        switch result {
        case .success(let result): return try result.get()
        case .failure(let refusal):
            throw JournalError(
                .inputOutput,
                "failed to start a thread for the journal \(server.connection.location) (\(refusal)): "
                    + "raise the limit of threads")
        }
    }

    /// Ends the connection; the next call makes another one.
    func disconnect() async {
        _ = try? await queue.run { self.state.withLock { $0 = State() } }
    }

    private func attempt<T>(_ call: (Connection) throws -> T) -> Result<T, JournalError> {
        state.withLock { state in
            do {
                return .success(try call(try connected(&state)))
            } catch let error as PostgresError {
                if error.endsConnection { state.connection = nil }
                return .failure(error.journalError(server.connection.location))
            } catch let error as UnreadableRow {
                let damage = PostgresError(.statement(state: PostgresError.dataCorrupted), error.text)
                return .failure(damage.journalError(server.connection.location))
            } catch let error as JournalError {
                return .failure(error)
            } catch {
                return .failure(
                    JournalError(.inputOutput, "the journal \(server.connection.location) failed: \(error)"))
            }
        }
    }

    private func connected(_ state: inout State) throws(PostgresError) -> Connection {
        if let connection = state.connection, connection.isAlive { return connection }
        state.connection = nil
        if let failure = state.failure, let next = state.nextAttempt, next > .now { throw failure }
        let version = server.password?.version
        do throws(PostgresError) {
            let connection = try Connection(server)
            (state.connection, state.failure) = (connection, nil)
            (state.pause, state.nextAttempt) = (Self.shortestPause, nil)
            return connection
        } catch {
            (state.failure, state.nextAttempt) = (error, .now + state.pause)
            state.pause = min(state.pause * 2, Self.longestPause)
            if error.cause == .password, let password = server.password, let version {
                // For the next attempt: a program that prints the password may take seconds.
                Task { await password.renewed(after: version, now: .now) }
            }
            throw error
        }
    }
}
