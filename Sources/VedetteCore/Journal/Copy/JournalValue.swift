// SPDX-License-Identifier: Apache-2.0

/// A value of a column.
public enum JournalValue: Sendable, Hashable {
    case null
    case integer(Int64)
    /// UTF-8.
    case text([UInt8])

    /// The bytes of a text; empty for anything else.
    public var bytes: [UInt8] {
        if case .text(let bytes) = self { bytes } else { [] }
    }
}
