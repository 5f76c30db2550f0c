// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `queue_total`, which triggers keep.
enum QueueTotalRows {
    static let sinks = "select distinct sink from queue_total where count > 0"

    static let all = "select sink, state, count, bytes from queue_total where count > 0 order by sink"

    /// Counts the pending and dead deliveries of each sink that has any.
    static func counts(_ db: Database) throws -> [SinkCount] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: all))
        var counts: [SinkCount] = []
        while let row = try rows.next() {
            let (sink, state, number): (String, String, Int) = (row[0], row[1], row[2])
            if counts.last?.sink != sink { counts.append(SinkCount(sink: sink)) }
            counts[counts.count - 1].add(number, state: DeliveryState(rawValue: state), bytes: row[3])
        }
        return counts
    }
}

/// Finds pending deliveries that exceed the bounds of their sinks.
enum OverflowRows {
    static func of(_ limits: [QueueLimit], most: Int, _ db: Database) throws -> Overflow {
        var overflow = Overflow()
        let limits = Dictionary(limits.map { ($0.sink, $0) }) { first, _ in first }
        for count in try QueueTotalRows.counts(db) {
            overflow.pending += count.pending
            guard count.pending > 0, let limit = limits[count.sink] else { continue }
            overflow.excess += try excess(limit, count, most: most, db)
        }
        return overflow
    }

    static let queue = "from delivery d indexed by delivery_queue where d.sink = ? and d.ended_at is null"

    /// Finds the excess of one bound at a time: the next step finds the others.
    private static func excess(
        _ limit: QueueLimit, _ count: SinkCount, most: Int, _ db: Database
    ) throws -> [(delivery: Delivery, by: Overflow.Excess)] {
        let order = limit.bound.policy == .dropOldest ? "d.id" : "d.id desc"
        func select(_ number: Int, order: String, before: Timestamp? = nil) throws -> [Delivery] {
            // The ids from the index alone, then the rows.
            let age = before == nil ? "" : "and d.created < ?"
            let sql = "\(DeliveryRows.columns) where d.id in (select d.id \(queue) \(age) order by \(order) limit ?)"
            var arguments: StatementArguments = [limit.sink]
            if let before { arguments += [before.milliseconds] }
            arguments += [number]
            return try DeliveryRows.select(db, sql: "\(sql) order by \(order)", arguments).map(\.delivery)
        }
        if let oldest = limit.oldest {
            let old = try select(most, order: "d.id", before: oldest)
            if !old.isEmpty { return old.map { ($0, .age) } }
        }
        if count.pending > limit.bound.count {
            return try select(min(count.pending - limit.bound.count, most), order: order).map { ($0, .count) }
        }
        guard count.pendingBytes > limit.bound.bytes else { return [] }
        let sizes = try Int64.fetchCursor(
            db, sql: "select d.bytes \(queue) order by \(order) limit ?", arguments: [limit.sink, most])
        var (over, number) = (count.pendingBytes - limit.bound.bytes, 0)
        while over > 0, let size = try sizes.next() { (over, number) = (over - size, number + 1) }
        return try select(number, order: order).map { ($0, .bytes) }
    }
}
