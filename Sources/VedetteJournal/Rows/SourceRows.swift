// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `source` and `item`.
enum SourceRows {
    /// Inserts or replaces a source's row. The columns beside `record` repeat what queries ask for; that one is the whole.
    static let upsert = """
        insert into source (name, due, polled_at, good_at, count, failing, record) values (?, ?, ?, ?, ?, ?, ?)
        on conflict (name) do update set due = excluded.due, polled_at = excluded.polled_at,
          good_at = excluded.good_at, count = excluded.count, failing = excluded.failing, record = excluded.record
        returning id
        """

    /// Replaces a source's row that exists.
    static let update = """
        update source set due = ?, polled_at = ?, good_at = ?, count = ?, failing = ?, record = ? where name = ?
        """

    /// - Returns: false when the source has no row yet.
    static func update(
        _ record: SourceRecord, body: [UInt8], with update: Statement, _ db: Database
    ) throws -> Bool {
        try update.execute(arguments: [
            record.due?.milliseconds, record.health.lastPollAt?.milliseconds, record.snapshot?.goodAt.milliseconds,
            record.snapshot?.count ?? 0, record.health.isFailing, UTF8Column(body), record.name,
        ])
        return db.changesCount > 0
    }

    /// - Parameter body: the record as it is stored.
    @discardableResult
    static func write(_ record: SourceRecord, body: [UInt8], with upsert: Statement) throws -> Int64 {
        let arguments: StatementArguments = [
            record.name, record.due?.milliseconds, record.health.lastPollAt?.milliseconds,
            record.snapshot?.goodAt.milliseconds, record.snapshot?.count ?? 0, record.health.isFailing,
            UTF8Column(body),
        ]
        guard let id = try Int64.fetchOne(upsert, arguments: arguments) else {
            throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a source got no id")
        }
        return id
    }

    static func records(_ db: Database, _ cache: SourceRecordCache) throws -> [SourceRecord] {
        let select = "select \(SourceRow.columns) from source where name is not null order by name"
        let rows = try Row.fetchCursor(db.cachedStatement(sql: select))
        return try cache.records {
            guard let row = try rows.next().map(SQLiteRow.init) else { return nil }
            return try (row.text(0), row.bytes(1))
        } decode: { name, body in
            try SourceRow.record(name, body)
        }
    }

    static func record(_ db: Database, of source: String) throws -> SourceRecord? {
        let select = "select \(SourceRow.columns) from source where name = ?"
        return try Row.fetchOne(db.cachedStatement(sql: select), arguments: [source])
            .map { try SourceRow.decode(SQLiteRow($0)) }
    }

    static let selectItems = "select \(ItemRow.columns) from item where source = ?"

    static let selectItemsByName =
        "select \(ItemRow.columns) from item where source = (select id from source where name = ?)"

    static func items(_ db: Database, of source: String) throws -> [String: StoredItem] {
        var items: [String: StoredItem] = [:]
        let rows = try Row.fetchCursor(db.cachedStatement(sql: selectItemsByName), arguments: [source])
        while let row = try rows.next() {
            let item = try ItemRow.decode(SQLiteRow(row))
            items[item.key] = item
        }
        return items
    }

    static func items(
        _ db: Database, of source: String, withKeys keys: Set<String>
    ) throws -> [String: StoredItem] {
        let id = try Int64.fetchOne(
            db.cachedStatement(sql: "select id from source where name = ?"), arguments: [source])
        guard let id else { return [:] }
        let select = try db.cachedStatement(sql: selectItems + " and key = ?")
        var items: [String: StoredItem] = [:]
        for key in keys {
            items[key] = try Row.fetchOne(select, arguments: [id, key]).map { try ItemRow.decode(SQLiteRow($0)) }
        }
        return items
    }

    static func items(_ db: Database, of source: String, from offset: Int, limit: Int) throws -> [StoredItem] {
        let id = try Int64.fetchOne(
            db.cachedStatement(sql: "select id from source where name = ?"), arguments: [source])
        guard let id else { return [] }
        let select = selectItems + " and absent_since is null order by key limit ? offset ?"
        return try Row.fetchCursor(db.cachedStatement(sql: select), arguments: [id, limit, offset])
            .decode(ItemRow.decode)
    }
}
