// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows that an eviction reads and writes.
struct SQLiteQueues: EvictableQueues {
    let db: Database

    private static let queue = "from delivery indexed by delivery_queue where sink = ? and ended_at is null"

    func pending() throws -> Int { try QueueTotalRows.counts(db).reduce(0) { $0 + $1.pending } }

    func count(of sink: String) throws -> SinkCount { try QueueTotalRows.count(of: sink, db) }

    func expired(in sink: String, before oldest: Timestamp, limit: Int) throws -> [QueuedDelivery] {
        try Row.fetchAll(
            db.cachedStatement(sql: "select id, rule, subject \(Self.queue) and created < ? order by id limit ?"),
            arguments: [sink, oldest.milliseconds, limit]
        ).map { QueuedDelivery(id: $0[0], rule: $0[1], subject: $0[2]) }
    }

    private static let passable =
        "select id, rule, subject \(queue) and (chain is not '' or id in (select value from json_each(?)))"
        + " order by id limit ?"

    func passable(in sink: String, keeping kept: Set<Int64>, limit: Int) throws -> [QueuedDelivery] {
        let ids = kept.map(String.init).joined(separator: ",")
        return try Row.fetchAll(db.cachedStatement(sql: Self.passable), arguments: [sink, "[\(ids)]", limit])
            .map { QueuedDelivery(id: $0[0], rule: $0[1], subject: $0[2]) }
    }

    func visit(
        _ sink: String, newestFirst: Bool, limit: Int, _ visit: (_ id: Int64, _ bytes: Int64) -> Bool
    ) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: "select id, bytes \(Self.queue) order by id\(newestFirst ? " desc" : "") limit ?"),
            arguments: [sink, limit])
        while let row = try rows.next(), visit(row[0], row[1]) {}
    }

    static let earlier =
        DeliveryRow.selectEarlier(type: "json_extract(d.event_body, '$.type')")
        + " where d.sink = ? and d.rule = ? and d.subject in (select value from json_each(?)) and d.id < ?"
        + " and d.ended_at is null and (? or d.event is null) order by d.id desc limit ?"

    func earlier(_ searches: [EarlierDeliveries]) throws -> [EarlierDelivery] {
        try searches.flatMap { search in
            let subjects = JSON.array(search.subjects.map(JSON.string)).bytes
            return try Row.fetchCursor(
                db.cachedStatement(sql: Self.earlier),
                arguments: [
                    search.sink, search.rule, UTF8Column(subjects), search.before, !search.areOfRules,
                    EarlierDeliveries.limit,
                ]
            ).decode(DeliveryRow.decodeEarlier)
        }
    }

    func deliveries(_ ids: [Int64]) throws -> [Delivery] {
        let select = DeliveryRow.select + " where d.id = ?"
        return try ids.compactMap { try DeliveryRows.select(db, sql: select, [$0]).first?.delivery }
    }

    func write(_ attempts: [Attempt]) throws -> [Delivery] { try AttemptRows.write(attempts, db) }
}
