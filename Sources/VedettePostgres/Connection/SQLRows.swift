// SPDX-License-Identifier: Apache-2.0

import CPQ
import VedetteCore

/// The rows that a statement returned.
final class SQLRows: Sequence {
    private let result: OpaquePointer

    /// Takes over a result of libpq.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    /// How many rows a statement without `returning` changed.
    var changed: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    var first: SQLRow? { count > 0 ? SQLRow(rows: self, index: 0) : nil }

    func makeIterator() -> AnyIterator<SQLRow> {
        var next = 0
        return AnyIterator {
            guard next < self.count else { return nil }
            defer { next += 1 }
            return SQLRow(rows: self, index: Int32(next))
        }
    }

    /// The bytes of a value in the text format; nil for null.
    fileprivate func bytes(_ row: Int32, _ column: Int32) -> UnsafeBufferPointer<UInt8>? {
        guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else { return nil }
        let count = Int(PQgetlength(result, row, column))
        return value.withMemoryRebound(to: UInt8.self, capacity: count) {
            UnsafeBufferPointer(start: $0, count: count)
        }
    }
}

/// One row of a result. Only another program can have stored a value of another type than asked for.
struct SQLRow: StoredRow {
    fileprivate let rows: SQLRows
    fileprivate let index: Int32

    func optionalBytes(_ column: Int) -> [UInt8]? {
        rows.bytes(index, Int32(column)).map { SQLText.decode(Array($0)) }
    }

    func optionalText(_ column: Int) -> String? { optionalBytes(column).map { String(decoding: $0, as: UTF8.self) } }

    func optionalInt64(_ column: Int) throws(UnreadableRow) -> Int64? {
        guard let text = optionalText(column) else { return nil }
        guard let number = Int64(text) else { throw UnreadableRow(column: column) }
        return number
    }

    func bool(_ column: Int) throws(UnreadableRow) -> Bool { try text(column) == "t" }
}
