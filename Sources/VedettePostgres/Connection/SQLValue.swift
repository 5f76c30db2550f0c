// SPDX-License-Identifier: Apache-2.0

/// A value of a statement.
protocol SQLValue {
    /// Its text format.
    var sqlText: [UInt8] { get }
}

extension Int64: SQLValue {
    var sqlText: [UInt8] { Array(String(self).utf8) }
}

extension Int: SQLValue {
    var sqlText: [UInt8] { Array(String(self).utf8) }
}

extension Bool: SQLValue {
    var sqlText: [UInt8] { [self ? 0x74 : 0x66] }
}

extension String: SQLValue {
    var sqlText: [UInt8] { SQLText.encode(Array(utf8)) }
}

/// A text as its UTF-8 bytes.
struct UTF8Text: SQLValue {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// PostgreSQL refuses a text that is no UTF-8.
    var sqlText: [UInt8] { SQLText.encode(Array(String(decoding: bytes, as: UTF8.self).utf8)) }
}
