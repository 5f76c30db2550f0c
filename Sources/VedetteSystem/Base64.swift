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
        var digits = Array(text.utf8)
        while digits.last == UInt8(ascii: "="), digits.count % 4 == 0 || digits.count % 4 == 3 { digits.removeLast() }
        guard digits.count % 4 != 1 else { return nil }
        var (out, word, bits) = ([UInt8](), 0, 0)
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            word = (word << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(word >> bits & 0xFF))
            }
        }
        return out
    }
}
