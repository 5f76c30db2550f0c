// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// Which events a reader asks for; nil asks for all.
public struct EventFilter: Sendable, Hashable {
    public var source: String?
    /// Only events that this rule made a delivery of.
    public var rule: String?
    /// Not older than this.
    public var since: Timestamp?

    public init(source: String? = nil, rule: String? = nil, since: Timestamp? = nil) {
        (self.source, self.rule, self.since) = (source, rule, since)
    }
}

/// The rows of `event`.
enum EventRows {
    enum Order: String {
        case oldestFirst = "asc"
        case newestFirst = "desc"
    }

    /// The last seq ever given: it outlives its event.
    static func lastSeq(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "select seq from sqlite_sequence where name = 'event'")) ?? 0
    }

    static func select(
        _ db: Database, after seq: Int64, _ filter: EventFilter, _ order: Order, limit: Int
    ) throws -> [Event] {
        var (after, since) = (seq, DatabaseValue.null)
        if let time = filter.since {
            // Times may go back where seqs do not, so the first seq of the time is a floor and the time itself is
            // asked for as well.
            let floor = try Int64.fetchOne(
                db.cachedStatement(sql: "select min(seq) from event indexed by event_time where time >= ?"),
                arguments: [time.milliseconds])
            guard let floor else { return [] }
            (after, since) = (max(seq, floor - 1), time.milliseconds.databaseValue)
        }
        var arguments: StatementArguments = []
        if let rule = filter.rule { arguments += [rule] }
        arguments += [after]
        if let source = filter.source { arguments += [source] }
        if !since.isNull { arguments += [since] }
        return try events(db, sql: sql(filter, order), arguments + [limit])
    }

    /// The statement of a filter: it walks the one index that the filter names, in the order of seq.
    static func sql(_ filter: EventFilter, _ order: Order) -> String {
        let source = filter.source == nil ? "" : " and e.source = ?"
        // The unary plus keeps the time's own index out: its order is another.
        let since = filter.since == nil ? "" : " and +e.time >= ?"
        let rest = "\(source)\(since)"
        guard filter.rule != nil else {
            return "select e.body from event e where e.seq > ?\(rest) order by e.seq \(order.rawValue) limit ?"
        }
        // Grouped, for a rule may tell several sinks of one event.
        return """
            select e.body from delivery d cross join event e on e.seq = d.event
            where d.rule = ? and d.event > ?\(rest) group by d.event order by d.event \(order.rawValue) limit ?
            """
    }

    /// The newest events of an item, newest first.
    static func history(_ db: Database, source: String, key: String, limit: Int) throws -> [Event] {
        try events(db, sql: historySQL, [source, key, limit])
    }

    /// The last word on the machine itself: `offline` or `online`; nil when there was none, or it is long ago.
    static func lastOfWatcher(_ db: Database) throws -> Event? {
        // A source may bear the watcher's name, so the type is asked for as well.
        try events(
            db, sql: lastOfWatcherSQL, [Event.watcher, Event.Kind.offline.rawValue, Event.Kind.online.rawValue]
        ).first
    }

    static let lastOfWatcherSQL =
        "select body from event where source = ? and type in (?, ?) order by seq desc limit 1"

    static let historySQL = "select body from event where source = ? and key = ? order by seq desc limit ?"

    /// Events whose id starts so, or whose seq it is. An id of version 7 starts with 0 until the year 4199, a seq never
    /// does.
    static func matching(_ db: Database, _ text: String, limit: Int) throws -> [Event] {
        if let seq = Int64(text), String(seq) == text {
            return try events(db, sql: "select body from event where seq = ?", [seq])
        }
        // '~' sorts behind all that an id is made of.
        return try events(
            db, sql: "select body from event where id >= ? and id < ? order by id limit ?", [text, text + "~", limit])
    }

    static func decode(_ body: UTF8Column) throws -> Event {
        guard let json = try? JSON(parsing: body.bytes), let event = Event(json: json) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an event's row is unreadable")
        }
        return event
    }

    private static func events(_ db: Database, sql: String, _ arguments: StatementArguments) throws -> [Event] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var events: [Event] = []
        while let row = try rows.next() { events.append(try decode(row[0])) }
        return events
    }
}
