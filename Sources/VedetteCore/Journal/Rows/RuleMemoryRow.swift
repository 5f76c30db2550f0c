// SPDX-License-Identifier: Apache-2.0

/// How both stores keep what a rule remembers.
public enum RuleMemoryRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.memory.names

    /// Reads the key of a row of these columns; nil for one that this program did not write.
    public static func key(_ row: some StoredRow) throws(UnreadableRow) -> RuleMemory.Key? {
        guard let slot = RuleMemory.Slot(rawValue: try row.text(1)) else { return nil }
        return RuleMemory.Key(rule: try row.text(0), slot: slot, name: try row.text(2))
    }

    /// Reads a row of these columns; nil for one without a body, and for one that this program did not write.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> RuleMemory? {
        guard let key = try key(row), let body = try row.optionalBytes(3), let json = try? JSON(parsing: body) else {
            return nil
        }
        return RuleMemory(key: key, json: json)
    }
}
