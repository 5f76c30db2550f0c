// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension Process {
    /// Starts the program with no signal blocked. Foundation gives a child the signal mask of the calling thread, and a
    /// worker thread of Dispatch blocks SIGTERM, so a child of `run()` may ignore `terminate()` for ever.
    public func runUnblocked() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }

    /// Waits until the process has ended, and returns its exit status or signal. Foundation notices an end through a
    /// descriptor, and in a process with thousands of descriptors sometimes never does.
    @discardableResult
    public func waitForEnd() -> Int32 {
        var info = siginfo_t()
        repeat {
            if waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT) == 0 {
                return info._sifields._sigchld.si_status
            }
        } while errno == EINTR
        // Foundation has reaped it, so it knows the status.
        waitUntilExit()
        return terminationStatus
    }
}
