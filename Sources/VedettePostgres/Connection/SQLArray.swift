// SPDX-License-Identifier: Apache-2.0

/// An array of values of one type, in the format that PostgreSQL reads
/// (https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO). The statement casts it to that type.
struct SQLArray: SQLValue {
    /// In the text format; nil for null.
    private let elements: [[UInt8]?]

    init(_ elements: some Sequence<(any SQLValue)?>) { self.elements = elements.map { $0?.sqlText } }

    init(_ elements: some Sequence<String>) { self.elements = elements.map(\.sqlText) }

    var sqlText: [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        for element in elements {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            guard let element else {
                text += Array("NULL".utf8)
                continue
            }
            text.append(UInt8(ascii: "\""))
            for byte in element {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            text.append(UInt8(ascii: "\""))
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
