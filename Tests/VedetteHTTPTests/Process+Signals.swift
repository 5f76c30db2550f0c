// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Process {
    /// Starts the program with no signal blocked. Foundation gives a child the signal mask of the calling thread, and a
    /// worker thread of Dispatch blocks SIGTERM, so a child of `run()` may ignore `terminate()` for ever.
    func runUnblocked() throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
