// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows that an eviction reads and writes.
struct PostgresQueues: EvictableQueues {
    let transaction: Transaction

    func pending() throws -> Int { try QueueTotalRows.counts(transaction).reduce(0) { $0 + $1.pending } }

    func count(of sink: String) throws -> SinkCount { try QueueTotalRows.count(of: sink, transaction) }

    func expired(in sink: String, before oldest: Timestamp, limit: Int) throws -> [QueuedDelivery] {
        try transaction.run(
            "select id, rule, subject from delivery where sink = $1 and ended_at is null and created < $2 order by id limit $3",
            [sink, oldest.milliseconds, limit]
        ).map { QueuedDelivery(id: try $0.int64(0), rule: try $0.text(1), subject: try $0.text(2)) }
    }

    func passable(in sink: String, keeping kept: Set<Int64>, limit: Int) throws -> [QueuedDelivery] {
        try transaction.run(
            """
            select id, rule, subject from delivery where sink = $1 and ended_at is null
              and (chain is distinct from '' or id = any($2::bigint[])) order by id limit $3
            """, [sink, SQLArray(kept.map { $0 as (any SQLValue)? }), limit]
        ).map { QueuedDelivery(id: try $0.int64(0), rule: try $0.text(1), subject: try $0.text(2)) }
    }

    func visit(
        _ sink: String, newestFirst: Bool, limit: Int, _ visit: (_ id: Int64, _ bytes: Int64) -> Bool
    ) throws {
        let rows = try transaction.run(
            """
            select id, bytes from delivery where sink = $1 and ended_at is null
            order by id \(newestFirst ? "desc" : "asc") limit $2
            """, [sink, limit])
        for row in rows { guard visit(try row.int64(0), try row.int64(1)) else { break } }
    }

    func earlier(_ searches: [EarlierDeliveries]) throws -> [EarlierDelivery] {
        // Not as JSON: PostgreSQL refuses to read a member beside a text with U+0000. The type stands before all that is quoted.
        let sql =
            DeliveryRow.selectEarlier(type: "substring(d.event_body from '\"type\":\"([^\"]*)\"')")
            + " where d.sink = $1 and d.rule = $2 and d.subject = any($3::text[]) and d.id < $4 and d.ended_at is null"
            + " and ($5::bigint = 0 or d.event is null) order by d.id desc limit $6"
        let commands = searches.map { search in
            SQLCommand(
                sql,
                [
                    search.sink, search.rule, SQLArray(Array(search.subjects)), search.before,
                    Int64(search.areOfRules ? 1 : 0), EarlierDeliveries.limit,
                ])
        }
        return try transaction.run(commands).flatMap { try $0.compactMap(DeliveryRow.decodeEarlier) }
    }

    func deliveries(_ ids: [Int64]) throws -> [Delivery] { try DeliveryRows.select(ids, transaction) }

    func write(_ attempts: [Attempt]) throws -> [Delivery] { try AttemptRows.write(attempts, transaction) }
}
