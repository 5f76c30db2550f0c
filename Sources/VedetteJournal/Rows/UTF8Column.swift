// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite

/// A text column as its UTF-8 bytes, without a String on the way out.
struct UTF8Column: DatabaseValueConvertible, StatementColumnConvertible {
    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init?(sqliteStatement: SQLiteStatement, index: CInt) {
        // The order matters: asking for the length first could convert the value after its address was taken.
        let address = sqlite3_column_text(sqliteStatement, index)
        let count = Int(sqlite3_column_bytes(sqliteStatement, index))
        bytes = Array(UnsafeBufferPointer(start: address, count: address == nil ? 0 : count))
    }

    var databaseValue: DatabaseValue { String(decoding: bytes, as: UTF8.self).databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> UTF8Column? {
        String.fromDatabaseValue(value).map { UTF8Column(Array($0.utf8)) }
    }
}
