// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// A row of SQLite, as the decoders of both stores read it.
struct SQLiteRow: StoredRow {
    private let row: Row

    init(_ row: Row) { self.row = row }

    func optionalInt64(_ column: Int) -> Int64? { row[column] }

    func optionalText(_ column: Int) -> String? { row[column] }

    func optionalBytes(_ column: Int) -> [UInt8]? { (row[column] as UTF8Column?)?.bytes }

    func bool(_ column: Int) throws(UnreadableRow) -> Bool { try int64(column) != 0 }
}

extension RowCursor {
    /// Decodes all rows that are left, without those that have no value.
    func decode<Value>(_ decode: (SQLiteRow) throws -> Value?) throws -> [Value] {
        var values: [Value] = []
        while let row = try next() {
            if let value = try decode(SQLiteRow(row)) { values.append(value) }
        }
        return values
    }
}
