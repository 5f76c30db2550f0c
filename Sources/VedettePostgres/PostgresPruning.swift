// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Deletes what is kept no longer. Autovacuum gives the room back.
///
/// The rows of a batch are an array: for a sub-select the server may read the whole table, which is fast, but not while
/// commits wait for it.
struct PostgresPruning: PruningSteps {
    static let batch = 1000

    let readers: ConnectionWorker
    let writer: JournalWriter

    func endBeyond(_ retention: Retention) async throws(JournalError) -> Timestamp? {
        try await readers.run { connection in
            try connection.run(Self.excessEnd, [retention.endedDeliveries]).first
                .map { Timestamp(milliseconds: try $0.int64(0)) }
        }
    }

    private static let excessEnd =
        "select ended_at from delivery where ended_at is not null order by ended_at desc limit 1 offset $1"

    func deleteDeliveries(
        endedBefore time: Timestamp, from start: Timestamp
    ) async throws(JournalError) -> Timestamp? {
        try await writer.write(nil) { transaction in
            let rows = try transaction.run(
                Self.deleteEnded, [start.milliseconds, time.milliseconds, Self.batch])
            try Self.subtract(rows, transaction)
            let ends = try rows.map { try $0.int64(1) }
            return ends.count < Self.batch ? nil : ends.max().map(Timestamp.init(milliseconds:))
        }
    }

    private static let deleteEnded = """
        delete from delivery where id = any(array(
          select id from delivery where ended_at >= $1 and ended_at < $2 order by ended_at limit $3))
        returning \(DeliveryRows.bytes), ended_at
        """

    func deleteEvents(
        before time: Timestamp, from position: PruningPosition
    ) async throws(JournalError) -> PruningPosition? {
        try await writer.write(nil) { transaction in
            let rows = try transaction.run(
                Self.oldEvents, [position.time, position.seq, time.milliseconds, Self.batch])
            var last = position
            var unnamed: [Int64] = []
            for row in rows {
                last = PruningPosition(time: try row.int64(0), seq: try row.int64(1))
                if !(try row.bool(2)) { unnamed.append(last.seq) }
            }
            try Self.subtract(try transaction.run(Self.deleteUnnamed, [SQLArray(unnamed)]), transaction)
            return rows.count < Self.batch ? nil : last
        }
    }

    /// A value, and not `exists`: for that the server may read the deliveries of all events, to look there for a few.
    private static let oldEvents = """
        select time, seq, (select true from delivery where event = e.seq limit 1) is not null from event e
        where (time, seq) > ($1, $2) and time < $3 order by time, seq limit $4
        """

    private static let deleteUnnamed =
        "delete from event where seq = any(array(select unnest($1::bigint[]))) returning octet_length(body)"

    private static func subtract(_ rows: SQLRows, _ transaction: Transaction) throws {
        for row in rows { transaction.count(bytes: -(try row.int64(0))) }
    }

    func deleteOutdated(_ retention: Retention) async throws(JournalError) {
        try await writer.write(nil) { transaction in
            StoppedSinkRows.delete(before: retention.sourcesBefore, except: retention.sinks, transaction)
            PollLatenessRows.delete(before: retention.sourcesBefore, transaction)
        }
    }

    func abandonedSources(_ retention: Retention) async throws(JournalError) -> [String] {
        let abandoned = "select name from source where coalesce(polled_at, 0) < $1"
        return try await readers.run { connection in
            try connection.run(abandoned, [retention.sourcesBefore.milliseconds]).map { try $0.text(0) }
                .filter { !retention.sources.contains($0) }
        }
    }

    /// Empties its record: without one the next poll is a baseline, which replaces the items that are left.
    func retire(_ source: String, _ retention: Retention) async throws(JournalError) -> Bool {
        let retire = "update source set record = '{}' where name = $1 and coalesce(polled_at, 0) < $2"
        return try await writer.write(nil) { transaction in
            try transaction.run(retire, [source, retention.sourcesBefore.milliseconds]).changed > 0
        }
    }

    func delete(_ source: String) async throws(JournalError) -> Bool {
        try await writer.write(nil) { transaction in
            let retired = try transaction.run("select 1 from source where name = $1 and record = '{}'", [source])
            guard retired.count > 0 else { return true }
            let deleted = try transaction.run(Self.deleteItems, [source, Self.batch]).changed
            guard deleted < Self.batch else { return false }
            try transaction.run("delete from source where name = $1", [source])
            return true
        }
    }

    private static let deleteItems =
        "delete from item where source = $1 and key = any(array(select key from item where source = $1 limit $2))"
}
