// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides when the rule coordinator wakes for a deadline.
struct RuleTimer {
    /// The pause after a step that the journal refused.
    private static let retryDelay = Duration.seconds(5)
    /// Deadlines on the wall clock are checked at least this often, since that clock may be set.
    private static let longestSleep = Duration.seconds(60)

    private var timer: DeadlineTimer
    private(set) var isRunning = false
    private var pausedUntil: BootTime?

    init(_ clock: any Clock) { timer = DeadlineTimer(clock) }

    mutating func start() { isRunning = true }

    mutating func stop() {
        isRunning = false
        timer.cancel()
    }

    /// Pauses, because the journal refused a step.
    mutating func pause(from now: BootTime) { pausedUntil = now.advanced(by: RuleTimer.retryDelay) }

    func isPaused(at now: BootTime) -> Bool { pausedUntil.map { $0 > now } ?? false }

    /// Calls the owner at a deadline, or earlier when it is far away; after the pause when there is one.
    mutating func set<Owner: Actor>(
        at deadline: BootTime, now: BootTime, for owner: isolated Owner,
        _ call: @escaping @Sendable (isolated Owner) async -> Void
    ) {
        let next = min(max(deadline, pausedUntil ?? now), now.advanced(by: RuleTimer.longestSleep))
        timer.set(at: next, for: owner, call)
    }

    /// - Returns: whether the timer still runs: it may have slept to its end when it was stopped.
    mutating func fired() -> Bool {
        if isRunning { timer.fired() }
        return isRunning
    }
}
