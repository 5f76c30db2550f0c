// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The watcher's sleep between two polls. It belongs to the watcher's actor.
final class WatcherSleep {
    /// Due times closer than this share one wake-up.
    static let tick = Duration.milliseconds(10)
    private static let longest = Duration.seconds(3600)

    private let clock: any Clock
    private var timer: Task<Void, Never>?
    /// When the watcher wakes; nil while it is awake.
    private var end: BootTime?

    init(_ clock: any Clock) { self.clock = clock }

    /// Sleeps until the deadline, for an hour at most, or until it is woken.
    func sleep(until deadline: BootTime?, isolation: isolated (any Actor)? = #isolation) async {
        let now = clock.now().boot
        let end = max(now.advanced(by: WatcherSleep.tick), deadline ?? now.advanced(by: WatcherSleep.longest))
        self.end = end
        let timer = Task { [clock] () -> Void in
            // On the actor's own thread, so that it is the only one that wakes up.
            _ = isolation
            _ = try? await clock.sleep(until: end)
        }
        self.timer = timer
        await timer.value
        (self.timer, self.end) = (nil, nil)
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
