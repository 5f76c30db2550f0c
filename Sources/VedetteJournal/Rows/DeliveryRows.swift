// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `delivery`.
enum DeliveryRows {
    /// Moves the time at which pending deliveries were created, from which their age counts.
    static func excludeFromAge(_ pause: Duration, _ db: Database) throws {
        let update = "update delivery indexed by delivery_lane set created = created + ? where ended_at is null"
        try db.cachedStatement(sql: update).execute(arguments: [pause.wholeMilliseconds])
    }

    static let nextLane = """
        select source, sink, priority from delivery where ended_at is null and (source, sink, priority) > (?, ?, ?)
        order by source, sink, priority limit 1
        """

    /// Jumps from lane to lane, for a lane may hold 100,000 deliveries.
    static func lanes(_ db: Database) throws -> [DeliveryLane] {
        let next = try db.cachedStatement(sql: nextLane)
        var lanes: [DeliveryLane] = []
        var last: StatementArguments = ["", "", ""]
        while let row = try Row.fetchOne(next, arguments: last) {
            last = [row[0] as String, row[1] as String, row[2] as String]
            guard let priority = Priority(rawValue: row[2]) else { continue }
            lanes.append(DeliveryLane(source: row[0], sink: row[1], priority: priority))
        }
        return lanes
    }

    /// Reads the states of the deliveries of events, by seq.
    static func states(of events: [Int64], _ db: Database) throws -> [Int64: Set<DeliveryState>] {
        guard let first = events.min(), let last = events.max() else { return [:] }
        // Events that follow each other are one range of the index: to look each of them up takes longer.
        let isRange = last - first < events.count
        let (sql, arguments): (String, StatementArguments) =
            isRange
            ? (statesOfRange, [first, last])
            : (statesOfEvents, ["[\(events.map(String.init).joined(separator: ","))]"])
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var states: [Int64: Set<DeliveryState>] = [:]
        while let row = try rows.next() {
            guard let state = DeliveryState(rawValue: row[1]) else { continue }
            states[row[0], default: []].insert(state)
        }
        return states
    }

    static let statesOfRange = "select event, state from delivery where event between ? and ?"

    static let statesOfEvents =
        "select event, state from delivery where event in (select value from json_each(?))"

    static let pendingInLane =
        DeliveryRow.selectQueued
        + " where d.source = ? and d.sink = ? and d.priority = ? and d.id > ? and d.ended_at is null order by d.id limit ?"

    static func pending(_ db: Database, in lane: DeliveryLane, after: Int64, limit: Int) throws -> [Delivery] {
        try Row.fetchCursor(
            db.cachedStatement(sql: pendingInLane),
            arguments: [lane.source, lane.sink, lane.priority.rawValue, after, limit]
        ).decode(DeliveryRow.decodeQueued)
    }

    static let sentBefore =
        "\(DeliveryRow.select) where d.sink = ? and d.rule = ? and d.receiver_id is not null and d.id < ? order by d.id desc limit ?"

    static func sent(_ db: Database, before delivery: Delivery, limit: Int) throws -> [Delivery] {
        let message = delivery.message
        return try select(db, sql: sentBefore, [message.sink, message.rule, delivery.id, limit]).map(\.delivery)
    }

    static let aboutSubject = """
        \(DeliveryRow.select) where d.sink = ? and d.rule = ? and d.subject = ? and d.id < ? order by d.id desc limit ?
        """

    /// Reads messages about a subject or about several, the newest first.
    static func messages(
        _ db: Database, of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) throws -> [DeliveryStatus] {
        // One walk over both would read and sort all that was ever told.
        let found = try Set([subject, ""]).flatMap { subject in
            try select(db, sql: aboutSubject, [sink, rule, subject, before, limit])
        }
        return Array(found.sorted { $0.delivery.id > $1.delivery.id }.prefix(limit))
    }

    /// Reads deliveries in the order of release, from the first id above `after`.
    static func select(
        _ db: Database, _ filter: DeliveryFilter, after: Int64, limit: Int
    ) throws -> [DeliveryStatus] {
        guard filter.states == .unsent else { return try select(db, filter, .asFiltered, after, limit) }
        // The pending and the dead rows of each sink have an index in the order of release; no index has them all.
        let sinks = try filter.sink.map { [$0] } ?? String.fetchAll(db, sql: QueueTotalRows.sinks)
        var found: [DeliveryStatus] = []
        for sink in sinks {
            var filter = filter
            filter.sink = sink
            for part in [Part.pending, .dead] { found += try select(db, filter, part, after, limit) }
        }
        return Array(found.sorted { $0.delivery.id < $1.delivery.id }.prefix(limit))
    }

