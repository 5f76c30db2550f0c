// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// A change of selected deliveries by a person, in steps of few rows.
struct DeliveryChange: Sendable {
    /// Rows of one step.
    static let step = 5000

    enum Action: Sendable {
        /// Makes dead, paused and retrying deliveries pending again.
        case retry
        /// Ends pending deliveries as dead.
        case drop
        /// Deletes dead deliveries.
        case clear
    }

    private let action: Action
    private let selection: DeliverySelection
    private let now: Timestamp
    /// The last delivery of the step before.
    private var after: Int64 = 0
    private(set) var isDone = false

    init(_ action: Action, _ selection: DeliverySelection, at now: Timestamp) {
        (self.action, self.selection, self.now) = (action, selection, now)
    }

    /// Changes the next deliveries.
    /// - Returns: the sink of each changed delivery.
    mutating func run(_ transaction: Transaction) throws -> [String] {
        var changed: [(id: Int64, sink: String)] = []
        switch selection {
        case .ids(let ids):
            isDone = true
            let updates = ids.map { SQLCommand(update(where: "id = $2 and \(states)"), [now.milliseconds, $0]) }
            changed = try transaction.run(updates).flatMap { try self.changed($0, transaction) }
        case .all(let filter):
            var values: [(any SQLValue)?] = [now.milliseconds, after, Self.step]
            let condition = condition(filter, &values)
            changed = try self.changed(try transaction.run(update(where: condition), values), transaction)
            after = changed.map(\.id).max() ?? after
            isDone = changed.count < Self.step
        }
        if action == .retry {
            // Its attempts are counted from one again: those of before would stand between them.
            for delivery in changed { transaction.enqueue("delete from attempt where delivery = $1", [delivery.id]) }
        }
        return changed.map(\.sink)
    }

    /// Reads what a statement returned, and subtracts the texts of deleted rows from those of the journal.
    private func changed(_ rows: SQLRows, _ transaction: Transaction) throws -> [(id: Int64, sink: String)] {
        try rows.map { row in
            if action == .clear { transaction.count(bytes: -(try row.int64(2))) }
            return (try row.int64(0), try row.text(1))
        }
    }

    /// The states that change, written as the partial indexes have it.
    private var states: String {
        switch action {
        case .retry: "(state = 'dead' or ended_at is null and state in ('paused', 'retry'))"
        case .drop: "ended_at is null"
        case .clear: "state = 'dead'"
        }
    }

    /// Numbered as in `run`: `$1` is now, `$2` the id before the first, `$3` the number of rows.
    private func condition(_ filter: DeliveryFilter, _ values: inout [(any SQLValue)?]) -> String {
        var conditions = ["id > $2", states]
        func add(_ condition: String, _ value: (any SQLValue)?, _ values: inout [(any SQLValue)?]) {
            guard let value else { return }
            values.append(value)
            conditions.append("\(condition) $\(values.count)")
        }
        add("sink =", filter.sink, &values)
        add("rule =", filter.rule, &values)
        add("event =", filter.event, &values)
        add("created <", filter.before?.milliseconds, &values)
        return "id in (select id from delivery where \(conditions.joined(separator: " and ")) order by id limit $3)"
    }

    private func update(where condition: String) -> String {
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
}
