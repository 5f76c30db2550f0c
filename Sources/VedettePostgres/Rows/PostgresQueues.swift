// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows that an eviction reads and writes.
struct PostgresQueues: EvictableQueues {
    let transaction: Transaction

    func pending() throws -> Int { try QueueTotalRows.counts(transaction).reduce(0) { $0 + $1.pending } }

    func count(of sink: String) throws -> SinkCount { try QueueTotalRows.count(of: sink, transaction) }

    func expired(in sink: String, before oldest: Timestamp, limit: Int) throws -> [Int64] {
        try transaction.run(
            "select id from delivery where sink = $1 and ended_at is null and created < $2 order by id limit $3",
            [sink, oldest.milliseconds, limit]
        ).map { try $0.int64(0) }
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

    func earlier(_ filters: [EarlierDeliveries]) throws -> [[Delivery]] {
        let sql =
            DeliveryRow.select
            + " where d.sink = $1 and d.rule = $2 and d.subject in ($3, $4) and d.id < $5 and d.ended_at is null"
            + " and ($6::bigint = 0 or d.event is null) order by d.id desc limit $7"
        let commands = filters.map { filter in
            SQLCommand(
                sql,
                [
                    filter.sink, filter.rule, filter.subjects.0, filter.subjects.1, filter.before,
                    Int64(filter.areOfRules ? 1 : 0), EarlierDeliveries.limit,
                ])
        }
        return try transaction.run(commands).map { try $0.map { try DeliveryRow.decode($0).delivery } }
    }

    func deliveries(_ ids: [Int64]) throws -> [Delivery] { try DeliveryRows.select(ids, transaction) }

    func write(_ attempts: [Attempt]) throws -> [Delivery] { try AttemptRows.write(attempts, transaction) }
}
