// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Ends pending deliveries beyond the limits of their queues, in the transaction at hand. It lives no longer than that.
struct QueueEviction {
    private let limits: QueueLimits
    private let db: Database
    private var evicted: [Delivery] = []
    private var successors: [Delivery] = []
    /// By id, where it is in `evicted`.
    private var places: [Int64: Int] = [:]

    init(_ limits: QueueLimits, _ db: Database) { (self.limits, self.db) = (limits, db) }

    var result: Eviction { Eviction(evicted: evicted, successors: applied(to: successors)) }

    /// Applies the bounds of the queues that got deliveries.
    mutating func apply(after added: [Delivery]) throws {
        guard !limits.bounds.isEmpty else { return }
        var added = QueueEviction.count(added)
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

    static let queue = "from delivery indexed by delivery_queue where sink = ? and ended_at is null"

    private func expired(in sink: String, before oldest: Timestamp) throws -> [Victim] {
        try Int64.fetchAll(
            db.cachedStatement(sql: "select id \(QueueEviction.queue) and created < ? order by id limit ?"),
            arguments: [sink, oldest.milliseconds, QueueLimits.step]
        ).map { ($0, .age) }
    }

    private func beyondBound(of sink: String, most: Int) throws -> [Victim] {
        guard let bound = limits.bounds[sink] else { return [] }
        let total = try QueueTotalRows.count(of: sink, db)
        var (count, bytes) = (total.pending, total.pendingBytes)
        guard count > bound.count || bytes > bound.bytes else { return [] }
        let order = bound.policy == .dropOldest ? "id" : "id desc"
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "select id, bytes \(QueueEviction.queue) order by \(order) limit ?"),
            arguments: [sink, most])
        var victims: [Victim] = []
        while count > bound.count || bytes > bound.bytes, let row = try rows.next() {
            let size: Int64 = row[1]
            victims.append((row[0], count > bound.count ? .count : .bytes))
            (count, bytes) = (count - 1, bytes - size)
        }
        return victims
    }

    /// - Returns: the successors of those that ended.
    private mutating func end(_ victims: [Victim]) throws -> [Delivery] {
        let select = DeliveryRows.columns + " where d.id = ?"
        var attempts: [Attempt] = []
        for victim in victims {
            guard var delivery = try DeliveryRows.select(db, sql: select, [victim.id]).first?.delivery else { continue }
            let attempt = limits.end(delivery, victim.excess)
            attempts.append(attempt)
            (delivery.state, delivery.reason) = (attempt.state, attempt.reason)
            places[delivery.id] = evicted.count
            evicted.append(delivery)
        }
        let next = try AttemptRows.write(attempts, db)
        successors += next
        return next
    }

    private static func count(_ deliveries: [Delivery]) -> [String: Int] {
        deliveries.reduce(into: [:]) { counts, delivery in
            if delivery.state.isPending { counts[delivery.message.sink, default: 0] += 1 }
        }
    }
}
