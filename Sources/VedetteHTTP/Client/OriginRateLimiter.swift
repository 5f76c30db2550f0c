// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// What requests have said about how their origins are to be treated: the strictest word holds. A word that is not
/// repeated is forgotten, so that a configuration that has become laxer takes hold without a restart.
struct OriginRateLimiter {
    private struct Word {
        var concurrency: Int
        /// Milliseconds; 0 for none.
        var interval: Int64
        var until: Int64
    }

    private struct Entry {
        var words: [Word] = []
        var lastStart: Int64?
    }

    /// How long a word holds after it was said, or twice its interval where that is longer.
    static let memory: Int64 = 600_000
    /// About a year.
    private static let longest: Int64 = 1 << 35
    /// Entries beyond which the silent ones are dropped (I8).
    private static let most = 4096

    /// Of origins that somebody has spoken of; most have none.
    private var entries: [String: Entry] = [:]

    mutating func heard(_ originLimits: OriginLimits, of origin: String, isBusy: Bool, now: Int64) {
        let interval = min(max(0, originLimits.interval?.wholeMilliseconds ?? 0), OriginRateLimiter.longest)
        let concurrency = min(max(1, originLimits.concurrency ?? RequestQueue.perOrigin), RequestQueue.perOrigin)
        let until = now + max(OriginRateLimiter.memory, interval * 2)
        if entries[origin] == nil {
            if entries.count >= OriginRateLimiter.most { forget(now: now) }
            // Who runs already started before anybody spoke of an interval: at the latest now.
            entries[origin] = Entry(lastStart: isBusy ? now : nil)
        }
        let word = Word(concurrency: concurrency, interval: interval, until: until)
        entries[origin]?.words.removeAll {
            $0.until <= now || ($0.concurrency == concurrency && $0.interval == interval)
        }
        entries[origin]?.words.append(word)
    }

    private mutating func forget(now: Int64) {
        entries = entries.filter { $0.value.words.contains { $0.until > now } }
    }

    func concurrency(at origin: String, now: Int64) -> Int {
        guard !entries.isEmpty, let entry = entries[origin] else { return RequestQueue.perOrigin }
        return entry.words.filter { $0.until > now }.map(\.concurrency).min() ?? RequestQueue.perOrigin
    }

    /// Until when nothing may start at the origin; nil when something may.
    func rest(of origin: String, now: Int64) -> Int64? {
        guard !entries.isEmpty, let entry = entries[origin], let last = entry.lastStart,
            let interval = entry.words.filter({ $0.until > now }).map(\.interval).max(), last + interval > now
        else { return nil }
        return last + interval
    }

    mutating func started(_ origin: String, now: Int64) {
        guard !entries.isEmpty, entries[origin] != nil else { return }
        entries[origin]?.lastStart = now
    }
}
