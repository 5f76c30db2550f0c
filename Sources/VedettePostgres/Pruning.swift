// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Deletes what is kept no longer, a bounded number of rows per transaction, so that a commit waits for one batch at
/// most. Autovacuum gives the room back.
enum Pruning {
    static let batch = 1000

    /// Returns the time before which ended deliveries go, by age or since there are too many.
    static func endOfKept(_ connection: Connection, _ retention: Retention) throws -> Timestamp {
        let newest = try connection.run(
            "select ended_at from delivery where ended_at is not null order by ended_at desc limit 1 offset $1",
            [retention.endedDeliveries]
        ).first?.int64(0)
        return max(retention.eventsBefore, Timestamp(milliseconds: newest ?? .min))
    }

    /// Deletes a batch of deliveries that ended before a time.
    /// - Returns: whether there may be more.
    static func endedDeliveries(_ transaction: Transaction, before: Timestamp) throws -> Bool {
        let rows = try transaction.run(
            """
            delete from delivery where id in (select id from delivery where ended_at < $1 order by ended_at limit $2)
            returning \(DeliveryRows.bytes)
            """, [before.milliseconds, batch])
        try subtract(rows, transaction)
        return rows.count == batch
    }

    /// A position in the order of time: events that must stay are skipped once, not once per batch.
    struct Position: Sendable {
        var time = Int64.min
        var seq = Int64.min
    }

    /// Deletes a batch of events that no delivery names. A delivery that ended lately keeps its event, so that `explain`
    /// and `outbox retry` still find it.
    /// - Returns: the position after the batch; nil at the end.
    static func events(_ transaction: Transaction, before: Timestamp, from position: Position) throws -> Position? {
        let rows = try transaction.run(
            """
            select time, seq, exists (select 1 from delivery where event = e.seq) from event e
            where (time, seq) > ($1, $2) and time < $3 order by time, seq limit $4
            """, [position.time, position.seq, before.milliseconds, batch])
        var last = position
        var unnamed: [Int64] = []
        for row in rows {
            last = Position(time: try row.int64(0), seq: try row.int64(1))
            if !(try row.bool(2)) { unnamed.append(last.seq) }
        }
        let delete = "delete from event where seq = $1 returning octet_length(body)"
        for deleted in try transaction.run(unnamed.map { SQLCommand(delete, [$0]) }) {
            try subtract(deleted, transaction)
        }
        return rows.count < batch ? nil : last
    }

    private static func subtract(_ rows: SQLRows, _ transaction: Transaction) throws {
        for row in rows { transaction.count(bytes: -(try row.int64(0))) }
    }

    /// Finds the sources that are no longer configured and were last polled long ago.
    static func abandonedSources(_ connection: Connection, _ retention: Retention) throws -> [String] {
        try connection.run(
            "select name from source where coalesce(polled_at, 0) < $1", [retention.sourcesBefore.milliseconds]
        ).map { try $0.text(0) }.filter { !retention.sources.contains($0) }
    }

    /// Deletes a batch of a source's items, and with the last of them the source.
    /// - Returns: true when the source is gone.
    static func source(_ transaction: Transaction, _ name: String) throws -> Bool {
        let deleted = try transaction.run(
            "delete from item where source = $1 and key in (select key from item where source = $1 limit $2)",
            [name, batch]
        ).changed
        guard deleted < batch else { return false }
        try transaction.run("delete from source where name = $1", [name])
        return true
    }
}
