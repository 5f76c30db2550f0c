// SPDX-License-Identifier: Apache-2.0

/// `application/x-www-form-urlencoded` (WHATWG URL), as in queries and message arguments.
public enum FormEncoding {
    /// Decodes `+` and percent escapes; an invalid escape stays as it is.
    public static func decoded(_ text: some StringProtocol) -> String {
        var out: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "+") {
                out.append(32)
            } else if byte == UInt8(ascii: "%"), let value = escape(bytes.prefix(2)) {
                out.append(value)
                bytes.removeFirst(2)
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func escape(_ digits: ArraySlice<UInt8>) -> UInt8? {
        // `UInt8(_:radix:)` alone would accept `+1`.
        guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
