// SPDX-License-Identifier: Apache-2.0

/// Reads a character that is written plainly or with the escapes of a URL, a form, JSON or HTML.
enum EscapedText {
    /// A URL in a URL in a URL: more levels of percent-encoding than any server has been seen to write.
    private static let maximumLevels = 3
    /// Digits of a reference of HTML, with the zeros that some writers put before them.
    private static let maximumDigits = 8

    /// Whether a byte begins an escape.
    static func begins(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "\\"), UInt8(ascii: "&"): true
        default: false
        }
    }

    /// Returns the end of a character; nil when another one is there.
    /// - Parameter prefersEscapes: how a character that begins an escape, such as `%`, is read where both are possible.
    static func end(
        of scalar: Unicode.Scalar, at start: Int, in bytes: UnsafeBufferPointer<UInt8>,
        prefersEscapes: Bool
    ) -> Int? {
        guard start < bytes.count else { return nil }
        guard begins(bytes[start]) else { return plain(scalar, at: start, in: bytes) }
        return prefersEscapes
            ? escaped(scalar, at: start, in: bytes) ?? plain(scalar, at: start, in: bytes)
            : plain(scalar, at: start, in: bytes) ?? escaped(scalar, at: start, in: bytes)
    }

    private static func plain(
        _ scalar: Unicode.Scalar, at start: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var position = start
        for byte in scalar.utf8 {
            guard position < bytes.count, bytes[position] == byte else { return nil }
            position += 1
        }
        return position
    }

    private static func escaped(
        _ scalar: Unicode.Scalar, at start: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        switch bytes[start] {
        case UInt8(ascii: "+"): return scalar == " " ? start + 1 : nil
        case UInt8(ascii: "%"):
            var position = start
            for byte in scalar.utf8 {
                guard let end = percent(byte, at: position, in: bytes) else { return nil }
                position = end
            }
            return position
        case UInt8(ascii: "\\"): return json(scalar, at: start, in: bytes)
        default: return html(scalar, at: start, in: bytes)
        }
    }

    /// Returns the end of one byte that is percent-encoded up to three times.
    private static func percent(_ byte: UInt8, at start: Int, in bytes: UnsafeBufferPointer<UInt8>)
        -> Int?
    {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "%") else { return nil }
        var position = start + 1
        for _ in 0..<maximumLevels {
            guard position + 2 <= bytes.count, let high = digit(bytes[position]),
                let low = digit(bytes[position + 1])
            else { return nil }
            position += 2
            let value = high << 4 | low
            if value == byte { return position }
            // An encoded `%`, whose own digits follow.
            guard value == 0x25 else { return nil }
        }
        return nil
    }

    /// The escapes of RFC 8259 §7.
    private static func json(
        _ scalar: Unicode.Scalar, at start: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        guard start + 1 < bytes.count else { return nil }
        switch (bytes[start + 1], scalar) {
        case (UInt8(ascii: "\""), "\""), (UInt8(ascii: "\\"), "\\"), (UInt8(ascii: "/"), "/"),
            (UInt8(ascii: "t"), "\t"), (UInt8(ascii: "n"), "\n"), (UInt8(ascii: "r"), "\r"),
            (UInt8(ascii: "b"), "\u{8}"), (UInt8(ascii: "f"), "\u{C}"):
            return start + 2
        case (UInt8(ascii: "u"), _):
            var position = start
            for unit in scalar.utf16 {
                guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
                    bytes[position + 1] == UInt8(ascii: "u")
                else { return nil }
                let digits = bytes[(position + 2)..<(position + 6)].compactMap(digit)
                guard digits.count == 4, digits.reduce(UInt16(0), { $0 << 4 | UInt16($1) }) == unit else {
                    return nil
                }
                position += 6
            }
            return position
        default: return nil
        }
    }

    /// Character references: by number, and the names that programs write.
    private static func html(
        _ scalar: Unicode.Scalar, at start: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        let rest = bytes[(start + 1)...].prefix(maximumDigits + 3)
        guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = rest[..<end]
        let isFound: Bool
        if name.first == UInt8(ascii: "#") {
            let isHex = name.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
            let text = String(decoding: name.dropFirst(isHex ? 2 : 1), as: UTF8.self)
            isFound = UInt32(text, radix: isHex ? 16 : 10) == scalar.value
        } else {
            isFound = names.contains { $0.scalar == scalar && $0.name.utf8.elementsEqual(name) }
        }
        return isFound ? end + 1 : nil
    }

    private static let names: [(scalar: Unicode.Scalar, name: String)] = [
        ("&", "amp"), ("<", "lt"), (">", "gt"), ("\"", "quot"), ("'", "apos"), ("\u{A0}", "nbsp"),
    ]

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
