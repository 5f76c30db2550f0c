// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `event`.
enum EventRows {
    enum Order: String {
        case oldestFirst = "asc"
        case newestFirst = "desc"
    }

    static func place(of id: Identifier, _ db: Database) throws -> EventRow.Place? {
        try Row.fetchOne(db.cachedStatement(sql: selectPlace), arguments: [id.description]).map {
            EventRow.Place(seq: $0[0], bytes: $0[1])
        }
    }

    static let selectPlace = "select seq, length(cast(body as blob)) from event where id = ?"

    /// Reads the last seq that was ever given, also when its event was pruned.
    static func lastSeq(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "select seq from sqlite_sequence where name = 'event'")) ?? 0
    }

    static func select(
        _ db: Database, after seq: Int64, _ filter: EventFilter, _ order: Order, limit: Int
    ) throws -> [Event] {
        guard let arguments = try arguments(db, after: seq, filter) else { return [] }
        return try events(db, sql: sql(filter, order), arguments + [limit])
    }

    /// Reads the seq after which the newest events begin; 0 when there are no more than `count`.
    static func seq(before count: Int, _ filter: EventFilter, _ db: Database) throws -> Int64 {
        guard count > 0, let arguments = try arguments(db, after: 0, filter) else { return try lastSeq(db) }
        let seqs = sql(filter, .newestFirst, column: "e.seq") + " offset ?"
        let last = try Int64.fetchOne(db.cachedStatement(sql: seqs), arguments: arguments + [1, count - 1])
        if let last { return last - 1 }
        let hasAny = try Int64.fetchOne(db.cachedStatement(sql: seqs), arguments: arguments + [1, 0]) != nil
        return hasAny ? 0 : try lastSeq(db)
    }

    /// Returns the arguments of the statement of a filter, without its limit; nil when no event can pass.
    private static func arguments(
        _ db: Database, after seq: Int64, _ filter: EventFilter
    ) throws -> StatementArguments? {
        var arguments: StatementArguments = []
        if let rule = filter.rule { arguments += [rule] }
        var after = seq
        // The pages after the first begin behind that seq: to find it reads the index of all times from then on.
        if seq == 0, let since = filter.since {
            // Times may go back where seqs do not, so the first seq of the time is only a lower bound; the time itself is
            // a condition too.
            guard let first = try Int64.fetchOne(db.cachedStatement(sql: firstSince), arguments: [since.milliseconds])
            else { return nil }
            after = max(after, first - 1)
        }
        arguments += [after]
        if let source = filter.source { arguments += [source] }
        if let key = filter.key { arguments += [key] }
        arguments += StatementArguments(filter.kinds.map(\.rawValue).sorted())
        if let since = filter.since { arguments += [since.milliseconds] }
        if let until = filter.until { arguments += [until.milliseconds] }
        return arguments
    }

    static let firstSince = "select min(seq) from event indexed by event_time where time >= ?"

    /// Builds the statement of a filter: it walks one index in the order of seq.
    static func sql(_ filter: EventFilter, _ order: Order, column: String = "e.body") -> String {
        var conditions: [String] = []
        if filter.source != nil { conditions.append("e.source = ?") }
        if filter.key != nil { conditions.append("e.key = ?") }
        if !filter.kinds.isEmpty {
            conditions.append("e.type in (\(filter.kinds.map { _ in "?" }.joined(separator: ", ")))")
        }
        // The unary plus keeps the time's own index out: its order is another.
        if filter.since != nil { conditions.append("+e.time >= ?") }
        if filter.until != nil { conditions.append("+e.time < ?") }
        let isSent = "d.state in ('pending', 'retry', 'paused', 'sent')"
        if filter.isSent {
            conditions.append(
                filter.rule == nil ? "exists (select 1 from delivery d where d.event = e.seq and \(isSent))" : isSent)
        }
        let rest = conditions.map { " and " + $0 }.joined()
        guard filter.rule != nil else {
            return "select \(column) from event e where e.seq > ?\(rest) order by e.seq \(order.rawValue) limit ?"
        }
        // Grouped, since a rule may have several deliveries of one event.
        return """
            select \(column) from delivery d cross join event e on e.seq = d.event
            where d.rule = ? and d.event > ?\(rest) group by d.event order by d.event \(order.rawValue) limit ?
            """
    }

    /// Reads the newest events of an item, newest first.
    static func history(_ db: Database, source: String, key: String, limit: Int) throws -> [Event] {
        try events(db, sql: historySQL, [source, key, limit])
    }

    /// Reads the last event of the watcher that has one of two types; nil when there is none.
    static func lastOfWatcher(_ db: Database, _ kinds: [Event.Kind]) throws -> Event? {
        // A source may have the watcher's name, so the type is a condition too.
        let arguments = [Event.watcher] + kinds.map(\.rawValue)
        return try events(db, sql: lastOfWatcherSQL, StatementArguments(arguments)).first
    }

    static let lastOfWatcherSQL =
        "select body from event where source = ? and type in (?, ?) order by seq desc limit 1"

    static let historySQL = "select body from event where source = ? and key = ? order by seq desc limit ?"

    /// Finds events whose id starts with `text`, or whose seq it is. A UUIDv7 starts with 0 until the year 4199; a seq
    /// never does.
    static func matching(_ db: Database, _ text: String, limit: Int) throws -> [Event] {
        if let seq = Int64(text), String(seq) == text {
            return try events(db, sql: "select body from event where seq = ?", [seq])
        }
        // '~' sorts after every character of an id.
        return try events(
            db, sql: "select body from event where id >= ? and id < ? order by id limit ?", [text, text + "~", limit])
    }

    private static func events(_ db: Database, sql: String, _ arguments: StatementArguments) throws -> [Event] {
        let bodies = try UTF8Column.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var events: [Event] = []
        while let body = try bodies.next() { events.append(try EventRow.decode(body.bytes)) }
        return events
    }
}
