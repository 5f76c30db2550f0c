// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Ends pending deliveries beyond the limits of their queues, in the transaction at hand. It lives no longer than that.
struct QueueEviction {
    private let limits: QueueLimits
    private let transaction: Transaction
    private var evicted: [Delivery] = []
    private var successors: [Delivery] = []
    /// By id, where it is in `evicted`.
    private var places: [Int64: Int] = [:]

    init(_ limits: QueueLimits, _ transaction: Transaction) { (self.limits, self.transaction) = (limits, transaction) }

    var result: Eviction { Eviction(evicted: evicted, successors: applied(to: successors)) }

    /// Applies the bounds of the queues that got deliveries.
    mutating func apply(after added: [Delivery]) throws {
        var added = QueueEviction.count(added).filter { limits.bounds[$0.key] != nil }
        // A successor may make the queue of a fallback exceed its bound in turn. Chains of fallbacks end.
        while let sink = added.keys.min(), let count = added.removeValue(forKey: sink) {
            let victims = try beyondBound(of: sink, most: count + QueueLimits.step)
            added.merge(QueueEviction.count(try end(victims)), uniquingKeysWith: +)
        }
    }

    /// Applies all limits, by one step for each queue.
    mutating func applyAll() throws {
        var added: [Delivery] = []
        for (sink, oldest) in limits.oldest.sorted(by: { $0.key < $1.key }) {
            added += try end(expired(in: sink, before: oldest))
        }
        for sink in limits.bounds.keys.sorted() { added += try end(beyondBound(of: sink, most: QueueLimits.step)) }
        try apply(after: added)
    }

    /// Returns deliveries of this transaction as they are now.
    func applied(to deliveries: [Delivery]) -> [Delivery] {
        places.isEmpty ? deliveries : deliveries.map { places[$0.id].map { evicted[$0] } ?? $0 }
    }

    private typealias Victim = (id: Int64, excess: QueueLimits.Excess)

    private func expired(in sink: String, before oldest: Timestamp) throws -> [Victim] {
        try transaction.run(
            "select id from delivery where sink = $1 and ended_at is null and created < $2 order by id limit $3",
            [sink, oldest.milliseconds, QueueLimits.step]
        ).map { (try $0.int64(0), .age) }
    }

    private func beyondBound(of sink: String, most: Int) throws -> [Victim] {
        guard let bound = limits.bounds[sink] else { return [] }
        let total = try QueueTotalRows.counts(transaction).first { $0.sink == sink } ?? SinkCount(sink: sink)
        var (count, bytes) = (total.pending, total.pendingBytes)
        guard count > bound.count || bytes > bound.bytes else { return [] }
        let order = bound.policy == .dropOldest ? "asc" : "desc"
        let rows = try transaction.run(
            "select id, bytes from delivery where sink = $1 and ended_at is null order by id \(order) limit $2",
            [sink, most])
        var victims: [Victim] = []
        for row in rows where count > bound.count || bytes > bound.bytes {
            victims.append((try row.int64(0), count > bound.count ? .count : .bytes))
            (count, bytes) = (count - 1, bytes - (try row.int64(1)))
        }
        return victims
    }

    /// - Returns: the successors of those that ended.
    private mutating func end(_ victims: [Victim]) throws -> [Delivery] {
        guard !victims.isEmpty else { return [] }
        let excess = Dictionary(victims.map { ($0.id, $0.excess) }) { first, _ in first }
        var attempts: [Attempt] = []
        for var delivery in try DeliveryRows.select(victims.map(\.id), transaction) {
            let attempt = limits.end(delivery, excess[delivery.id] ?? .count)
            attempts.append(attempt)
            (delivery.state, delivery.reason) = (attempt.state, attempt.reason)
            places[delivery.id] = evicted.count
            evicted.append(delivery)
        }
        let next = try AttemptRows.write(attempts, transaction)
        successors += next
        return next
    }

    private static func count(_ deliveries: [Delivery]) -> [String: Int] {
        deliveries.reduce(into: [:]) { counts, delivery in
            if delivery.state.isPending { counts[delivery.message.sink, default: 0] += 1 }
        }
    }
}
