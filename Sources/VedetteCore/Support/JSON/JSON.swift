// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) that keeps the order of its members and the text of its numbers. It writes events and reads
/// what the journal holds. Response bodies have a faster and bounded parser in VedetteDocument.
public enum JSON: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number as text.
    case number(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object; names may repeat.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSON

        /// Creates a member.
        public init(name: String, value: JSON) { (self.name, self.value) = (name, value) }
    }

    /// Returns an object without the members whose value is nil.
    public static func members(_ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
    }

    /// Returns a whole number.
    public static func number(_ number: some BinaryInteger) -> JSON { .number(String(number)) }

    /// Returns a number with at most three decimals, and none when it is whole.
    public static func number(rounded value: Double) -> JSON {
        let thousandths = Int64(value.isNaN ? 0 : min(max((value * 1000).rounded(), -1e15), 1e15))
        return .number(thousandths % 1000 == 0 ? String(thousandths / 1000) : String(Double(thousandths) / 1000))
    }

    /// The first member of that name; nil when there is none or this is no object.
    public subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        // A member that does not fit is not copied.
        for i in members.indices where members[i].name == name { return members[i].value }
        return nil
    }

    /// The text of a string; nil for any other value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, if it is a whole one in range; nil for any other value.
    public var int64: Int64? {
        if case .number(let text) = self { Int64(text) } else { nil }
    }

    /// The number; nil for any other value.
    public var double: Double? {
        if case .number(let text) = self { Double(text) } else { nil }
    }

    /// The elements of an array; nil for any other value.
    public var array: [JSON]? {
        if case .array(let array) = self { array } else { nil }
    }

    /// The members of an object; nil for any other value.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value as one line of UTF-8 without white space.
    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        write(to: &out)
        return out
    }

    /// The value as one line without white space.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    private func write(to out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
        case .number(let text): out.append(contentsOf: text.utf8)
        case .string(let text): JSON.write(text, to: &out)
        case .array(let values):
            out.append(UInt8(ascii: "["))
            for (i, value) in values.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                value.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (i, member) in members.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                JSON.write(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string with its quotation marks.
    static func write(_ text: String, to out: inout [UInt8]) {
        var text = text
        out.append(UInt8(ascii: "\""))
        text.withUTF8 { bytes in
            var (plain, at) = (0, 0)
            while at < bytes.count {
                if at + 8 <= bytes.count, isPlain(UnsafeRawBufferPointer(bytes), at) {
                    at += 8
                    continue
                }
                let byte = bytes[at]
                if mustBeEscaped(byte) {
                    out.append(contentsOf: bytes[plain..<at])
                    escape(byte, to: &out)
                    plain = at + 1
                } else if byte >= 0xC2, let control = terminalControl(bytes[at...]) {
                    out.append(contentsOf: bytes[plain..<at])
                    out.append(contentsOf: #"\u"#.utf8)
                    let hex = String(control.scalar, radix: 16)
                    out.append(contentsOf: String(repeating: "0", count: 4 - hex.count).utf8)
                    out.append(contentsOf: hex.utf8)
                    plain = at + control.length
                }
                at += 1
            }
            out.append(contentsOf: bytes[plain...])
        }
        out.append(UInt8(ascii: "\""))
    }

    /// Whether eight bytes are ASCII and stand for themselves: one comparison for all of them. It may be false although they do
    /// (https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord).
    private static func isPlain(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> Bool {
        let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let delete = word ^ (ones &* 0x7F)
        let hits = (word &- ones &* 0x20) | (quote &- ones) | (backslash &- ones) | (delete &- ones)
        // A top bit stands for a hit, or for a byte that is not ASCII.
        return (hits | word) & tops == 0
    }

    /// Counts the bytes before the first control, quotation mark or backslash among eight, of which the lowest is the
    /// first. A subtraction borrows from higher bytes alone, so the lowest hit is always one.
    static func plainBytes(in word: UInt64) -> Int {
        let (ones, tops) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        let hits = control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
        return (hits & tops).trailingZeroBitCount / 8
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 127
    }

    /// Returns a C1 control, a line separator or a bidirectional control at the beginning of valid UTF-8, and its length.
    /// JSON allows them as they are, but a terminal that prints the line would obey them.
    private static func terminalControl(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> (scalar: UInt32, length: Int)? {
        let tail = bytes.dropFirst().prefix(2)
        guard let second = tail.first, let last = tail.last else { return nil }
        switch (bytes[bytes.startIndex], second, last) {
        case (0xC2, 0x80...0x9F, _): return (UInt32(second), 2)
        case (0xD8, 0x9C, _): return (0x061C, 2)
        case (0xE2, 0x80, 0x8E...0x8F), (0xE2, 0x80, 0xA8...0xAE): return (0x2000 + UInt32(last & 0x3F), 3)
        case (0xE2, 0x81, 0xA6...0xA9): return (0x2040 + UInt32(last & 0x3F), 3)
        default: return nil
        }
    }

    private static func escape(_ byte: UInt8, to out: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(contentsOf: [UInt8(ascii: "\\"), byte])
        case 10: out.append(contentsOf: #"\n"#.utf8)
        default:
            out.append(contentsOf: (byte < 16 ? #"\u000"# : #"\u00"#).utf8)
            out.append(contentsOf: String(byte, radix: 16).utf8)
        }
    }
}
