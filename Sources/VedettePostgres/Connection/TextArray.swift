// SPDX-License-Identifier: Apache-2.0

/// A value of the type `text[]`, in the format that PostgreSQL reads
/// (https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO).
struct TextArray: SQLValue {
    private let elements: [String]

    init(_ elements: some Sequence<String>) { self.elements = Array(elements) }

    var sqlText: [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        for element in elements {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(UInt8(ascii: "\""))
            for byte in element.sqlText {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            text.append(UInt8(ascii: "\""))
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
