// SPDX-License-Identifier: Apache-2.0

/// When each session was last used. A reload may leave sessions behind that nobody asks with again: their cookies are let
/// go (I8); those of the journal are read again should somebody come.
struct SessionCache {
    /// Milliseconds: a day.
    static let longest: Int64 = 86_400_000
    static let most = 10_000
    private static let sweep: Int64 = 3_600_000

    private var lastUse: [String: Int64] = [:]
    private var sweptAt: Int64?

    /// - Parameter now: on a clock that never jumps.
    /// - Returns: the sessions that are forgotten.
    mutating func used(_ session: String, now: Int64) -> [String] {
        lastUse[session] = now
        let isFull = lastUse.count > SessionCache.most
        guard isFull || now - (sweptAt ?? now) >= SessionCache.sweep else {
            sweptAt = sweptAt ?? now
            return []
        }
        sweptAt = now
        var forgotten = lastUse.filter { now - $0.value >= SessionCache.longest }.map(\.key)
        for session in forgotten { lastUse[session] = nil }
        guard lastUse.count > SessionCache.most else { return forgotten }
        // A tenth more, so that not every further session looks through all of them.
        let surplus = lastUse.count - SessionCache.most * 9 / 10
        let oldest = lastUse.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key).filter { $0 != session }
        for session in oldest.prefix(surplus) { lastUse[session] = nil }
        forgotten += oldest.prefix(surplus)
        return forgotten
    }
}
