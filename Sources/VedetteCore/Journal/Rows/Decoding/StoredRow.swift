// SPDX-License-Identifier: Apache-2.0

/// A row that a store of journals returned. Columns are numbered from 0.
public protocol StoredRow {
    /// Returns a number; nil for null.
    func optionalInt64(_ column: Int) throws(UnreadableRow) -> Int64?

    /// Returns a text; nil for null.
    func optionalText(_ column: Int) throws(UnreadableRow) -> String?

    /// Returns a text as its bytes in UTF-8; nil for null.
    func optionalBytes(_ column: Int) throws(UnreadableRow) -> [UInt8]?

    /// Returns a flag.
    func bool(_ column: Int) throws(UnreadableRow) -> Bool
}

extension StoredRow {
    // Each has its own guard: a generic one is not specialised for another module's rows, and costs as much as the column.

    /// Returns a number.
    public func int64(_ column: Int) throws(UnreadableRow) -> Int64 {
        guard let value = try optionalInt64(column) else { throw UnreadableRow(column: column) }
        return value
    }

    /// Returns a number.
    public func int(_ column: Int) throws(UnreadableRow) -> Int { Int(try int64(column)) }

    /// Returns a text.
    public func text(_ column: Int) throws(UnreadableRow) -> String {
        guard let value = try optionalText(column) else { throw UnreadableRow(column: column) }
        return value
    }

    /// Returns a text as its bytes in UTF-8.
    public func bytes(_ column: Int) throws(UnreadableRow) -> [UInt8] {
        guard let value = try optionalBytes(column) else { throw UnreadableRow(column: column) }
        return value
    }

    /// Returns a time.
    func time(_ column: Int) throws(UnreadableRow) -> Timestamp { Timestamp(milliseconds: try int64(column)) }

    /// Returns a time; nil for null.
    func optionalTime(_ column: Int) throws(UnreadableRow) -> Timestamp? {
        try optionalInt64(column).map(Timestamp.init(milliseconds:))
    }
}
