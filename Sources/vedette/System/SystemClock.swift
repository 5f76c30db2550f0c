// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// CLOCK_REALTIME and CLOCK_BOOTTIME: the latter goes on during suspend, so that a laptop that wakes up polls at once.
struct SystemClock: VedetteCore.Clock {
    /// A suspended machine's timers may stand still; no wait is longer than this without a look at the boot-time clock.
    private static let longestNap: Int64 = 30_000

    func now() -> Moment {
        Moment(
            wall: Timestamp(milliseconds: SystemClock.read(CLOCK_REALTIME)),
            boot: BootTime(milliseconds: SystemClock.read(CLOCK_BOOTTIME)))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        while true {
            let left = deadline.milliseconds - SystemClock.read(CLOCK_BOOTTIME)
            guard left > 0 else { return }
            do {
                try await Task.sleep(for: .milliseconds(min(left, SystemClock.longestNap)))
            } catch {
                throw CancellationError()
            }
        }
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The system's random numbers.
struct SystemChance: Chance {
    func next() -> UInt64 { .random(in: .min ... .max) }
}
