// SPDX-License-Identifier: Apache-2.0

/// A value of a column.
public enum JournalValue: Sendable, Hashable {
    case null
    case integer(Int64)
    /// UTF-8.
    case text([UInt8])

    init(_ text: String?) { self = text.map { .text(Array($0.utf8)) } ?? .null }

    init(_ number: Int64?) { self = number.map(JournalValue.integer) ?? .null }

    init(_ number: Int) { self = .integer(Int64(number)) }

    /// The bytes of a text; empty for anything else.
    public var bytes: [UInt8] {
        if case .text(let bytes) = self { bytes } else { [] }
    }
}
