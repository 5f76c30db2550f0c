// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Finds pending deliveries that exceed the bounds of their sinks.
enum OverflowRows {
    /// Bytes of a delivery: its texts and its event.
    private static let size = """
        length(cast(d.title as blob)) + length(cast(d.text as blob)) +
          length(cast(coalesce(d.event_body, (select body from event where seq = d.event), '') as blob))
        """

    static let totals = "select d.sink, count(*), sum(\(size)) from delivery d where d.ended_at is null group by d.sink"

    static func of(_ limits: [OutboxLimit], most: Int, _ db: Database) throws -> Overflow {
        var overflow = Overflow()
        let limits = Dictionary(limits.map { ($0.sink, $0) }) { first, _ in first }
        for row in try Row.fetchAll(db, sql: totals) {
            let (sink, count, bytes): (String, Int, Int64) = (row[0], row[1], row[2])
            overflow.pending += count
            guard let limit = limits[sink] else { continue }
            overflow.excess += try excess(limit, count: count, bytes: bytes, most: most, db)
        }
        return overflow
    }

    /// Finds the excess of one bound at a time: the next step finds the others.
    private static func excess(
        _ limit: OutboxLimit, count: Int, bytes: Int64, most: Int, _ db: Database
    ) throws -> [(delivery: Delivery, by: Overflow.Excess)] {
        let pending = "where d.sink = ? and d.ended_at is null"
        let order = limit.bound.policy == .dropOldest ? "d.id" : "d.id desc"
        func select(_ condition: String, _ arguments: [any DatabaseValueConvertible]) throws -> [Delivery] {
            try DeliveryRows.select(
                db, sql: "\(DeliveryRows.columns) \(condition)", StatementArguments([limit.sink] + arguments)
            ).map(\.delivery)
        }
        if let oldest = limit.oldest {
            let old = try select("\(pending) and d.created < ? order by d.id limit ?", [oldest.milliseconds, most])
            if !old.isEmpty { return old.map { ($0, .age) } }
        }
        if count > limit.bound.count {
            return try select("\(pending) order by \(order) limit ?", [min(count - limit.bound.count, most)])
                .map { ($0, .count) }
        }
        guard bytes > limit.bound.bytes else { return [] }
        let sizes = try Int64.fetchCursor(
            db, sql: "select \(size) from delivery d \(pending) order by \(order) limit ?",
            arguments: [limit.sink, most])
        var (over, number) = (bytes - limit.bound.bytes, 0)
        while over > 0, let size = try sizes.next() { (over, number) = (over - size, number + 1) }
        return try select("\(pending) order by \(order) limit ?", [number]).map { ($0, .bytes) }
    }
}
