// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import VedetteSystem

extension DispatchSemaphore {
    /// Waits for a signal, and looks for it every millisecond: what `wait(timeout:)` waits for on Linux is a time of the wall clock
    /// (sem_timedwait(3)), so that a clock that is set meanwhile ends the wait at once, or never.
    /// - Returns: false when the time is over first.
    func wait(atMost limit: Duration) -> Bool {
        let (seconds, attoseconds) = limit.components
        let end = KernelClock.monotonic.milliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000
        while wait(timeout: .now()) != .success {
            guard KernelClock.monotonic.milliseconds < end else { return false }
            usleep(1000)
        }
        return true
    }
}
