// SPDX-License-Identifier: Apache-2.0

/// Decides when the cookies of a session are removed from memory (I8): a while after it was used last, as after a reload some
/// sessions are never used again. Stored cookies are loaded again when a session is used again.
struct SessionExpiry {
    /// Milliseconds: a day.
    static let lifetime: Int64 = 86_400_000
    static let maximumSessions = 10_000
    private static let sweepInterval: Int64 = 3_600_000

    private var lastUse: [String: Int64] = [:]
    private var sweptAt: Int64?

    /// Records that a session is used.
    ///
    /// - Parameter now: milliseconds of a clock that never jumps.
    /// - Returns: the sessions that were removed.
    mutating func markUsed(_ session: String, now: Int64) -> [String] {
        lastUse[session] = now
        let isFull = lastUse.count > SessionExpiry.maximumSessions
        guard isFull || now - (sweptAt ?? now) >= SessionExpiry.sweepInterval else {
            sweptAt = sweptAt ?? now
            return []
        }
        sweptAt = now
        var removed = lastUse.filter { now - $0.value >= SessionExpiry.lifetime }.map(\.key)
        for session in removed { lastUse[session] = nil }
        guard lastUse.count > SessionExpiry.maximumSessions else { return removed }
        // Removes a tenth more, so that not every further session sorts all of them.
        let surplus = lastUse.count - SessionExpiry.maximumSessions * 9 / 10
        let oldest = lastUse.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key).filter { $0 != session }
        for session in oldest.prefix(surplus) { lastUse[session] = nil }
        removed += oldest.prefix(surplus)
        return removed
    }
}
