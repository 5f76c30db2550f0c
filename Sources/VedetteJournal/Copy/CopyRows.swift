// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of tables as a copy reads and writes them.
enum CopyRows {
    // MARK: Reading

    /// Reads the next rows of a table in the order of its key.
    static func read(
        _ table: JournalTable, after last: JournalRow?, limit: Int, _ db: Database
    ) throws -> [JournalRow] {
        if table == .item { return try items(after: last, limit: limit, db) }
        let key = last.map { $0.prefix(table.keyCount).map(\.databaseValue) } ?? []
        return try fetch(table, select(table, isFirst: last == nil), key + [limit.databaseValue], db)
    }

    static func select(_ table: JournalTable, isFirst: Bool) -> String {
        let key = table.key.map(\.name).joined(separator: ", ")
        // A source that is given up has no name, and its rows are being deleted.
        let first = table == .source ? " where name is not null" : ""
        let after = isFirst ? first : " where (\(key)) > (\(table.key.map { _ in "?" }.joined(separator: ", ")))"
        return "select \(table.names) from \(table.name)\(after) order by \(key) limit ?"
    }

    /// Returns the rest of one source's items, then the next sources' items: one statement for both would read the first
    /// source's items from the beginning.
    private static func items(after last: JournalRow?, limit: Int, _ db: Database) throws -> [JournalRow] {
        let source = last?[0].databaseValue ?? "".databaseValue
        let rest =
            try last.map { try fetch(.item, restOfSource, [source, $0[1].databaseValue, limit.databaseValue], db) }
            ?? []
        guard rest.count < limit else { return rest }
        return rest + (try fetch(.item, nextSources, [source, (limit - rest.count).databaseValue], db))
    }

    static let restOfSource = """
        select s.name, \(ItemRow.columns) from source s cross join item i on i.source = s.id
        where s.name = ? and i.key > ? order by i.key limit ?
        """

    static let nextSources = """
        select s.name, \(ItemRow.columns) from source s cross join item i on i.source = s.id
        where s.name > ? order by s.name, i.key limit ?
        """

    private static func fetch(
        _ table: JournalTable, _ sql: String, _ values: [DatabaseValue], _ db: Database
    ) throws -> [JournalRow] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: StatementArguments(values))
        var found: [JournalRow] = []
        while let row = try rows.next() {
            found.append(
                table.columns.enumerated().map { index, column in
                    switch column.kind {
                    case .integer, .flag: (row[index] as Int64?).map(JournalValue.integer) ?? .null
                    case .text: (row[index] as UTF8Column?).map { .text($0.bytes) } ?? .null
                    }
                })
        }
        return found
    }

    // MARK: Writing

    static func insert(_ rows: [JournalRow], into table: JournalTable, _ db: Database) throws {
        switch table {
        case .source: try insertSources(rows, db)
        case .item:
            // The row of an item has the number of its source.
            let source = "(select id from source where name = ?)"
            try insert(rows, table, db.cachedStatement(sql: insert(into: table, first: source)))
        default: try insert(rows, table, db.cachedStatement(sql: insert(into: table)))
        }
    }

    /// - Parameter first: the expression for the first column.
    static func insert(into table: JournalTable, first: String = "?") -> String {
        let values = [first] + table.columns.dropFirst().map { _ in "?" }
        return "insert into \(table.name) (\(table.names)) values (\(values.joined(separator: ", ")))"
    }

    private static func insert(_ rows: [JournalRow], _ table: JournalTable, _ insert: Statement) throws {
        for row in rows {
            // SQLite's text would end there.
            guard !row.contains(where: { $0.bytes.contains(0) }) else {
                throw JournalError(
                    .refused,
                    "a row of the table '\(table.name)' holds the character U+0000, which a journal in SQLite cannot hold: "
                        + "wait until it is pruned, or drop its message")
            }
            try insert.execute(arguments: StatementArguments(row.map(\.databaseValue)))
        }
    }

    /// Writes records as they are stored, with the columns that repeat what queries ask for.
    private static func insertSources(_ rows: [JournalRow], _ db: Database) throws {
        let upsert = try db.cachedStatement(sql: SourceRows.upsert)
        for row in rows {
            let name = String(decoding: row[0].bytes, as: UTF8.self)
            guard let json = try? JSON(parsing: row[1].bytes) else {
                throw JournalError(.corrupt, "the row of source '\(name)' is unreadable: restore a backup")
            }
            try SourceRows.write(SourceRecord(name: name, json: json), body: row[1].bytes, with: upsert)
        }
    }

    // MARK: Numbers

    static func numbers(_ db: Database) throws -> JournalNumbers {
        func last(_ table: JournalTable) throws -> Int64 {
            try Int64.fetchOne(db, sql: "select seq from sqlite_sequence where name = ?", arguments: [table.name]) ?? 0
        }
        var numbers = JournalNumbers()
        (numbers.seq, numbers.delivery) = (try last(.event), try last(.delivery))
        (numbers.request, numbers.silence) = (try last(.request), try last(.silence))
        return numbers
    }

    static func write(_ numbers: JournalNumbers, _ db: Database) throws {
        let all: [(JournalTable, Int64)] = [
            (.event, numbers.seq), (.delivery, numbers.delivery), (.request, numbers.request),
            (.silence, numbers.silence),
        ]
        for (table, number) in all {
            try db.execute(sql: "delete from sqlite_sequence where name = ?", arguments: [table.name])
            try db.execute(
                sql: "insert into sqlite_sequence (name, seq) values (?, ?)", arguments: [table.name, number])
        }
    }
}

extension JournalValue {
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .text(let bytes): UTF8Column(bytes).databaseValue
        }
    }
}
