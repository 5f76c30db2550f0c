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
        get throws {
            var number: Int64?
            _ = try isReadable {
                number = try Int64.fetchOne(
                    db, sql: "select seq from sqlite_sequence where name = ?", arguments: [name])
            }
            return number
        }
    }

    /// Counts the rows in an index; nil when that is damaged.
    func count(by index: String) -> Int? {
        try? Int.fetchOne(db, sql: "select count(*) from \(name) indexed by \(index)")
    }

    /// Reads the rows of a table with an integer key: from both ends up to what cannot be read, then the halves between.
    /// - Returns: whether every row was read.
    func readNumbered(
        by key: String, to last: Int64, columns: [String], _ take: ([DatabaseValue]) throws -> Void
    ) throws -> Bool {
        let sql = "select \(columns.joined(separator: ", ")) from \(name) not indexed where \(key) between ? and ?"
        var (gaps, tried, isComplete) = ([Int64.min...max(last, 0)], 0, true)
        while tried < gaps.count, tried < DamagedTable.maximumTries {
            var (low, high) = (gaps[tried].lowerBound, gaps[tried].upperBound)
            tried += 1
            func read(_ order: String, _ passed: (Int64) -> Void) throws -> Bool {
                try isReadable {
                    let rows = try Row.fetchCursor(
                        db.cachedStatement(sql: "\(sql) order by \(key) \(order)"), arguments: [low, high])
                    while let row = try rows.next() {
                        passed(row[0])
                        try take(Array(row.databaseValues))
                    }
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
        by key: [String], where condition: String, columns: [String], _ take: ([DatabaseValue]) throws -> Void
    ) throws -> Bool {
        let sql = "select \(columns.joined(separator: ", ")) from \(name) where \(condition) order by "
        func read(_ order: String) throws -> Bool {
            try isReadable {
                let keys = key.map { "\($0) \(order)" }.joined(separator: ", ")
                let rows = try Row.fetchCursor(db, sql: sql + keys)
                while let row = try rows.next() { try take(Array(row.databaseValues)) }
            }
        }
        if try read("asc") { return true }
        // The rows that both directions reach are refused the second time.
        _ = try read("desc")
        return false
    }

    /// Reads the rows of a table as they lie in it, past its indices.
    /// - Returns: whether every row was read.
    func readUnindexed(columns: [String], _ take: ([DatabaseValue]) throws -> Void) throws -> Bool {
        try isReadable {
            let sql = "select \(columns.joined(separator: ", ")) from \(name) not indexed"
            let rows = try Row.fetchCursor(db, sql: sql)
            while let row = try rows.next() { try take(Array(row.databaseValues)) }
        }
    }

    /// - Returns: false when the damaged part was reached.
    private func isReadable(_ block: () throws -> Void) throws -> Bool {
        do {
            try block()
            return true
        } catch let error as DatabaseError where error.isUnreadable {
            return false
        }
    }
}
