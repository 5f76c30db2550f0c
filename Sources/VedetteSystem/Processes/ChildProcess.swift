// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// One run of a program: without a shell, in a process group of its own, with no descriptor but its three streams, with
/// default signals, and with limits on time and output.
///
/// A run ends when the program does. What the program leaves running in the background goes on; a limit or a cancellation
/// kills the whole group.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public enum Exit: Sendable, Hashable {
        /// It returned this exit status.
        case status(Int32)
        /// This signal ended it.
        case signal(Int32)
        /// The kernel kept no status.
        case unknown
    }

    /// The result of a run that no limit ended.
    public struct Output: Sendable, Hashable {
        /// How it ended.
        public var exit: Exit
        /// Its standard output, within the limit.
        public var output: [UInt8]
        /// Its standard error, within the limit.
        public var errorOutput: [UInt8]
    }

    /// Why there is no result.
    public enum Failure: Error, Hashable {
        /// An errno.
        case cannotStart(Int32)
        /// The time limit passed, and it was killed.
        case timedOut
        /// It printed more than it may, and was killed.
        case tooMuchOutput
        /// It was cancelled before its end.
        case cancelled

        /// Whether the program could not be started for a reason that passes by itself: too few descriptors, processes or
        /// bytes of memory, or a file of a program that is being written (pipe(2), fork(2), execve(2)).
        public var isTemporary: Bool {
            switch self {
            case .cannotStart(let code): [EMFILE, ENFILE, EAGAIN, ENOMEM, ETXTBSY].contains(code)
            case .timedOut, .tooMuchOutput, .cancelled: false
            }
        }
    }

    private enum State {
        case waiting
        case running(pid_t)
        case ended
        case cancelled
    }

    private let command: ChildCommand
    private let state = Mutex(State.waiting)

    public init(_ command: ChildCommand) { self.command = command }

    /// Kills the program and its group at once; one that has not started does not start. It does nothing after the end.
    public func cancel() {
        state.withLock { state in
            // The id belongs to the child until it is reaped, which happens under the same lock.
            if case .running(let child) = state { kill(-child, SIGKILL) }
            if case .ended = state { return }
            state = .cancelled
        }
    }

    /// Runs the program on a thread of its own; cancelling the task kills it.
    public func run() async throws(Failure) -> Output {
        let result: Result<Output, Failure> = await withTaskCancellationHandler {
            do throws(SystemThread.Unavailable) {
                return try await SystemThread.run { Result { () throws(Failure) in try self.runBlocking() } }
            } catch {
                return .failure(.cannotStart(error.code))
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    /// Runs the program and blocks the calling thread until it ends.
    public func runBlocking() throws(Failure) -> Output {
        var streams = try ChildStreams(command)
        defer { streams.close() }
        let child = try start(&streams)
        let problem = streams.exchange(with: child, until: .now + command.timeLimit)
        if problem != nil { kill(-child, SIGKILL) }
        let exit = try reap(child)
        if let problem { throw problem }
        return Output(exit: exit, output: streams.output, errorOutput: streams.errorOutput)
    }

    private func start(_ streams: inout ChildStreams) throws(Failure) -> pid_t {
        let spawn = Spawn(
            arguments: command.arguments, environment: command.environment, directory: command.directory,
            streams: streams.childEnds)
        defer { streams.closeChildEnds() }
        let started = state.withLock { state -> Result<pid_t, Failure> in
            if case .cancelled = state { return .failure(.cancelled) }
            return Result { () throws(Failure) in
                let child = try Children.start(spawn)
                state = .running(child)
                return child
            }
        }
        return try started.get()
    }

    private func reap(_ child: pid_t) throws(Failure) -> Exit {
        // This waits without freeing the id, so that `cancel` cannot meet another process that got it.
        Children.wait(for: child)
        let (status, wasCancelled) = state.withLock { state in
            let status = Children.reap(child)
            if case .cancelled = state { return (status, true) }
            state = .ended
            return (status, false)
        }
        if wasCancelled { throw .cancelled }
        guard let status else { return .unknown }
        // The low seven bits are the signal, the next eight the exit status (wait(2)).
        return status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
    }
}

extension ChildProcess {
    /// Starts a program that outlives this one: in a session of its own, with its streams on /dev/null. A thread reaps it.
    public static func launch(_ arguments: [String]) throws(Failure) {
        let child = try Children.start(
            Spawn(arguments: arguments, environment: ChildEnvironment.inherited, directory: nil, streams: nil))
        _ = SystemThread.start {
            Children.wait(for: child)
            _ = Children.reap(child)
        }
    }
}
