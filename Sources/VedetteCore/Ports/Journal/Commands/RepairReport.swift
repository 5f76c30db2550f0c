// SPDX-License-Identifier: Apache-2.0

/// What a repair saved of a journal.
public struct RepairReport: Sendable, Hashable {
    /// The rows of one table.
    public struct Table: Sendable, Hashable {
        public var name: String
        public var saved: Int
        /// Rows that an index or another table names and that could not be read; nil when their number is unknown.
        public var lost: Int?

        public init(name: String, saved: Int, lost: Int?) { (self.name, self.saved, self.lost) = (name, saved, lost) }
    }

    public var tables: [Table]
    /// Sources whose items or record could not be read whole: their next poll is a new baseline.
    public var forgottenSources: [String]
    /// Where the damaged journal is kept.
    public var kept: String

    public init(tables: [Table], forgottenSources: [String], kept: String) {
        (self.tables, self.forgottenSources, self.kept) = (tables, forgottenSources, kept)
    }
}
