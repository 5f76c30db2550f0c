// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// The machine's wall clock and boot-time clock. The latter counts time in suspend, so that a laptop polls at once when it
/// wakes up.
struct SystemClock: VedetteCore.Clock {
    /// Milliseconds. Timers may stop while the machine is suspended, so longer sleeps read the boot-time clock in between.
    private static let longestSleep: Int64 = 30_000

    func now() -> Moment {
        Moment(
            wall: Timestamp(milliseconds: KernelClock.wall.milliseconds),
            boot: BootTime(milliseconds: KernelClock.boot.milliseconds))
    }

    /// What CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not (clock_gettime(2)). A process that is stopped or does not
    /// get the processor is not suspended.
    var suspended: Duration {
        .milliseconds(KernelClock.boot.milliseconds - KernelClock.monotonic.milliseconds)
    }

    var processorTime: Duration { .nanoseconds(KernelClock.thread.nanoseconds) }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        while true {
            let left = deadline.milliseconds - KernelClock.boot.milliseconds
            guard left > 0 else { return }
            do {
                try await Task.sleep(for: .milliseconds(min(left, SystemClock.longestSleep)))
            } catch {
                throw CancellationError()
            }
        }
    }
}
