// SPDX-License-Identifier: Apache-2.0

/// A UUID of version 7 (RFC 9562 §5.7): milliseconds first, so ids sort in the order in which they were made.
public struct Identifier: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }

    /// - Parameter random: 74 of its 128 bits are used.
    public init(time: Timestamp, random: (UInt64, UInt64)) {
        let milliseconds = UInt64(bitPattern: time.milliseconds) & 0xFFFF_FFFF_FFFF
        let high = milliseconds << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        let hex = Identifier.hex(high) + Identifier.hex(low)
        var text = ""
        for (i, digit) in hex.enumerated() {
            if i == 8 || i == 12 || i == 16 || i == 20 { text.append("-") }
            text.append(digit)
        }
        description = text
    }

    public static func hex(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
