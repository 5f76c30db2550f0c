// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteSystem

/// The times that the client loop passes to its decisions.
enum SystemTime {
    /// Milliseconds of a clock that never jumps, for deadlines.
    static func monotonic() -> Int64 { KernelClock.monotonic.milliseconds }

    /// The wall clock, for the expiry of cookies.
    static func wall() -> Timestamp { Timestamp(milliseconds: KernelClock.wall.milliseconds) }
}
