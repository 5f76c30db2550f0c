// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// How often a service lets itself be called: one turn per interval, after a rest up to `burst` at once.
struct CallRate: Sendable, Hashable {
    var interval: Duration
    var burst: Int

    init(every interval: Duration, burst: Int) { (self.interval, self.burst) = (interval, burst) }
}

/// Gives out turns at a pace (the generic cell rate algorithm: one time instead of a bucket of tokens).
struct RateLimiter: Sendable {
    /// When all the turns that were taken are worked off.
    private var worked = BootTime(milliseconds: .min)
    private let pace: CallRate

    init(_ pace: CallRate) { self.pace = pace }

    enum Permit: Sendable, Hashable {
        /// It is yours after this wait.
        case taken(wait: Duration)
        /// Nothing was taken: it would be longer than you want to wait.
        case tooLate(wait: Duration)
    }

    mutating func take(at now: BootTime, most: Duration) -> Permit {
        let start = max(worked, now)
        let wait = max(.zero, start.duration(since: now) - slack)
        if wait > most { return .tooLate(wait: wait) }
        worked = start.advanced(by: pace.interval)
        return .taken(wait: wait)
    }

    /// The service asks for silence; one call is let through after it, and the next ones at the pace.
    mutating func hold(for rest: Duration, at now: BootTime) {
        worked = max(worked, now.advanced(by: rest + slack))
    }

    private var slack: Duration { pace.interval * (pace.burst - 1) }
}
