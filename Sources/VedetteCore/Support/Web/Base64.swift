// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648 §4.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the text with its padding.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                out.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { out.append(alphabet[Int(bits << (6 - count) & 63)]) }
        while out.count % 4 != 0 { out.append(UInt8(ascii: "=")) }
        return String(decoding: out, as: UTF8.self)
    }

    /// Returns nil for what is not Base64. The padding may be left out.
    public static func decode(_ text: String) -> [UInt8]? {
        var digits = text.utf8[...]
        while digits.last == UInt8(ascii: "="), digits.count % 4 == 0 || digits.count % 4 == 3 { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        let values = digits.compactMap(value)
        return values.count == digits.count ? bytes(of: values) : nil
    }

    /// Decodes Base64 as in mail and feeds: it ends at the first `=`, other characters are skipped (RFC 2045 §6.8), and `-`
    /// and `_` are read too (RFC 4648 §5).
    public static func decodeSkippingOthers(_ text: some Sequence<UInt8>) -> [UInt8] {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        return bytes(
            of: digits.compactMap { digit -> UInt8? in
                switch digit {
                case UInt8(ascii: "-"): 62
                case UInt8(ascii: "_"): 63
                default: value(of: digit)
                }
            })
    }

    /// - Parameter values: of 6 bits. Bits that are left over are dropped.
    private static func bytes(of values: [UInt8]) -> [UInt8] {
        var (out, buffer, bits) = ([UInt8](), UInt32(0), 0)
        out.reserveCapacity(values.count * 3 / 4)
        for value in values {
            (buffer, bits) = (buffer << 6 | UInt32(value), bits + 6)
            guard bits >= 8 else { continue }
            bits -= 8
            out.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        }
        return out
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
