// SPDX-License-Identifier: Apache-2.0

/// Limits how often each client asks: a bucket of tokens an address, refilled over time.
struct RequestRate: Sendable {
    /// Requests that an address may make at once.
    let burst: Double
    /// Requests a second that it may go on with.
    let perSecond: Double
    /// Addresses that are remembered; beyond them those with full buckets are forgotten, which changes nothing.
    let addresses: Int
    private var buckets: [PageRequest.Peer: (tokens: Double, at: ContinuousClock.Instant)] = [:]

    init(burst: Int, perSecond: Int, addresses: Int = 4096) {
        (self.burst, self.perSecond, self.addresses) = (Double(burst), Double(perSecond), addresses)
    }

    /// Takes a token; returns false when the address has none.
    mutating func take(_ peer: PageRequest.Peer, at now: ContinuousClock.Instant) -> Bool {
        let left = tokens(of: peer, at: now)
        guard left >= 1 else { return false }
        if buckets[peer] == nil, buckets.count >= addresses { forget(at: now) }
        buckets[peer] = (left - 1, now)
        return true
    }

    private func tokens(of peer: PageRequest.Peer, at now: ContinuousClock.Instant) -> Double {
        guard let bucket = buckets[peer] else { return burst }
        return min(burst, bucket.tokens + (now - bucket.at) / .seconds(1) * perSecond)
    }

    /// With every bucket in use all are forgotten: memory counts more than a limit for that many clients.
    private mutating func forget(at now: ContinuousClock.Instant) {
        buckets = buckets.filter { tokens(of: $0.key, at: now) < burst }
        if buckets.count >= addresses { buckets = [:] }
    }
}
