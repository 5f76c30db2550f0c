// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows that a person's change of deliveries reads and writes.
enum DeliveryChangeRows {
    static func change(
        _ ids: [Int64], _ change: DeliveryChange, _ transaction: Transaction
    ) throws -> [DeliveryChange.Changed] {
        let update = update(change.action, where: "id = $2 and \(states(change.action))")
        let rows = try transaction.run(ids.map { SQLCommand(update, [change.now.milliseconds, $0]) })
        return try rows.flatMap { try changed($0, change.action, transaction) }
    }

    static func change(
        _ part: DeliveryChange.Part, _ filter: DeliveryFilter, _ change: DeliveryChange, limit: Int,
        _ transaction: Transaction
    ) throws -> [DeliveryChange.Changed] {
        var values: [(any SQLValue)?] = [change.now.milliseconds, part.after, limit, part.sink, part.last]
        var conditions = ["sink = $4", "id > $2", "id <= $5", part.isDead ? "state = 'dead'" : "ended_at is null"]
        if !part.isDead, change.action == .retry { conditions.append("state in ('paused', 'retry')") }
        func add(_ condition: String, _ value: (any SQLValue)?) {
            guard let value else { return }
            values.append(value)
            conditions.append("\(condition) $\(values.count)")
        }
        add("rule =", filter.rule)
        add("coalesce(event, 0) =", filter.event)
        add("created <", filter.before?.milliseconds)
        let chosen = "select id from delivery where \(conditions.joined(separator: " and ")) order by id limit $3"
        // An array: for a sub-select of thousands of rows the server may read the whole table.
        let rows = try transaction.run(update(change.action, where: "id = any(array(\(chosen)))"), values)
        return try changed(rows, change.action, transaction)
    }

    /// The states that change.
    private static func states(_ action: DeliveryChange.Action) -> String {
        switch action {
        case .retry: "(state = 'dead' or ended_at is null and state in ('paused', 'retry'))"
        case .drop: "ended_at is null"
        case .clear: "state = 'dead'"
        }
    }

    /// - Parameter condition: of which `$1` is the time.
    private static func update(_ action: DeliveryChange.Action, where condition: String) -> String {
        let set: String
        switch action {
        case .retry: set = "state = 'pending', attempts = 0, due = $1, created = $1, reason = null, ended_at = null"
        case .drop: set = "state = 'dead', reason = '\(Delivery.droppedReason)', ended_at = $1"
        // Its attempts go with it. The server wants a type for a parameter that nothing uses.
        case .clear:
            return """
                delete from delivery where \(condition) and $1::bigint > 0
                returning id, sink, \(DeliveryRows.bytes)
                """
        }
        return "update delivery set \(set) where \(condition) returning id, sink"
    }

    /// Reads what a statement returned, subtracts the texts of deleted rows from the journal's, and deletes the
    /// attempts of deliveries that begin again: the next ones are counted from one.
    private static func changed(
        _ rows: SQLRows, _ action: DeliveryChange.Action, _ transaction: Transaction
    ) throws -> [DeliveryChange.Changed] {
        try rows.map { row in
            let changed = DeliveryChange.Changed(id: try row.int64(0), sink: try row.text(1))
            switch action {
            case .retry: transaction.enqueue("delete from attempt where delivery = $1", [changed.id])
            case .drop: break
            case .clear: transaction.count(bytes: -(try row.int64(2)))
            }
            return changed
        }
    }
}
