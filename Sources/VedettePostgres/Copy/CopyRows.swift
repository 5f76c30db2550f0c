// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of tables as a copy reads and writes them.
enum CopyRows {
    // MARK: Reading

    /// Reads the next rows of a table in the order of its key.
    static func read(
        _ table: JournalTable, after last: JournalRow?, limit: Int, _ connection: Connection
    ) throws -> [JournalRow] {
        let key = last.map { $0.prefix(table.keyCount).map(\.sqlValue) } ?? []
        return try connection.run(select(table, isFirst: last == nil), key + [limit]).map { row in
            try table.columns.enumerated().map { index, column in
                switch column.kind {
                case .integer, .flag: try row.optionalInt64(index).map(JournalValue.integer) ?? .null
                case .text: row.optionalBytes(index).map(JournalValue.text) ?? .null
                }
            }
        }
    }

    static func select(_ table: JournalTable, isFirst: Bool) -> String {
        let key = table.key.map(\.name).joined(separator: ", ")
        let markers = (1...table.keyCount).map { "$\($0)" }.joined(separator: ", ")
        let after = isFirst ? "" : " where (\(key)) > (\(markers))"
        let columns = table.columns.map { $0.kind == .flag ? "\($0.name)::integer" : $0.name }
        return """
            select \(columns.joined(separator: ", ")) from \(table.name)\(after) order by \(key)
            limit $\(isFirst ? 1 : table.keyCount + 1)
            """
    }

    // MARK: Writing

    /// Returns the statements that add rows, and count their texts.
    static func inserts(_ rows: [JournalRow], into table: JournalTable) throws -> [SQLCommand] {
        switch table {
        case .source: return try rows.map(sourceInsert)
        case .event, .delivery:
            let bytes = rows.reduce(0) { $0 + textBytes(of: $1, table) }
            return inserts(of: rows, table) + [SQLCommand("update journal set bytes = bytes + $1", [bytes])]
        default: return inserts(of: rows, table)
        }
    }

    private static func inserts(of rows: [JournalRow], _ table: JournalTable) -> [SQLCommand] {
        let markers = table.columns.enumerated().map { index, column in
            column.kind == .flag ? "$\(index + 1)::integer::boolean" : "$\(index + 1)"
        }
        // The numbers of requests and silences are the server's to give, unless they are copied.
        let insert = """
            insert into \(table.name) (\(table.names)) overriding system value values (\(markers.joined(separator: ", ")))
            """
        return rows.map { SQLCommand(insert, $0.map(\.sqlValue)) }
    }

    /// Returns the bytes of the texts that `journal.bytes` counts.
    static func textBytes(of row: JournalRow, _ table: JournalTable) -> Int64 {
        let names = table == .event ? ["body"] : ["title", "text", "event_body"]
        return zip(table.columns, row).reduce(0) { $0 + (names.contains($1.0.name) ? Int64($1.1.bytes.count) : 0) }
    }

    /// Writes a record as it is stored, with the column that repeats what queries ask for.
    private static func sourceInsert(_ row: JournalRow) throws -> SQLCommand {
        let name = String(decoding: row[0].bytes, as: UTF8.self)
        guard let json = try? JSON(parsing: row[1].bytes) else {
            throw JournalError(.corrupt, "the row of source '\(name)' is unreadable: restore a backup")
        }
        let record = SourceRecord(name: name, json: json)
        return SQLCommand(
            "insert into source (name, polled_at, record) values ($1, $2, $3)",
            [name, SourceRows.polledAt(record), UTF8Text(row[1].bytes)])
    }

    // MARK: Numbers

    static func numbers(_ connection: Connection) throws -> JournalNumbers {
        let row = try connection.run(
            """
            select last_seq, last_delivery, coalesce(pg_sequence_last_value(\(sequence(of: .request))), 0),
              coalesce(pg_sequence_last_value(\(sequence(of: .silence))), 0) from journal
            """
        ).first
        var numbers = JournalNumbers()
        guard let row else { return numbers }
        (numbers.seq, numbers.delivery) = (try row.int64(0), try row.int64(1))
        (numbers.request, numbers.silence) = (try row.int64(2), try row.int64(3))
        return numbers
    }

    static func update(_ numbers: JournalNumbers) -> [SQLCommand] {
        let sequences = [(JournalTable.request, numbers.request), (.silence, numbers.silence)].filter { $0.1 > 0 }
        return [
            SQLCommand("update journal set last_seq = $1, last_delivery = $2", [numbers.seq, numbers.delivery])
        ] + sequences.map { SQLCommand("select setval(\(sequence(of: $0.0)), $1)", [$0.1]) }
    }

    private static func sequence(of table: JournalTable) -> String {
        "pg_get_serial_sequence('\(table.name)', 'id')::regclass"
    }
}

extension JournalValue {
    var sqlValue: (any SQLValue)? {
        switch self {
        case .null: nil
        case .integer(let number): number
        case .text(let bytes): UTF8Text(bytes)
        }
    }
}
