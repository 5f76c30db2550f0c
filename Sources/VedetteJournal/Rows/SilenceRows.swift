// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `silence`.
enum SilenceRows {
    static func all(_ db: Database) throws -> [Silence] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    select id, rule, source, item, until, until_state, created, sink, drops from silence order by id
                    """))
        var silences: [Silence] = []
        while let row = try rows.next() {
            let until: Int64? = row[4]
            silences.append(
                Silence(
                    id: row[0], rule: row[1], source: row[2], item: row[3],
                    until: until.map(Timestamp.init(milliseconds:)), untilState: row[5], sink: row[7], drops: row[8],
                    created: Timestamp(milliseconds: row[6])))
        }
        return silences
    }

    static func add(_ silence: Silence, _ db: Database) throws -> Int64 {
        try db.execute(
            sql: """
                insert into silence (rule, source, item, until, until_state, created, sink, drops)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                silence.rule, silence.source, silence.item, silence.until?.milliseconds, silence.untilState,
                silence.created.milliseconds, silence.sink, silence.drops,
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
