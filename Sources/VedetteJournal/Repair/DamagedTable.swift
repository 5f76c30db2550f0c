// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Reads the rows of a damaged table around the pages that cannot be read.
struct DamagedTable {
    /// Ranges of keys that are tried at most. A seek into a damaged page costs microseconds.
    private static let maximumTries = 20_000

    private let name: String
    private let db: Database

    init(_ name: String, _ db: Database) { (self.name, self.db) = (name, db) }

    /// The last number that the table gave; nil when that is unknown or the table counts none.
    var sequence: Int64? {
        try? Int64.fetchOne(db, sql: "select seq from sqlite_sequence where name = ?", arguments: [name])
    }

    /// Counts the rows in an index; nil when that is damaged.
    func count(by index: String) -> Int? {
        try? Int.fetchOne(db, sql: "select count(*) from \(name) indexed by \(index)")
    }

    /// Reads rows up to what cannot be read.
    /// - Parameter clauses: what follows the name of the table, such as its order.
    /// - Returns: whether every row was read.
    func read(
        _ columns: [String], _ clauses: String, _ arguments: StatementArguments = [], _ take: (Row) throws -> Void
    ) throws -> Bool {
        do {
            let sql = "select \(columns.joined(separator: ", ")) from \(name) \(clauses)"
            let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
            while let row = try rows.next() { try take(row) }
            return true
        } catch let error as DatabaseError where error.isUnreadable {
            return false
        }
    }

    /// Reads the rows of a table whose first column is an integer key: from both ends up to what cannot be read, then the halves
    /// between.
    /// - Returns: whether every row was read.
    func readNumbered(_ columns: [String], to last: Int64, _ take: (Row) throws -> Void) throws -> Bool {
        let key = columns[0]
        var (gaps, tried, isComplete) = ([Int64.min...max(last, 0)], 0, true)
        while tried < gaps.count, tried < DamagedTable.maximumTries {
            var (low, high) = (gaps[tried].lowerBound, gaps[tried].upperBound)
            tried += 1
            func read(_ order: String, _ passed: (Int64) -> Void) throws -> Bool {
                let clauses = "not indexed where \(key) between ? and ? order by \(key) \(order)"
                return try self.read(columns, clauses, [low, high]) {
                    passed($0[0])
                    try take($0)
                }
            }
            var next = low
            if try read("asc", { next = $0.addingClamped(1) }) { continue }
            isComplete = false
            low = next
            var previous = high
            if try low <= high && read("desc", { previous = $0.addingClamped(-1) }) { continue }
            high = previous
            // The rest may have no number below the first one that was ever given.
            low = max(low, 1)
            guard low < high else { continue }
            let middle = low + (high - low) / 2
            gaps += [low...middle, middle + 1...high]
        }
        return isComplete
    }

    /// Reads the rows of a table with another key from both ends up to what cannot be read.
    /// - Returns: whether every row was read.
    func readSorted(
        _ columns: [String], by key: [String], where condition: String = "true",
        _ arguments: StatementArguments = [], _ take: (Row) throws -> Void
    ) throws -> Bool {
        func read(_ order: String) throws -> Bool {
            let keys = key.map { "\($0) \(order)" }.joined(separator: ", ")
            return try self.read(columns, "where \(condition) order by \(keys)", arguments, take)
        }
        if try read("asc") { return true }
        // The rows that both directions reach are refused the second time.
        _ = try read("desc")
        return false
    }
}
