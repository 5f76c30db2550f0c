// SPDX-License-Identifier: Apache-2.0

/// How both stores keep a silence.
public enum SilenceRow {
    /// The columns that are decoded.
    public static let columns = "id, rule, source, item, until, until_state, created, sink, drops"

    /// Reads a row of these columns.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> Silence {
        Silence(
            id: try row.int64(0), rule: try row.optionalText(1), source: try row.optionalText(2),
            item: try row.optionalText(3), until: try row.optionalTime(4), untilState: try row.optionalText(5),
            sink: try row.optionalText(7), drops: try row.bool(8), created: try row.time(6))
    }
}
