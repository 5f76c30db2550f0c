// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Notices that the machine was suspended. A process that was stopped, or a machine that is overloaded, is only late.
struct SuspendMonitor {
    /// A shorter suspend needs no catching up.
    private static let shortest = Duration.seconds(10)

    private let clock: any Clock
    /// `Clock.suspended` at the last call.
    private var total: Duration

    init(_ clock: any Clock) { (self.clock, total) = (clock, clock.suspended) }

    /// Returns whether the machine was suspended since the last call.
    mutating func takeSuspend() -> Bool {
        let before = total
        total = clock.suspended
        return total - before > SuspendMonitor.shortest
    }
}
