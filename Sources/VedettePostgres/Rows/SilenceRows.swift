// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `silence`.
enum SilenceRows {
    static func all(_ connection: Connection) throws -> [Silence] {
        try connection.run(select).map(SilenceRow.decode)
    }

    static let select = "select \(SilenceRow.columns) from silence order by id"

    static func add(_ silence: Silence, _ transaction: Transaction) throws -> Int64 {
        try transaction.run(
            """
            insert into silence (rule, source, item, until, until_state, created, sink, drops, begins, fields)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id
            """,
            [
                silence.rule, silence.source, silence.item, silence.until?.milliseconds, silence.untilState,
                silence.created.milliseconds, silence.sink, silence.drops,
                silence.from?.milliseconds, SilenceRow.fields(silence),
            ]
        ).first?.int64(0) ?? 0
    }

    static func end(_ ids: [Int64], _ transaction: Transaction) {
        for id in ids { transaction.enqueue("delete from silence where id = $1", [id]) }
    }

    /// - Returns: how many of them existed.
    static func endNow(_ ids: [Int64], _ transaction: Transaction) throws -> Int {
        try transaction.run(ids.map { SQLCommand("delete from silence where id = $1", [$0]) })
            .reduce(0) { $0 + $1.changed }
    }

    static func endOver(before wall: Timestamp, _ transaction: Transaction) {
        transaction.enqueue("delete from silence where until <= $1", [wall.milliseconds])
    }
}
