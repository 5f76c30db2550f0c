// SPDX-License-Identifier: Apache-2.0

/// The number of a table's rows and a digest of their values. The order of the rows does not matter, since two stores may
/// sort a text differently that PostgreSQL holds in another form (U+0000).
public struct TableDigest: Sendable, Hashable {
    public private(set) var rows = 0
    public private(set) var value: UInt64 = 0

    /// That of no rows.
    public init() {}

    /// Adds a row.
    public mutating func add(_ row: JournalRow) {
        var digest = StableHash()
        for value in row {
            switch value {
            case .null: digest.add(0)
            case .integer(let number):
                digest.add(1)
                digest.add(UInt64(bitPattern: number))
            case .text(let bytes):
                digest.add(2)
                bytes.withUnsafeBytes { digest.add($0) }
            }
        }
        rows += 1
        value &+= digest.value
    }

    /// The digest as a person compares it: 16 hexadecimal digits.
    public var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
