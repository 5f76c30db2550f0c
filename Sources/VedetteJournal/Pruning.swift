// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Deletes what is kept no longer, a bounded number of rows per transaction, so that a commit waits for one batch at
/// most. SQLite reuses the pages.
enum Pruning {
    static let batch = 1000

    /// Returns the time before which ended deliveries go, by age or since there are too many.
    static func endOfKept(_ db: Database, _ retention: Retention) throws -> Timestamp {
        let newest = try Int64.fetchOne(
            db.cachedStatement(sql: excessEnd), arguments: [retention.endedDeliveries])
        return max(retention.eventsBefore, Timestamp(milliseconds: newest ?? .min))
    }

    static let excessEnd =
        "select ended_at from delivery where ended_at is not null order by ended_at desc limit 1 offset ?"

    /// Deletes a batch of deliveries that ended before a time.
    /// - Returns: rows deleted; fewer than a batch when none is left.
    static func endedDeliveries(_ db: Database, before: Timestamp) throws -> Int {
        try db.cachedStatement(
            sql: "delete from delivery where id in (select id from delivery where ended_at < ? limit ?)"
        ).execute(arguments: [before.milliseconds, batch])
        return db.changesCount
    }

    /// A position in the order of time: events that must stay are skipped once, not once per batch.
    struct Position: Sendable {
        var time = Int64.min
        var seq = Int64.min
    }

    /// Deletes a batch of events that no delivery names. A delivery that ended lately keeps its event, so that `explain`
    /// and `outbox retry` still find it.
    /// - Returns: the position after the batch; nil at the end.
    static func events(_ db: Database, before: Timestamp, from position: Position) throws -> Position? {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: oldEvents),
            arguments: [position.time, position.seq, before.milliseconds, batch])
        var old: [(seq: Int64, isNamed: Bool)] = []
        var last = position
        while let row = try rows.next() {
            last = Position(time: row[0], seq: row[1])
            old.append((last.seq, row[2]))
        }
        let delete = try db.cachedStatement(sql: "delete from event where seq = ?")
        for event in old where !event.isNamed { try delete.execute(arguments: [event.seq]) }
        return old.count < batch ? nil : last
    }

    static let oldEvents = """
        select time, seq, exists (select 1 from delivery where event = e.seq) from event e
        where (time, seq) > (?, ?) and time < ? order by time, seq limit ?
        """

    /// Finds the sources that are no longer configured and were last polled long ago.
    static func abandonedSources(_ db: Database, _ retention: Retention) throws -> [Int64] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "select id, name from source where coalesce(polled_at, due, 0) < ?"),
            arguments: [retention.sourcesBefore.milliseconds])
        var abandoned: [Int64] = []
        while let row = try rows.next() {
            if !retention.sources.contains(row[1]) { abandoned.append(row[0]) }
        }
        return abandoned
    }

    /// Takes an abandoned source out of use before its items go, which needs several transactions: a source that comes back
    /// meanwhile, or after a crash, begins anew and not with a part of its items.
    /// - Returns: false when it was polled since it was found.
    static func retire(_ db: Database, _ id: Int64, _ retention: Retention) throws -> Bool {
        try db.cachedStatement(
            sql:
                "update source set name = '/pruned/' || id, record = '{}' where id = ? and coalesce(polled_at, due, 0) < ?"
        ).execute(arguments: [id, retention.sourcesBefore.milliseconds])
        return db.changesCount > 0
    }

    /// Deletes a batch of a source's items, and with the last of them the source.
    /// - Returns: true when the source is gone.
    static func source(_ db: Database, _ id: Int64) throws -> Bool {
        try db.cachedStatement(
            sql: "delete from item where source = ?1 and key in (select key from item where source = ?1 limit ?2)"
        ).execute(arguments: [id, batch])
        guard db.changesCount < batch else { return false }
        try db.cachedStatement(sql: "delete from source where id = ?").execute(arguments: [id])
        return true
    }
}
