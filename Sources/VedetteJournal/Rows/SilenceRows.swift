// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `silence`.
enum SilenceRows {
    static func all(_ db: Database) throws -> [Silence] {
        try Row.fetchCursor(db.cachedStatement(sql: "select \(SilenceRow.columns) from silence order by id"))
            .decode(SilenceRow.decode)
    }

    static func add(_ silence: Silence, _ db: Database) throws -> Int64 {
        try db.execute(
            sql: """
                insert into silence (rule, source, item, until, until_state, created, sink, drops, begins, fields)
                values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                silence.rule, silence.source, silence.item, silence.until?.milliseconds, silence.untilState,
                silence.created.milliseconds, silence.sink, silence.drops,
                silence.from?.milliseconds, SilenceRow.fields(silence),
            ])
        return db.lastInsertedRowID
    }

    /// - Returns: how many of them existed.
    static func end(_ ids: [Int64], _ db: Database) throws -> Int {
        let delete = try db.cachedStatement(sql: "delete from silence where id = ?")
        var count = 0
        for id in ids {
            try delete.execute(arguments: [id])
            count += db.changesCount
        }
        return count
    }

    static func endOver(before wall: Timestamp, _ db: Database) throws {
        try db.execute(sql: "delete from silence where until <= ?", arguments: [wall.milliseconds])
    }
}
