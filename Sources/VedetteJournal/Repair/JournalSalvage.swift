// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// Copies the rows that can be read of a damaged journal, table by table, so that what is copied is consistent: a source
/// has all of its items, and a delivery has its event.
struct JournalSalvage {
    private let source: Database
    private let copy: Database
    private(set) var tables: [RepairReport.Table] = []
    private(set) var forgottenSources: [String] = []

    /// - Parameters:
    ///   - source: the damaged database.
    ///   - copy: an empty database with the same tables.
    init(from source: Database, to copy: Database) { (self.source, self.copy) = (source, copy) }

    mutating func run() throws {
        let names = try copySources()
        try copyItems(of: names)
        try copyNumbered("event", index: "event_time") { $0.hasEvent(in: "body") }
        try copyDeliveries()
        try copyNumbered("request")
        try copySorted("attempt", by: ["delivery", "slot"])
        try copy.execute(sql: "delete from attempt where delivery not in (select id from delivery)")
        try copySorted("cookie", by: ["session"])
        try copySorted("memory", by: ["rule", "slot", "name"])
        try copyNumbered("silence")
        try copySorted("stopped_sink", by: ["sink"])
        try copySorted("poll_lateness", by: ["watcher"])
    }

    // MARK: Sources and items

    /// - Returns: the names of the saved sources by id.
    private mutating func copySources() throws -> [Int64: String] {
        var names: [Int64: String] = [:]
        var unreadable: [String] = []
        try copyNumbered("source", index: "sqlite_autoindex_source_1") { row in
            guard let id: Int64 = row.value("id"), let name: String = row.value("name") else { return false }
            guard let record: String = row.value("record"), (try? JSON(parsing: record.utf8)) != nil else {
                unreadable.append(name)
                return false
            }
            names[id] = name
            return true
        }
        forgottenSources += unreadable
        return names
    }

    /// A snapshot with a part of its items would make the others appear again, so such a source is forgotten: its next
    /// poll is a new baseline.
    private mutating func copyItems(of names: [Int64: String]) throws {
        if try copyUnindexedItems(of: names) { return }
        var (saved, isWhole) = (0, true)
        for (id, name) in names.sorted(by: { $0.key < $1.key }) {
            let writer = try TableWriter("item", copy)
            let isComplete = try DamagedTable("item", source).readSorted(
                writer.columns, by: ["key"], where: "source = ?", [id]
            ) { _ = try writer.insert($0) }
            guard isComplete else {
                try copy.execute(sql: "delete from item where source = ?", arguments: [id])
                try copy.execute(sql: "delete from source where id = ?", arguments: [id])
                forgottenSources.append(name)
                isWhole = false
                continue
            }
            saved += writer.count
        }
        reportItems(saved, isWhole)
    }

    private mutating func reportItems(_ saved: Int, _ isWhole: Bool) {
        let isWhole = isWhole && tables.allSatisfy { $0.lost == 0 }
        tables.append(RepairReport.Table(name: "item", saved: saved, lost: isWhole ? 0 : nil))
    }

    /// The items of a source are reached through an index. Where that is damaged, their own pages may be whole.
    /// - Returns: whether all items were copied; else none is.
    private mutating func copyUnindexedItems(of names: [Int64: String]) throws -> Bool {
        let damaged = DamagedTable("item", source)
        guard damaged.count(by: "sqlite_autoindex_item_1") == nil else { return false }
        let writer = try TableWriter("item", copy)
        let isComplete = try damaged.read(writer.columns, "not indexed") { row in
            guard let id: Int64 = row.value("source"), names[id] != nil else { return }
            _ = try writer.insert(row)
        }
        guard isComplete else {
            try copy.execute(sql: "delete from item")
            return false
        }
        reportItems(writer.count, true)
        return true
    }

    // MARK: Deliveries

    private mutating func copyDeliveries() throws {
        let hasEvent = try copy.makeStatement(sql: "select 1 from event where seq = ?")
        try copyNumbered("delivery", index: "delivery_rule") { row in
            guard let state: String = row.value("state"), DeliveryState(rawValue: state) != nil,
                let priority: String = row.value("priority"), Priority(rawValue: priority) != nil
            else { return false }
            guard let event: Int64 = row.value("event") else { return row.hasEvent(in: "event_body") }
            return try Int.fetchOne(hasEvent, arguments: [event]) != nil
        }
        // No number that a delivery knows is given to another event.
        let last = try Int64.fetchOne(copy, sql: "select max(event) from delivery") ?? 0
        try raiseSequence(of: "event", to: last)
    }

    // MARK: Tables

    /// Copies a table with an integer key.
    /// - Parameters:
    ///   - index: an index of every row, which tells how many there were.
    ///   - accepts: whether the row is readable as more than SQL.
    private mutating func copyNumbered(
        _ table: String, index: String? = nil, where accepts: (Row) throws -> Bool = { _ in true }
    ) throws {
        let writer = try TableWriter(table, copy)
        let damaged = DamagedTable(table, source)
        var refused = 0
        let last = damaged.sequence
        let isComplete = try damaged.readNumbered(writer.columns, to: last ?? 1 << 24) { row in
            let isSaved = try accepts(row) && writer.insert(row)
            if !isSaved { refused += 1 }
        }
        if let last { try raiseSequence(of: table, to: last) }
        let known = index.flatMap { damaged.count(by: $0) }
        let missing = known.map { max(0, $0 - writer.count) }
        let lost = isComplete ? max(refused, missing ?? 0) : missing
        tables.append(RepairReport.Table(name: table, saved: writer.count, lost: lost))
    }

    /// Copies a table with another key.
    private mutating func copySorted(_ table: String, by key: [String]) throws {
        let writer = try TableWriter(table, copy)
        let isComplete = try DamagedTable(table, source).readSorted(writer.columns, by: key) {
            _ = try writer.insert($0)
        }
        tables.append(RepairReport.Table(name: table, saved: writer.count, lost: isComplete ? 0 : nil))
    }

    /// A number that was given once is never given again.
    private func raiseSequence(of table: String, to number: Int64) throws {
        let known = try Int64.fetchOne(copy, sql: "select seq from sqlite_sequence where name = ?", arguments: [table])
        guard number > known ?? 0 else { return }
        let sql =
            known == nil
            ? "insert into sqlite_sequence (seq, name) values (?, ?)"
            : "update sqlite_sequence set seq = ? where name = ?"
        try copy.execute(sql: sql, arguments: [number, table])
    }
}

/// Inserts rows that were read elsewhere.
private final class TableWriter {
    let columns: [String]
    private(set) var count = 0
    private let statement: Statement

    init(_ table: String, _ db: Database) throws {
        columns = try db.columns(in: table).map(\.name)
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        statement = try db.makeStatement(
            sql: "insert into \(table) (\(columns.joined(separator: ", "))) values (\(marks))")
    }

    /// - Returns: false when the table refuses the row.
    func insert(_ row: Row) throws -> Bool {
        do {
            try statement.execute(arguments: StatementArguments(row.databaseValues))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
        count += 1
        return true
    }
}

extension Row {
    /// Returns the value of a column; nil where it has none of that type.
    fileprivate func value<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        (self[column] as DatabaseValue?).flatMap(Value.fromDatabaseValue)
    }

    /// Whether a column has an event that can be read.
    fileprivate func hasEvent(in column: String) -> Bool {
        let body: String? = value(column)
        return body.flatMap { try? EventRow.decode(Array($0.utf8)) } != nil
    }
}
