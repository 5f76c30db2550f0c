// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Deletes what is kept no longer. SQLite reuses the pages.
struct SQLitePruning: PruningSteps {
    static let batch = 1000

    let store: JournalStore

    func endBeyond(_ retention: Retention) async throws(JournalError) -> Timestamp? {
        try await store.read { db in
            try Int64.fetchOne(db.cachedStatement(sql: Self.excessEnd), arguments: [retention.endedDeliveries])
                .map(Timestamp.init(milliseconds:))
        }
    }

    static let excessEnd =
        "select ended_at from delivery where ended_at is not null order by ended_at desc limit 1 offset ?"

    func deleteDeliveries(
        endedBefore time: Timestamp, from start: Timestamp
    ) async throws(JournalError) -> Timestamp? {
        try await store.write { db in
            let ends = try Int64.fetchAll(
                db.cachedStatement(sql: Self.deleteEnded),
                arguments: [start.milliseconds, time.milliseconds, Self.batch])
            return ends.count < Self.batch ? nil : ends.max().map(Timestamp.init(milliseconds:))
        }
    }

    private static let deleteEnded = """
        delete from delivery where id in (
          select id from delivery where ended_at >= ? and ended_at < ? order by ended_at limit ?)
        returning ended_at
        """

    func deleteEvents(
        before time: Timestamp, from position: PruningPosition
    ) async throws(JournalError) -> PruningPosition? {
        try await store.write { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: Self.oldEvents),
                arguments: [position.time, position.seq, time.milliseconds, Self.batch])
            var old: [(seq: Int64, isNamed: Bool)] = []
            var last = position
            while let row = try rows.next() {
                last = PruningPosition(time: row[0], seq: row[1])
                old.append((last.seq, row[2]))
            }
            let delete = try db.cachedStatement(sql: "delete from event where seq = ?")
            for event in old where !event.isNamed { try delete.execute(arguments: [event.seq]) }
            return old.count < Self.batch ? nil : last
        }
    }

    static let oldEvents = """
        select time, seq, exists (select 1 from delivery where event = e.seq) from event e
        where (time, seq) > (?, ?) and time < ? order by time, seq limit ?
        """

    func deleteOutdated(_ retention: Retention) async throws(JournalError) {
        try await store.write { db in
            try StoppedSinkRows.delete(before: retention.sourcesBefore, except: retention.sinks, db)
            try PollLatenessRows.delete(before: retention.sourcesBefore, db)
        }
    }

    /// - Returns: the ids of their rows.
    func abandonedSources(_ retention: Retention) async throws(JournalError) -> [Int64] {
        try await store.read { db in
            let rows = try Row.fetchCursor(
                db.cachedStatement(sql: "select id, name from source where coalesce(polled_at, due, 0) < ?"),
                arguments: [retention.sourcesBefore.milliseconds])
            var abandoned: [Int64] = []
            while let row = try rows.next() {
                let name: String? = row[1]
                if name.map(retention.sources.contains) != true { abandoned.append(row[0]) }
            }
            return abandoned
        }
    }

    func retire(_ source: Int64, _ retention: Retention) async throws(JournalError) -> Bool {
        let retire = """
            update source set name = null, record = '{}'
            where id = ? and coalesce(polled_at, due, 0) < ?
            """
        return try await store.write { db in
            try db.cachedStatement(sql: retire).execute(arguments: [source, retention.sourcesBefore.milliseconds])
            return db.changesCount > 0
        }
    }

    func delete(_ source: Int64) async throws(JournalError) -> Bool {
        try await store.write { db in
            try db.cachedStatement(
                sql: "delete from item where source = ?1 and key in (select key from item where source = ?1 limit ?2)"
            ).execute(arguments: [source, Self.batch])
            guard db.changesCount < Self.batch else { return false }
            try db.cachedStatement(sql: "delete from source where id = ?").execute(arguments: [source])
            return true
        }
    }
}
