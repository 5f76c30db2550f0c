// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The children of this process, so that it never takes the exit status of one for which a thread waits.
///
/// Process 1, as in a container, also gets the orphans: what a child left running when it ended. They stay as zombies until
/// process 1 reaps them.
public enum Children {
    private struct State {
        /// How many are being started: their ids are not known yet.
        var starting = 0
        var started: Set<pid_t> = []
    }

    private static let state = Mutex(State())

    /// Starts a child. Others may start meanwhile, since a program on a disk that hangs would delay them.
    static func start(_ spawn: Spawn) throws(ChildProcess.Failure) -> pid_t {
        state.withLock { $0.starting += 1 }
        let result = Result { () throws(ChildProcess.Failure) in try spawn.start() }
        state.withLock { state in
            state.starting -= 1
            if case .success(let child) = result { state.started.insert(child) }
        }
        return try result.get()
    }

    /// Blocks until a child has ended. Its id is not free before `reap`.
    static func wait(for child: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    /// Returns the status of a child that has ended (wait(2)), nil when the kernel kept none, and frees its id.
    static func reap(_ child: pid_t) -> Int32? {
        state.withLock { state in
            var (status, reaped): (Int32, pid_t) = (0, -1)
            repeat { reaped = waitpid(child, &status, 0) } while reaped < 0 && errno == EINTR
            state.started.remove(child)
            return reaped == child ? status : nil
        }
    }

    /// Reaps orphans within a second of their end, on a thread of its own, when this process is process 1.
    public static func reapOrphans() {
        guard getpid() == 1 else { return }
        _ = SystemThread.start {
            while true {
                sleep(1)
                while reapOrphan() {}
            }
        }
    }

    /// - Returns: whether there was one. A child for which a thread waits, and which ended first, hides those behind it until
    ///   that thread has reaped it.
    private static func reapOrphan() -> Bool {
        var info = siginfo_t()
        guard waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return false }
        let ended = info._sifields._sigchld.si_pid
        return state.withLock { state in
            guard ended != 0, state.starting == 0, !state.started.contains(ended) else { return false }
            return waitpid(ended, nil, WNOHANG) == ended
        }
    }
}
