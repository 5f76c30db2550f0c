// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `event`.
enum EventRows {
    enum Order: String {
        case oldestFirst = "asc"
        case newestFirst = "desc"
    }

    static func places(of ids: [Identifier], _ transaction: Transaction) throws -> [Identifier: EventRow.Place] {
        guard !ids.isEmpty else { return [:] }
        let place = "select seq, octet_length(body) from event where id = $1"
        let found = try transaction.run(ids.map { SQLCommand(place, [$0.description]) })
        var places: [Identifier: EventRow.Place] = [:]
        for (id, rows) in zip(ids, found) {
            places[id] = try rows.first.map { EventRow.Place(seq: try $0.int64(0), bytes: try $0.int(1)) }
        }
        return places
    }

    /// Reads the last seq that was ever given, also when its event was pruned.
    static func lastSeq(_ connection: Connection) throws -> Int64 {
        try connection.run("select last_seq from journal").first?.int64(0) ?? 0
    }

    static func select(
        _ connection: Connection, after seq: Int64, _ filter: EventFilter, _ order: Order, limit: Int
    ) throws -> [Event] {
        try rows(connection, "e.body", after: seq, filter, order, limit: limit).map(decode)
    }

    /// Reads the seq after which the newest events begin; 0 when there are no more than `count`.
    static func seq(before count: Int, _ filter: EventFilter, _ connection: Connection) throws -> Int64 {
        guard count > 0 else { return try lastSeq(connection) }
        func newest(_ offset: Int) throws -> Int64? {
            try rows(connection, "e.seq", after: 0, filter, .newestFirst, limit: 1, offset: offset).first?.int64(0)
        }
        if let first = try newest(count - 1) { return first - 1 }
        return try newest(0) == nil ? try lastSeq(connection) : 0
    }

    /// Reads one column of the events that a filter accepts.
    private static func rows(
        _ connection: Connection, _ column: String, after seq: Int64, _ filter: EventFilter, _ order: Order, limit: Int,
        offset: Int = 0
    ) throws -> SQLRows {
        var values: [(any SQLValue)?] = [seq, limit, offset]
        var conditions = ["e.seq > $1"]
        func number(_ value: any SQLValue) -> String {
            values.append(value)
            return "$\(values.count)"
        }
        var (prefix, table) = ("", "event e")
        if let time = filter.since?.milliseconds {
            // Times may go back where seqs do not, so the first seq of the time is only a lower bound; the time itself is a
            // condition too. `offset 0` keeps the index of the time: the key's would be walked from its beginning.
            let since = number(time)
            prefix = """
                with floor as materialized (
                  select min(seq) as seq from (select seq from event where time >= \(since) offset 0) as later)
                """
            conditions += ["e.seq >= (select seq from floor)", "e.time >= \(since)"]
        }
        if let until = filter.until { conditions.append("e.time < \(number(until.milliseconds))") }
        if let source = filter.source { conditions.append("e.source = \(number(source))") }
        if let key = filter.key { conditions.append("e.key = \(number(key))") }
        if !filter.kinds.isEmpty {
            let types = filter.kinds.map(\.rawValue).sorted().map { number($0) }
            conditions.append("e.type in (\(types.joined(separator: ", ")))")
        }
        let isSent = filter.isSent ? "state in ('pending', 'retry', 'paused', 'sent')" : "true"
        if let rule = filter.rule {
            // Distinct, since a rule may have several deliveries of one event.
            table = """
                (select distinct event from delivery where rule = \(number(rule)) and event > $1 and \(isSent)
                  order by event \(order.rawValue)) as d join event e on e.seq = d.event
                """
        } else if filter.isSent {
            conditions.append("exists (select 1 from delivery where event = e.seq and \(isSent))")
        }
        let sql = """
            \(prefix) select \(column) from \(table) where \(conditions.joined(separator: " and "))
            order by e.seq \(order.rawValue) limit $2 offset $3
            """
        return try connection.run(sql, values)
    }

    /// Reads the newest events of an item, newest first.
    static func history(_ connection: Connection, source: String, key: String, limit: Int) throws -> [Event] {
        try connection.run(
            "select body from event where source = $1 and key = $2 order by seq desc limit $3", [source, key, limit]
        ).map(decode)
    }

    /// Reads the last event of the watcher that has one of two types; nil when there is none.
    static func lastOfWatcher(
        _ connection: Connection, _ kind: Event.Kind, _ other: Event.Kind
    ) throws -> Event? {
        // A source may have the watcher's name, so the type is a condition too.
        try connection.run(
            "select body from event where source = $1 and type in ($2, $3) order by seq desc limit 1",
            [Event.watcher, kind.rawValue, other.rawValue]
        ).first.map(decode)
    }

    /// Finds events whose id starts with `text`, or whose seq it is. A UUIDv7 starts with 0 until the year 4199; a seq
    /// never does.
    static func matching(_ connection: Connection, _ text: String, limit: Int) throws -> [Event] {
        if let seq = Int64(text), String(seq) == text {
            return try connection.run("select body from event where seq = $1", [seq]).map(decode)
        }
        // '~' sorts after every character of an id.
        return try connection.run(
            "select body from event where id >= $1 and id < $2 order by id limit $3", [text, text + "~", limit]
        ).map(decode)
    }

    private static func decode(_ row: SQLRow) throws -> Event { try EventRow.decode(try row.bytes(0)) }
}
