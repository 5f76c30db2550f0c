// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rate that a service allows: one call per interval, and up to `burst` at once after a pause.
struct CallRate: Sendable, Hashable {
    var interval: Duration
    var burst: Int

    init(every interval: Duration, burst: Int) { (self.interval, self.burst) = (interval, burst) }
}

/// Reserves slots at a rate, by the generic cell rate algorithm, which needs one time instead of a bucket of tokens.
///
/// The dispatcher's `rate` cannot replace it: a service's limit allows bursts, may depend on an option, and a 429 for one
/// message delays all messages of the sink.
struct ChatRateLimiter: Sendable {
    /// The time at which all reserved slots have passed.
    private var nextFree = BootTime(milliseconds: .min)
    private let rate: CallRate

    init(_ rate: CallRate) { self.rate = rate }

    enum Permit: Sendable, Hashable {
        /// A slot is reserved, after this wait.
        case reserved(wait: Duration)
        /// The wait would exceed the limit; no slot was reserved.
        case tooLate(wait: Duration)
    }

    mutating func reserve(at now: BootTime, limit: Duration) -> Permit {
        let start = max(nextFree, now)
        let wait = max(.zero, start.duration(since: now) - slack)
        if wait > limit { return .tooLate(wait: wait) }
        nextFree = start.advanced(by: rate.interval)
        return .reserved(wait: wait)
    }

    /// Delays all further slots, because the service asked for a pause. One call may follow the pause at once.
    mutating func pause(for pause: Duration, at now: BootTime) {
        nextFree = max(nextFree, now.advanced(by: pause + slack))
    }

    private var slack: Duration { rate.interval * (rate.burst - 1) }
}
