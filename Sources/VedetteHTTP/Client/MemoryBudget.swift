// SPDX-License-Identifier: Apache-2.0

import Synchronization
import VedetteCore

/// The memory for response bodies, in bytes over all transfers (I8): while a body is received, decoded, and read by the
/// caller of `fetch`, it holds a share.
///
/// `MemoryLedger` decides; this makes it safe to use from any thread, since a share ends where its response ends.
final class MemoryBudget: Sendable {
    /// In bytes: a quarter of what I8 allows. What polls make of bodies may take the rest (`PollMemory`), which is many times
    /// as much for each byte.
    static let standard = 64 << 20

    fileprivate let ledger: Mutex<MemoryLedger>

    init(limit: Int, maximumSmall: Int = MemoryLedger.maximumSmall) {
        ledger = Mutex(MemoryLedger(limit: limit, maximumSmall: maximumSmall))
    }

    /// Bytes of all shares.
    var used: Int { ledger.withLock { $0.used } }

    /// Returns the shares that had to make room since the last call; their transfers must end.
    func takeEvicted() -> [MemoryLedger.ID] { ledger.withLock { $0.takeEvicted() } }

    func share(isSlow: Bool) -> MemoryShare { MemoryShare(self, ledger.withLock { $0.open(isSlow: isSlow) }) }
}

/// The share of one body. It is given back with its last reference.
final class MemoryShare: Sendable {
    let id: MemoryLedger.ID
    private let budget: MemoryBudget

    fileprivate init(_ budget: MemoryBudget, _ id: MemoryLedger.ID) { (self.budget, self.id) = (budget, id) }

    deinit { budget.ledger.withLock { $0.close(id) } }

    /// Grows or shrinks the share. Returns false when the body must be dropped.
    func resize(to bytes: Int) -> Bool { budget.ledger.withLock { $0.resize(id, to: bytes) } }

    /// Marks the body as complete: from here on it makes room for no other. Returns false when it must be dropped.
    func complete() -> Bool { budget.ledger.withLock { $0.complete(id) } }
}

/// Decides which body gets memory and which one is dropped when there is none left. A pure value.
///
/// - Slow hosts hold at most a quarter of the limit, and large bodies three quarters: large ones that wait for their readers leave
///   room for small ones, so that small polls wait for small ones alone.
/// - Beyond a limit the largest body of a slow host is dropped, else the newest body; a complete one never is, since its
///   reader has it.
/// - The oldest body that is not complete is never dropped, and may pass the limit: else many that are half received could
///   all be dropped, again and again. One body at a time may do so, until its memory is given back.
struct MemoryLedger {
    /// A later body has a greater id.
    typealias ID = UInt64

    private struct Share {
        var bytes = 0
        var isSlow: Bool
        var isComplete = false
        var isEvicted = false
    }

    /// Bytes of a small body: what is read from it is a small share of `PollMemory`.
    static let maximumSmall = 200 << 10

    private let limit: Int
    private let maximumSmall: Int
    private var usedByLarge = 0
    private var shares: [ID: Share] = [:]
    private var lastID: ID = 0
    private(set) var used = 0
    private var usedBySlow = 0
    /// The share that has passed the limit.
    private var exempt: ID?
    private var evicted: [ID] = []

    init(limit: Int, maximumSmall: Int = maximumSmall) { (self.limit, self.maximumSmall) = (limit, maximumSmall) }

    mutating func open(isSlow: Bool) -> ID {
        lastID += 1
        shares[lastID] = Share(isSlow: isSlow)
        return lastID
    }

    mutating func close(_ id: ID) {
        set(id, to: 0)
        shares[id] = nil
        if exempt == id { exempt = nil }
    }

    /// - Returns: false when the share is evicted or must not grow.
    mutating func resize(_ id: ID, to bytes: Int) -> Bool {
        guard let share = shares[id], !share.isEvicted else { return false }
        let growth = bytes - share.bytes
        guard growth <= 0 || makeRoom(for: growth, of: id, share) else { return false }
        set(id, to: bytes)
        return true
    }

    /// - Returns: false when the share is evicted.
    mutating func complete(_ id: ID) -> Bool {
        guard shares[id]?.isEvicted == false else { return false }
        shares[id]?.isComplete = true
        return true
    }

    mutating func takeEvicted() -> [ID] {
        guard !evicted.isEmpty else { return [] }
        defer { evicted = [] }
        return evicted
    }

    private mutating func makeRoom(for growth: Int, of id: ID, _ share: Share) -> Bool {
        while share.isSlow, usedBySlow + growth > limit / 4 {
            if !evictAnother(for: growth, of: id, \.isSlow) { return passesLimit(id) }
        }
        let isLarge = isLarge(share.bytes + growth)
        let large = isLarge ? usedByLarge + growth + (self.isLarge(share.bytes) ? 0 : share.bytes) : usedByLarge
        if isLarge, large > limit / 4 * 3 {
            let maximumSmall = maximumSmall
            if evictAnother(for: growth, of: id, { $0.bytes > maximumSmall }) {
                return makeRoom(for: growth, of: id, share)
            }
            return passesLimit(id)
        }
        // What a large body has beyond its part, since it may pass the limit, is not taken from small ones.
        if used + growth - usedByLarge + min(usedByLarge, limit / 4 * 3) > limit {
            if evictAnother(for: growth, of: id) { return makeRoom(for: growth, of: id, share) }
            return passesLimit(id)
        }
        return true
    }

    /// - Returns: false when the share itself is the one to be dropped.
    private mutating func evictAnother(
        for growth: Int, of id: ID, _ isIncluded: (Share) -> Bool = { _ in true }
    ) -> Bool {
        func size(_ share: (key: ID, value: Share)) -> Int { share.value.bytes + (share.key == id ? growth : 0) }
        let kept = exempt ?? oldest
        let candidates = shares.filter {
            $0.key != kept && !$0.value.isComplete && size($0) > 0 && ($0.key == id || isIncluded($0.value))
        }
        let slow = candidates.filter(\.value.isSlow).max { (size($0), $0.key) < (size($1), $1.key) }
        guard let victim = slow?.key ?? candidates.keys.max(), victim != id else { return false }
        set(victim, to: 0)
        shares[victim]?.isEvicted = true
        evicted.append(victim)
        return true
    }

    private func isLarge(_ bytes: Int) -> Bool { bytes > maximumSmall }

    private mutating func passesLimit(_ id: ID) -> Bool {
        guard exempt == id || (exempt == nil && oldest == id) else { return false }
        exempt = id
        return true
    }

    private var oldest: ID? { shares.filter { !$0.value.isComplete && !$0.value.isEvicted }.keys.min() }

    private mutating func set(_ id: ID, to bytes: Int) {
        guard let share = shares[id] else { return }
        used += bytes - share.bytes
        if share.isSlow { usedBySlow += bytes - share.bytes }
        usedByLarge += (isLarge(bytes) ? bytes : 0) - (isLarge(share.bytes) ? share.bytes : 0)
        shares[id]?.bytes = bytes
    }
}

extension FetchError {
    static func memory(_ origin: String) -> FetchError {
        FetchError(.memory, "the memory for responses is used up; the one of \(origin) was dropped")
    }
}