    /// The part of `.unsent` that one statement reads.
    enum Part {
        case pending, dead, asFiltered
    }

    private static func select(
        _ db: Database, _ filter: DeliveryFilter, _ part: Part, _ after: Int64, _ limit: Int
    ) throws -> [DeliveryStatus] {
        var arguments: StatementArguments = [after]
        if case .only(let state) = filter.states { arguments += [state.rawValue] }
        if let sink = filter.sink { arguments += [sink] }
        if let rule = filter.rule { arguments += [rule] }
        if let event = filter.event, event != 0 { arguments += [event] }
        if let before = filter.before { arguments += [before.milliseconds] }
        return try select(db, sql: sql(filter, part), arguments + [limit])
    }

    static func sql(_ filter: DeliveryFilter, _ part: Part = .asFiltered) -> String {
        var conditions = ["d.id > ?"]
        // Written as the partial indexes have it, so that they apply.
        switch part {
        case .pending: conditions.append("d.ended_at is null")
        case .dead: conditions.append("d.state = 'dead'")
        case .asFiltered:
            guard case .only(let state) = filter.states else { break }
            conditions.append(state == .dead ? "d.state = 'dead' and d.state = ?" : "d.state = ?")
            if state.isPending { conditions.append("d.ended_at is null") }
        }
        if filter.sink != nil { conditions.append("d.sink = ?") }
        // The unary plus keeps an index of another order out.
        if filter.rule != nil { conditions.append("+d.rule = ?") }
        if let event = filter.event { conditions.append(event == 0 ? "d.event is null" : "d.event = ?") }
        if filter.before != nil { conditions.append("d.created < ?") }
        return "\(DeliveryRow.select) where \(conditions.joined(separator: " and ")) order by d.id limit ?"
    }

    /// '~' sorts after every character of an id.
    static let ofMessage = """
        \(DeliveryRow.select) where d.own_event_id >= ? and d.own_event_id < ? order by d.own_event_id, d.id limit ?
        """

    static func select(
        _ db: Database, sql: String, _ arguments: StatementArguments
    ) throws -> [DeliveryStatus] {
        try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments).decode(DeliveryRow.decode)
    }

    static let lastSent = "select max(ended_at) from delivery where sink = ? and state = 'sent'"

    static let sentSince = "select count(*) from delivery where sink = ? and state = 'sent' and ended_at >= ?"

    static let lastDead =
        "select ended_at, reason from delivery where sink = ? and state = 'dead' order by id desc limit 1"

    /// Reads what a sink delivered since a time, and its last dead message.
    static func activity(_ db: Database, of sink: String, since start: Timestamp) throws -> SinkActivity {
        let sent = try Int64.fetchOne(db.cachedStatement(sql: lastSent), arguments: [sink])
        let count = try Int.fetchOne(db.cachedStatement(sql: sentSince), arguments: [sink, start.milliseconds])
        let dead = try Row.fetchOne(db.cachedStatement(sql: lastDead), arguments: [sink])
        let died: Int64? = dead?[0]
        return SinkActivity(
            sink: sink, sent: count ?? 0, lastSentAt: sent.map(Timestamp.init(milliseconds:)),
            lastDeadAt: died.map(Timestamp.init(milliseconds:)), lastDeadReason: dead?[1])
    }

    static let eventsOfRule =
        "select event, sink, state from delivery where rule = ? and event is not null order by event desc limit ?"

    static let othersOfRule =
        "select event, sink, state from delivery where rule = ? and event is null order by id desc limit ?"

    /// Counts the newest messages of a rule.
    static func count(of rule: String, _ db: Database) throws -> RuleCount {
        func rows(_ sql: String) throws -> [RuleCount.Row] {
            try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [rule, RuleCount.limit + 1]).map {
                RuleCount.Row(event: $0[0], sink: $0[1], state: DeliveryState(rawValue: $0[2]))
            }
        }
        return RuleCount(events: try rows(eventsOfRule), others: try rows(othersOfRule))
    }

    static let insert = CopyRows.insert(into: .delivery)

    /// Writes a new delivery.
    /// - Parameter event: the row of its event; nil when that is not in the journal.
    static func write(
        _ delivery: Delivery, event: EventRow.Place?, with insert: Statement, _ db: Database
    ) throws -> Delivery {
        var delivery = delivery
        (delivery.id, delivery.message.event.seq) = (0, event?.seq ?? 0)
        try insert.execute(arguments: StatementArguments(DeliveryRow.new(delivery, event: event).map(\.databaseValue)))
        delivery.id = db.lastInsertedRowID
        return delivery
    }
}
