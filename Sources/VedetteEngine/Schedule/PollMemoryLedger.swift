// SPDX-License-Identifier: Apache-2.0

/// Decides which poll gets memory for what it reads, and which one waits. A pure value.
///
/// - A share of at most `maximumSmall` waits for other small ones alone, so that no large list delays a feed. Small shares
///   hold a quarter of the limit, large ones the rest.
/// - The oldest share of each size that waits for nothing else never waits here, and may pass the limit: so every poll comes
///   to its end, and waiting shares cannot block each other.
/// - A share that waits for the network is parked: others pass it. Large shares may be parked up to half of the limit, or one;
///   small ones up to the limit.
struct PollMemoryLedger {
    typealias ID = UInt64

    /// Bytes of a small share. A feed of 200 KB with 500 entries takes less.
    static let maximumSmall = 2 << 20

    private struct Share {
        var bytes = 0
        /// What it waits for; nil when it does not wait.
        var wanted: Int?
        var isParked = false

        var isLarge: Bool { max(bytes, wanted ?? 0) > maximumSmall }
    }

    private let limit: Int
    /// By age.
    private var shares: [ID: Share] = [:]
    private var waiting = Set<ID>()
    private var lastID: ID = 0
    private(set) var usedBySmall = 0
    private(set) var usedByLarge = 0

    init(limit: Int) { self.limit = limit }

    /// Bytes of all shares.
    var used: Int { usedBySmall + usedByLarge }

    /// Opens a share when its first body has arrived: a poll is as old as its body.
    mutating func open() -> ID {
        lastID += 1
        shares[lastID] = Share()
        return lastID
    }

    /// Asks for a larger share; one that is large enough is granted as it is.
    /// - Returns: false when it must wait until `takeGranted` names it.
    mutating func request(_ id: ID, _ bytes: Int) -> Bool {
        guard let share = shares[id] else { return false }
        shares[id]?.isParked = false
        guard bytes > share.bytes else { return true }
        shares[id]?.wanted = bytes
        if grant(id) { return true }
        waiting.insert(id)
        return false
    }

    func isWaiting(_ id: ID) -> Bool { waiting.contains(id) }

    /// Stops waiting; the share stays as it is.
    mutating func cancel(_ id: ID) {
        waiting.remove(id)
        shares[id]?.wanted = nil
    }

    /// Lets others pass the share until its next request.
    /// - Returns: false when too much is parked: its poll must not wait with what it has read.
    mutating func park(_ id: ID) -> Bool {
        guard let share = shares[id] else { return true }
        let parked = shares.filter { $0.key != id && $0.value.isParked && $0.value.isLarge == share.isLarge }.values
        let bytes = parked.reduce(share.bytes) { $0 + $1.bytes }
        guard parked.isEmpty || bytes <= (share.isLarge ? limit / 2 : limit) else { return false }
        shares[id]?.isParked = true
        return true
    }

    mutating func close(_ id: ID) {
        set(id, to: 0)
        waiting.remove(id)
        shares[id] = nil
    }

    /// Returns the shares for which there is room now, the oldest first.
    mutating func takeGranted() -> [ID] {
        guard !waiting.isEmpty else { return [] }
        var granted: [ID] = []
        for id in waiting.sorted() where grant(id) {
            waiting.remove(id)
            granted.append(id)
        }
        return granted
    }

    private mutating func grant(_ id: ID) -> Bool {
        guard let share = shares[id], let wanted = share.wanted else { return true }
        let isLarge = wanted > PollMemoryLedger.maximumSmall
        let used = isLarge ? usedByLarge : usedBySmall
        let own = share.bytes > PollMemoryLedger.maximumSmall || !isLarge ? share.bytes : 0
        guard used - own + wanted <= (isLarge ? limit / 4 * 3 : limit / 4) || isOldest(id, isLarge) else {
            return false
        }
        shares[id]?.wanted = nil
        set(id, to: wanted)
        return true
    }

    private func isOldest(_ id: ID, _ isLarge: Bool) -> Bool {
        !shares.contains {
            $0.key < id && !$0.value.isParked && $0.value.bytes + ($0.value.wanted ?? 0) > 0
                && $0.value.isLarge == isLarge
        }
    }

    private mutating func set(_ id: ID, to bytes: Int) {
        guard let old = shares[id]?.bytes else { return }
        count(old, -old)
        count(bytes, bytes)
        shares[id]?.bytes = bytes
    }

    private mutating func count(_ size: Int, _ change: Int) {
        if size > PollMemoryLedger.maximumSmall { usedByLarge += change } else { usedBySmall += change }
    }
}
