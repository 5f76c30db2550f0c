// SPDX-License-Identifier: Apache-2.0

import Glibc
// The members of timespec are declared there; whole-module builds insist on it.
import SwiftOverlayShims
import Synchronization
import VedetteCore

/// CLOCK_REALTIME and CLOCK_BOOTTIME. The latter counts time in suspend, so that a laptop polls at once when it wakes up.
struct SystemClock: VedetteCore.Clock {
    /// Milliseconds. Timers may stop while the machine is suspended, so longer sleeps read the boot-time clock in between.
    private static let longestSleep: Int64 = 30_000

    func now() -> Moment {
        Moment(
            wall: Timestamp(milliseconds: SystemClock.milliseconds(CLOCK_REALTIME)),
            boot: BootTime(milliseconds: SystemClock.milliseconds(CLOCK_BOOTTIME)))
    }

    /// What CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not (clock_gettime(2)). A process that is stopped or does not
    /// get the processor is not suspended.
    var suspended: Duration {
        .milliseconds(SystemClock.milliseconds(CLOCK_BOOTTIME) - SystemClock.milliseconds(CLOCK_MONOTONIC))
    }

    var processorTime: Duration {
        let time = SystemClock.read(CLOCK_THREAD_CPUTIME_ID)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    func sleep(until deadline: BootTime) async throws(CancellationError) {
        while true {
            let left = deadline.milliseconds - SystemClock.milliseconds(CLOCK_BOOTTIME)
            guard left > 0 else { return }
            do {
                try await Task.sleep(for: .milliseconds(min(left, SystemClock.longestSleep)))
            } catch {
                throw CancellationError()
            }
        }
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        let time = read(clock)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Random numbers for jitter and ids, not for secrets. Seeded by the system once: asking it each time would cost two
/// system calls per poll.
struct SystemRandomGenerator: RandomGenerator {
    private static let state = Mutex(UInt64.random(in: .min ... .max))

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    func next() -> UInt64 {
        SystemRandomGenerator.state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
