// SPDX-License-Identifier: Apache-2.0

/// How both stores keep a silence.
public enum SilenceRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.silence.names

    /// Reads a row of these columns.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> Silence {
        var silence = Silence(
            id: try row.int64(0), rule: try row.optionalText(1), source: try row.optionalText(2),
            item: try row.optionalText(3), until: try row.optionalTime(4), untilState: try row.optionalText(5),
            sink: try row.optionalText(7), drops: try row.bool(8), created: try row.time(6))
        silence.from = try row.optionalTime(9)
        silence.fields = (try row.optionalText(10) ?? "").split(separator: "\n").compactMap {
            Silence.FieldPattern(String($0))
        }
        return silence
    }

    /// The patterns as a column, one a line; nil for none.
    public static func fields(_ silence: Silence) -> String? {
        silence.fields.isEmpty ? nil : silence.fields.map(\.text).joined(separator: "\n")
    }
}
