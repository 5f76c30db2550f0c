// SPDX-License-Identifier: Apache-2.0

/// How both stores keep an item of a snapshot.
public enum ItemRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.item.columns.dropFirst().map(\.name).joined(separator: ", ")

    /// Reads a row of these columns.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> StoredItem {
        StoredItem(
            key: try row.text(0), digest: UInt64(bitPattern: try row.int64(1)),
            shown: UInt64(bitPattern: try row.int64(2)), absentSince: try row.optionalTime(3),
            stateSince: try row.time(4), body: try row.bytes(5))
    }
}
