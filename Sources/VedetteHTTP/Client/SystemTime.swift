// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

enum SystemTime {
    /// Milliseconds of a clock that never jumps, for deadlines.
    static func monotonic() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The wall clock, for the expiry of cookies.
    static func wall() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000)
    }
}
