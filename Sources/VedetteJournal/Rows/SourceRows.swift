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

    static func records(
        _ db: Database, _ files: JournalFiles, _ cache: SourceRecordCache
    ) throws -> [SourceRecord] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "select name, record from source order by name"))
        return try cache.records {
            try rows.next().map { row in
                let record: UTF8Column = row[1]
                return (row[0], record.bytes)
            }
        } decode: { name, row in
            try decode(name, UTF8Column(row), files)
        }
    }

    static func record(_ db: Database, _ files: JournalFiles, of source: String) throws -> SourceRecord? {
        let body = try UTF8Column.fetchOne(
            db.cachedStatement(sql: "select record from source where name = ?"), arguments: [source])
        return try body.map { try decode(source, $0, files) }
    }

    private static func decode(_ name: String, _ record: UTF8Column, _ files: JournalFiles) throws -> SourceRecord {
        guard let json = try? JSON(parsing: record.bytes) else {
            throw JournalError.corrupt(files, "the row of source '\(name)' is unreadable")
        }
        return SourceRecord(name: name, json: json)
    }

    static let selectItems = "select key, digest, shown, absent_since, state_since, body from item where source = ?"

    static func items(_ db: Database, of source: String) throws -> [String: StoredItem] {
        let head = try Row.fetchOne(
            db.cachedStatement(sql: "select id, count from source where name = ?"), arguments: [source])
        guard let head else { return [:] }
        let (id, count): (Int64, Int) = (head[0], head[1])
        var items: [String: StoredItem] = [:]
        items.reserveCapacity(count)
        let rows = try Row.fetchCursor(db.cachedStatement(sql: selectItems), arguments: [id])
        while let row = try rows.next() {
            let item = item(row)
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
            if let row = try Row.fetchOne(select, arguments: [id, key]) { items[key] = item(row) }
        }
        return items
    }

    static func items(_ db: Database, of source: String, from offset: Int, limit: Int) throws -> [StoredItem] {
        let id = try Int64.fetchOne(
            db.cachedStatement(sql: "select id from source where name = ?"), arguments: [source])
        guard let id else { return [] }
        let select = selectItems + " and absent_since is null order by key limit ? offset ?"
        return try Row.fetchAll(db.cachedStatement(sql: select), arguments: [id, limit, offset]).map(item)
    }

    private static func item(_ row: Row) -> StoredItem {
        let (digest, shown, absent, since): (Int64, Int64, Int64?, Int64) = (row[1], row[2], row[3], row[4])
        let (key, body): (String, UTF8Column) = (row[0], row[5])
        return StoredItem(
            key: key, digest: UInt64(bitPattern: digest), shown: UInt64(bitPattern: shown),
            absentSince: absent.map(Timestamp.init(milliseconds:)), stateSince: Timestamp(milliseconds: since),
            body: body.bytes)
    }
}
