// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The watcher's sleep between two polls. It belongs to the watcher's actor.
final class WatcherSleep {
    private let clock: any Clock
    private var timer: Task<Void, Never>?
    /// When the watcher wakes; nil while it is awake.
    private var end: BootTime?

    init(_ clock: any Clock) { self.clock = clock }

    /// Sleeps until the deadline, or until it is woken.
    func sleep(until deadline: BootTime) async {
        end = deadline
        let timer = Task { [clock] () -> Void in _ = try? await clock.sleep(until: deadline) }
        self.timer = timer
        await timer.value
        (self.timer, end) = (nil, nil)
    }

    /// Ends the sleep.
    func wakeUp() {
        end = nil
        timer?.cancel()
    }

    /// Ends the sleep if it would last longer than that.
    func wakeUp(ifAfter deadline: BootTime?) {
        if let end, let deadline, deadline < end { wakeUp() }
    }
}
