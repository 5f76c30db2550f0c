// SPDX-License-Identifier: Apache-2.0

/// How both stores keep the record of a source.
public enum SourceRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.source.names

    /// Reads a row of these columns.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> SourceRecord {
        try record(row.text(0), row.bytes(1))
    }

    /// Reads the two columns of a row.
    public static func record(_ name: String, _ body: [UInt8]) throws(UnreadableRow) -> SourceRecord {
        guard let json = try? JSON(parsing: body) else {
            throw UnreadableRow("the row of source '\(name)' is unreadable")
        }
        return SourceRecord(name: name, json: json)
    }
}
