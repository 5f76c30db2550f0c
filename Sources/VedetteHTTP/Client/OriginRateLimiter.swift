// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The limits on concurrency and start interval of each origin, as its requests ask for them; the strictest limit holds.
///
/// A limit that no request repeats expires, so that a relaxed configuration takes effect without a restart. Times are
/// milliseconds of a clock that never jumps.
struct OriginRateLimiter {
    private struct Limit {
        var concurrency: Int
        /// Milliseconds; 0 for none.
        var interval: Int64
        var expiry: Int64
    }

    private struct Entry {
        var limits: [Limit] = []
        var lastStart: Int64?
    }

    /// How long a limit holds after it was last asked for, or twice its interval where that is longer.
    static let lifetime: Int64 = 600_000
    /// About a year.
    private static let maximumInterval: Int64 = 1 << 35
    /// Origins beyond which those with expired limits are removed (I8).
    private static let maximumEntries = 4096

    /// The origins that have limits; most have none.
    private var entries: [String: Entry] = [:]

    /// Adds the limits that a request asks for.
    ///
    /// - Parameter isBusy: whether a request to the origin is running.
    mutating func add(_ originLimits: OriginLimits, to origin: String, isBusy: Bool, now: Int64) {
        let interval = min(max(0, originLimits.interval?.wholeMilliseconds ?? 0), OriginRateLimiter.maximumInterval)
        let concurrency = min(
            max(1, originLimits.concurrency ?? OriginLimits.maximumConcurrency), OriginLimits.maximumConcurrency)
        let expiry = now + max(OriginRateLimiter.lifetime, interval * 2)
        if entries[origin] == nil {
            if entries.count >= OriginRateLimiter.maximumEntries { removeExpired(now: now) }
            // Running requests started before the origin had an interval: now at the latest.
            entries[origin] = Entry(lastStart: isBusy ? now : nil)
        }
        let limit = Limit(concurrency: concurrency, interval: interval, expiry: expiry)
        entries[origin]?.limits.removeAll {
            $0.expiry <= now || ($0.concurrency == concurrency && $0.interval == interval)
        }
        entries[origin]?.limits.append(limit)
    }

    private mutating func removeExpired(now: Int64) {
        entries = entries.filter { $0.value.limits.contains { $0.expiry > now } }
    }

    /// Returns how many requests to the origin may run at once.
    func concurrency(of origin: String, now: Int64) -> Int {
        guard !entries.isEmpty, let entry = entries[origin] else { return OriginLimits.maximumConcurrency }
        return entry.limits.filter { $0.expiry > now }.map(\.concurrency).min() ?? OriginLimits.maximumConcurrency
    }

    /// Returns when the next request to the origin may start; nil when it may start now.
    func nextStart(of origin: String, now: Int64) -> Int64? {
        guard !entries.isEmpty, let entry = entries[origin], let last = entry.lastStart,
            let interval = entry.limits.filter({ $0.expiry > now }).map(\.interval).max(), last + interval > now
        else { return nil }
        return last + interval
    }

    /// Records that a request to the origin has started.
    mutating func started(_ origin: String, now: Int64) {
        guard !entries.isEmpty, entries[origin] != nil else { return }
        entries[origin]?.lastStart = now
    }
}
