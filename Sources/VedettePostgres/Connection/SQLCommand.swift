// SPDX-License-Identifier: Apache-2.0

/// A statement with its values.
struct SQLCommand: Sendable {
    let sql: String
    /// In the text format of the protocol; nil for null.
    let values: [[UInt8]?]
    /// False for a statement that is run once, such as one of a migration: it is not prepared.
    let isPrepared: Bool

    init(_ sql: String, _ values: [(any SQLValue)?] = [], isPrepared: Bool = true) {
        (self.sql, self.isPrepared) = (sql, isPrepared)
        self.values = values.map { $0?.sqlText }
    }
}
