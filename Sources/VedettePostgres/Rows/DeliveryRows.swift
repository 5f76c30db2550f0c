// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `delivery`.
enum DeliveryRows {
    /// The texts of a row that `journal.bytes` counts, beside the event.
    static let bytes = "octet_length(title) + octet_length(text) + coalesce(octet_length(event_body), 0)"

    /// Moves the time at which pending deliveries were created, from which their age counts.
    static func excludeFromAge(_ pause: Duration, _ transaction: Transaction) throws {
        try transaction.run(
            "update delivery set created = created + $1 where ended_at is null", [pause.wholeMilliseconds])
    }

    /// Jumps from lane to lane, for a lane may hold 100,000 deliveries.
    static func lanes(_ connection: Connection) throws -> [DeliveryLane] {
        try connection.run(
            """
            with recursive lane as (
              (select source, sink, priority from delivery where ended_at is null order by source, sink, priority limit 1)
              union all
              select next.source, next.sink, next.priority from lane cross join lateral (
                select d.source, d.sink, d.priority from delivery d
                where d.ended_at is null and (d.source, d.sink, d.priority) > (lane.source, lane.sink, lane.priority)
                order by d.source, d.sink, d.priority limit 1) as next
            ) select source, sink, priority from lane
            """
        ).compactMap { row in
            let (source, sink) = (try row.text(0), try row.text(1))
            return Priority(rawValue: try row.text(2)).map { DeliveryLane(source: source, sink: sink, priority: $0) }
        }
    }

    static func pending(
        _ connection: Connection, in lane: DeliveryLane, after: Int64, limit: Int
    ) throws -> [Delivery] {
        try connection.run(
            """
            \(DeliveryRow.selectQueued) where d.source = $1 and d.sink = $2 and d.priority = $3 and d.id > $4
              and d.ended_at is null order by d.id limit $5
            """, [lane.source, lane.sink, lane.priority.rawValue, after, limit]
        ).map(DeliveryRow.decodeQueued)
    }

    /// Returns which of these are not pending. It looks each up: to join them the server may read all that are pending.
    static func ended(among deliveries: [Int64], _ connection: Connection) throws -> Set<Int64> {
        let rows = try connection.run(
            """
            select n.id from unnest($1::bigint[]) as n (id)
            where (select d.id from delivery d where d.id = n.id and d.ended_at is null) is null
            """, [SQLArray(deliveries)])
        return Set(try rows.map { try $0.int64(0) })
    }

    static func sent(_ connection: Connection, before delivery: Delivery, limit: Int) throws -> [Delivery] {
        try connection.run(
            """
            \(DeliveryRow.select) where d.sink = $1 and d.rule = $2 and d.receiver_id is not null and d.id < $3
            order by d.id desc limit $4
            """, [delivery.message.sink, delivery.message.rule, delivery.id, limit]
        ).map { try DeliveryRow.decode($0).delivery }
    }

    /// Reads messages about a subject or about several, the newest first, by two walks of an index.
    static func messages(
        _ connection: Connection, of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) throws -> [DeliveryStatus] {
        func ids(_ subject: String) -> String {
            """
            (select id from delivery where sink = $1 and rule = $2 and subject = \(subject) and id < $4
              order by id desc limit $5)
            """
        }
        return try connection.run(
            """
            \(DeliveryRow.select) where d.id in (\(ids("$3")) union all \(ids("''"))) order by d.id desc limit $5
            """, [sink, rule, subject, before, limit]
        ).map(DeliveryRow.decode)
    }

    /// Reads what a sink delivered since a time, and its last dead message.
    static func activity(_ connection: Connection, of sink: String, since start: Timestamp) throws -> SinkActivity {
        let last = try connection.run(
            "select ended_at from delivery where sink = $1 and state = 'sent' order by ended_at desc limit 1", [sink]
        ).first
        let count = try connection.run(
            "select count(*) from delivery where sink = $1 and state = 'sent' and ended_at >= $2",
            [sink, start.milliseconds]
        ).first
        let dead = try connection.run(
            "select ended_at, reason from delivery where sink = $1 and state = 'dead' order by id desc limit 1", [sink]
        ).first
        return SinkActivity(
            sink: sink, sent: try count?.int(0) ?? 0,
            lastSentAt: try last.map { Timestamp(milliseconds: try $0.int64(0)) },
            lastDeadAt: try dead.map { Timestamp(milliseconds: try $0.int64(0)) },
            lastDeadReason: dead?.optionalText(1))
    }

    /// Counts the newest messages of a rule. Of those without an event the order is left to the server: no index has it. They
    /// are read from the end of the index on rule and event: with a condition for them the server read the whole table.
    static func count(of rule: String, _ connection: Connection) throws -> RuleCount {
        func rows(_ rest: String) throws -> [RuleCount.Row] {
            try connection.run(
                "select event, sink, state from delivery where rule = $1 \(rest) limit $2",
                [rule, RuleCount.limit + 1]
            ).map { row in
                RuleCount.Row(
                    event: try row.optionalInt64(0), sink: try row.text(1),
                    state: DeliveryState(rawValue: try row.text(2)))
            }
        }
        let others = try rows("order by event desc nulls first").filter { $0.event == nil }
        return RuleCount(events: try rows("and event is not null order by event desc"), others: others)
    }

