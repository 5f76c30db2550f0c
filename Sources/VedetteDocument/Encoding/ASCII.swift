// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// A control character other than tab, line feed and carriage return.
    var isControl: Bool { self < 0x20 && self != 0x09 && self != 0x0A && self != 0x0D }
    /// A letter of ASCII.
    var isLetter: Bool { self | 0x20 >= 0x61 && self | 0x20 <= 0x7A }
    /// A digit of ASCII.
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    /// White space of JSON, which is XML's, too.
    var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
    /// An upper-case letter of ASCII as its lower-case one, any other byte as it is.
    var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    /// The value of a hexadecimal digit.
    var hexValue: UInt32? {
        switch lowercased {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(lowercased - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Removes the first line and returns it without its line feed; nil at the end. An array of all lines takes many times the
    /// size of a body whose lines are short.
    mutating func takeLine() -> ArraySlice<UInt8>? {
        guard !isEmpty else { return nil }
        let line = prefix { $0 != UInt8(ascii: "\n") }
        self = dropFirst(line.count + 1)
        return line
    }
}
