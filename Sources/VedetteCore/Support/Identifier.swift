// SPDX-License-Identifier: Apache-2.0

/// A UUID of version 7 (RFC 9562 §5.7): milliseconds first, so ids sort in the order in which they were made.
public struct Identifier: Sendable, Hashable, CustomStringConvertible {
    /// The 36 characters of the UUID.
    public let description: String

    /// An id that was made before.
    public init(_ description: String) { self.description = description }

    /// Makes an id.
    /// - Parameter random: 128 random bits, of which 74 are used.
    public init(time: Timestamp, random: (UInt64, UInt64)) {
        let milliseconds = UInt64(bitPattern: time.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        description = String(unsafeUninitializedCapacity: 36) { text in
            var at = 0
            for i in 0..<32 {
                if i == 8 || i == 12 || i == 16 || i == 20 {
                    text[at] = UInt8(ascii: "-")
                    at += 1
                }
                text[at] = Identifier.digit(i < 16 ? high : low, i % 16)
                at += 1
            }
            return at
        }
    }

    /// Returns 16 hexadecimal digits.
    public static func hex(_ word: UInt64) -> String { hex(word, digits: 16) }

    /// Returns the first hexadecimal digits of a word.
    fileprivate static func hex(_ word: UInt64, digits: Int) -> String {
        String(unsafeUninitializedCapacity: digits) { text in
            for i in 0..<digits { text[i] = digit(word, i) }
            return digits
        }
    }

    /// - Parameter i: 0 for the most significant digit, 15 for the least.
    private static func digit(_ word: UInt64, _ i: Int) -> UInt8 {
        let digit = UInt8(word >> (60 - 4 * UInt64(i)) & 15)
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
}

/// Returns the short id of a poll, in logs, `status` and events: `p-` and eight hex digits.
public func pollIdentifier(random: UInt64) -> String {
    "p-" + Identifier.hex(random, digits: 8)
}