    /// Reads deliveries in the order of release, from the first id above `after`.
    static func select(
        _ connection: Connection, _ filter: DeliveryFilter, after: Int64, limit: Int
    ) throws -> [DeliveryStatus] {
        var values: [(any SQLValue)?] = [after, limit]
        func number(_ value: any SQLValue) -> String {
            values.append(value)
            return "$\(values.count)"
        }
        var conditions = ["d.id > $1"]
        if let sink = filter.sink { conditions.append("d.sink = \(number(sink))") }
        if let rule = filter.rule { conditions.append("d.rule = \(number(rule))") }
        if let event = filter.event { conditions.append(event == 0 ? "d.event is null" : "d.event = \(number(event))") }
        if let before = filter.before { conditions.append("d.created < \(number(before.milliseconds))") }
        func part(_ state: String?) -> String {
            "\(DeliveryRow.select) where \((conditions + (state.map { [$0] } ?? [])).joined(separator: " and ")) order by d.id limit $2"
        }
        // An index has the dead rows of each sink in the order of release; none has the dead rows of all sinks.
        func dead() -> String {
            guard filter.sink == nil else { return part("d.state = 'dead'") }
            return """
                select found.* from (select sink from queue_total where state = 'dead' and count > 0) as queue
                cross join lateral (\(part("d.sink = queue.sink and d.state = 'dead'"))) as found
                """
        }
        let sql: String
        switch filter.states {
        case .unsent:
            sql = "select * from ((\(part("d.ended_at is null"))) union all (\(dead()))) as unsent order by id limit $2"
        case .only(.dead): sql = "select * from (\(dead())) as dead order by id limit $2"
        case .only(let state):
            let isPending = state.isPending ? " and d.ended_at is null" : ""
            sql = part("d.state = \(number(state.rawValue))\(isPending)")
        case nil: sql = part(nil)
        }
        return try connection.run(sql, values).map(DeliveryRow.decode)
    }

    /// Reads the deliveries of messages by the id of their own event, or its beginning, where that is not stored.
    static func select(_ connection: Connection, ofMessage text: String) throws -> [DeliveryStatus] {
        // '~' sorts after every character of an id.
        try connection.run(
            """
            \(DeliveryRow.select) where d.own_event_id >= $1 and d.own_event_id < $2
            order by d.own_event_id, d.id limit $3
            """, [text, text + "~", DeliveryRow.maximumOfMessage]
        ).map(DeliveryRow.decode)
    }

    /// Reads the states of the deliveries of events, by seq.
    static func states(of events: [Int64], _ connection: Connection) throws -> [Int64: Set<DeliveryState>] {
        var states: [Int64: Set<DeliveryState>] = [:]
        let rows = try connection.run(
            "select event, state from delivery where event = any($1::bigint[])", [SQLArray(events)])
        for row in rows {
            guard let state = DeliveryState(rawValue: try row.text(1)) else { continue }
            states[try row.int64(0), default: []].insert(state)
        }
        return states
    }

    static func select(_ ids: [Int64], _ transaction: Transaction) throws -> [Delivery] {
        let rows = try transaction.run(ids.map { SQLCommand(DeliveryRow.select + " where d.id = $1", [$0]) })
        return try rows.compactMap { try $0.first.map { try DeliveryRow.decode($0).delivery } }
    }

    /// Deliveries that one statement writes, or changes: it counts their queues once, which takes longer than a row.
    static let batch = 1000

    /// Writes new deliveries.
    /// - Parameter places: the rows of their events; one that is not there is not in the journal.
    /// - Returns: the deliveries with their ids.
    static func write(
        _ deliveries: [Delivery], places: [Identifier: EventRow.Place], _ transaction: Transaction
    ) -> [Delivery] {
        var written: [Delivery] = []
        var rows: [JournalRow] = []
        for var delivery in deliveries {
            let place = places[delivery.message.event.id]
            delivery.message.event.seq = place?.seq ?? 0
            delivery.id = transaction.nextDelivery()
            written.append(delivery)
            let row = DeliveryRow.new(delivery, event: place)
            transaction.count(bytes: CopyRows.textBytes(of: row, .delivery))
            rows.append(row)
            if rows.count == batch {
                insert(rows, transaction)
                rows = []
            }
        }
        if !rows.isEmpty { insert(rows, transaction) }
        return written
    }

    private static func insert(_ rows: [JournalRow], _ transaction: Transaction) {
        let columns = JournalTable.delivery.columns.indices
        transaction.enqueue(insert, columns.map { column in SQLArray(rows.map { $0[column].sqlValue }) })
    }

    private static let insert = """
        insert into delivery (\(JournalTable.delivery.names)) select * from unnest(\(JournalTable.delivery.columns.enumerated()
          .map { "$\($0 + 1)::\($1.kind == .integer ? "bigint" : "text")[]" }.joined(separator: ", ")))
        """
}
