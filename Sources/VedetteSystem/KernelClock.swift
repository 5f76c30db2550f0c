// SPDX-License-Identifier: Apache-2.0

import CSystem
import Glibc

/// The clocks of the kernel (clock_gettime(2)): the one place that reads them. A decision takes a `Clock` of VedetteCore
/// instead, which a test can advance.
public enum KernelClock: Sendable {
    /// The time since 1970, which a person or NTP may set.
    case wall
    /// The time since boot, with the time in suspend.
    case boot
    /// The time since boot, without the time in suspend.
    case monotonic
    /// The time for which the calling thread has had a processor.
    case thread

    /// Nanoseconds, now.
    public var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(id, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Milliseconds, now.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    private var id: clockid_t {
        switch self {
        case .wall: CLOCK_REALTIME
        case .boot: CLOCK_BOOTTIME
        case .monotonic: CLOCK_MONOTONIC
        case .thread: CLOCK_THREAD_CPUTIME_ID
        }
    }

    /// False when the kernel reports the wall clock as not synchronized (adjtimex(2)). True where it cannot be asked.
    public static var isSynchronized: Bool {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { timex in
            timex.initializeMemory(as: UInt8.self, repeating: 0)
            return cs_adjtimex(timex.baseAddress) != CS_TIME_ERROR
        }
    }
}
