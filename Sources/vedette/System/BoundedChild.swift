// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A program that is fed one input and read to its end: without a shell, in a process group of its own, with an empty
/// environment, no files but its three streams, and limits on time and output. It blocks its thread.
final class BoundedChild: Sendable {
    struct Output {
        var out: [UInt8] = []
        /// The beginning of what it said to stderr.
        var said: [UInt8] = []
        /// As wait(2) gives it.
        var status: Int32 = 0
    }

    enum Problem: Error {
        case cannotRun(Int32)
        case tooLong
        case tooMuch
        case cancelled
    }

    private enum State {
        case waiting
        case running(pid_t)
        case ended
        case cancelled
    }

    private let state = Mutex(State.waiting)

    /// Ends it at once, also before it began; afterwards it does nothing.
    func cancel() {
        state.withLock { state in
            // Its id is its own until it is waited for, which happens under the same lock.
            if case .running(let child) = state { kill(-child, SIGKILL) }
            if case .ended = state { return }
            state = .cancelled
        }
    }

    func run(_ arguments: [String], input: [UInt8], within limit: Duration, most: Int) throws(Problem) -> Output {
        var streams = ChildStreams()
        defer { streams.close() }
        guard streams.open() else { throw .cannotRun(errno) }
        let child = try start(arguments, streams)
        streams.closeTheirs()
        let result = exchange(&streams, input, until: .now + limit, most: most)
        // What still runs has lost its reader: whatever it was at, it is of no use any more.
        kill(-child, SIGKILL)
        let status = try end(child)
        var output = try result.get()
        output.status = status
        return output
    }

    private func start(_ arguments: [String], _ streams: ChildStreams) throws(Problem) -> pid_t {
        let started = state.withLock { state -> Result<pid_t, Problem> in
            if case .cancelled = state { return .failure(.cancelled) }
            let started = streams.spawn(arguments)
            if case .success(let child) = started { state = .running(child) }
            return started.mapError { .cannotRun($0.code) }
        }
        return try started.get()
    }

    /// Its exit status.
    private func end(_ child: pid_t) throws(Problem) -> Int32 {
        // Waited for without its id being freed, so that `cancel` cannot meet a stranger's.
        var info = siginfo_t()
        while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: Int32 = 0
        let wasCancelled = state.withLock { state in
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            if case .cancelled = state { return true }
            state = .ended
            return false
        }
        if wasCancelled { throw .cancelled }
        return status
    }
}
