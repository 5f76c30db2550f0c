// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows that a person's change of deliveries reads and writes.
enum DeliveryChangeRows {
    static func change(_ ids: [Int64], _ change: DeliveryChange, _ db: Database) throws -> [DeliveryChange.Changed] {
        try ids.flatMap { try update(db, change, where: "id = ? and \(states(change.action))", [$0]) }
    }

    static func change(
        _ part: DeliveryChange.Part, _ filter: DeliveryFilter, _ change: DeliveryChange, limit: Int, _ db: Database
    ) throws -> [DeliveryChange.Changed] {
        try update(
            db, change, where: "id in (\(select(filter, isDead: part.isDead, change.action)))",
            arguments(filter, part, limit: limit))
    }

    /// The states that change, written as the partial indexes have it.
    private static func states(_ action: DeliveryChange.Action) -> String {
        switch action {
        case .retry: "state in ('dead', 'paused', 'retry')"
        case .drop: "ended_at is null"
        case .clear: "state = 'dead'"
        }
    }

    /// Builds the statement that finds the deliveries of one part.
    private static func select(_ filter: DeliveryFilter, isDead: Bool, _ action: DeliveryChange.Action) -> String {
        var conditions = ["sink = ?", "id > ?", "id <= ?"]
        conditions.append(isDead ? "state = 'dead'" : "ended_at is null")
        if !isDead, action == .retry { conditions.append("state in ('paused', 'retry')") }
        // The unary plus keeps an index of another order out.
        if filter.rule != nil { conditions.append("+rule = ?") }
        if filter.event != nil { conditions.append("coalesce(event, 0) = ?") }
        if filter.before != nil { conditions.append("+created < ?") }
        return "select id from delivery where \(conditions.joined(separator: " and ")) order by id limit ?"
    }

    private static func arguments(
        _ filter: DeliveryFilter, _ part: DeliveryChange.Part, limit: Int
    ) -> StatementArguments {
        var arguments: StatementArguments = [part.sink, part.after, part.last]
        if let rule = filter.rule { arguments += [rule] }
        if let event = filter.event { arguments += [event] }
        if let before = filter.before { arguments += [before.milliseconds] }
        return arguments + [limit]
    }

    private static func update(
        _ db: Database, _ change: DeliveryChange, where condition: String, _ chosen: StatementArguments
    ) throws -> [DeliveryChange.Changed] {
        let time = change.now.milliseconds
        let (update, values): (String, StatementArguments) =
            switch change.action {
            case .retry:
                (
                    "update delivery set state = 'pending', attempts = 0, due = ?, created = ?, reason = null, ended_at = null",
                    [time, time]
                )
            case .drop:
                ("update delivery set state = 'dead', reason = ?, ended_at = ?", [Delivery.droppedReason, time])
            // Its attempts go with it.
            case .clear: ("delete from delivery", [])
            }
        let statement = try db.cachedStatement(sql: "\(update) where \(condition) returning id, sink")
        let changed = try Row.fetchAll(statement, arguments: values + chosen).map {
            DeliveryChange.Changed(id: $0[0], sink: $0[1])
        }
        guard change.action == .retry else { return changed }
        // Its attempts are counted from one again: the earlier ones would stand between them.
        let forget = try db.cachedStatement(sql: "delete from attempt where delivery = ?")
        for delivery in changed { try forget.execute(arguments: [delivery.id]) }
        return changed
    }
}
