// SPDX-License-Identifier: Apache-2.0

import GRDB
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
    /// What is left of the selection by a filter; nil before the first step.
    private var parts: [Part]?
    private(set) var isDone = false

    /// The pending or the dead deliveries of one sink, after an id: there is one index for each.
    private struct Part: Sendable {
        var sink: String
        var isDead: Bool
        var after: Int64 = 0
    }

    init(_ action: Action, _ selection: DeliverySelection, at now: Timestamp) {
        (self.action, self.selection, self.now) = (action, selection, now)
    }

    /// Changes the next deliveries.
    /// - Returns: the sink of each changed delivery.
    mutating func run(_ db: Database) throws -> [String] {
        switch selection {
        case .ids(let ids):
            isDone = true
            return try ids.flatMap { try update(db, where: "id = ? and \(states)", [$0]).map(\.sink) }
        case .all(let filter): return try run(filter, db)
        }
    }

    private mutating func run(_ filter: DeliveryFilter, _ db: Database) throws -> [String] {
        var left = try parts ?? parts(of: filter, db)
        var sinks: [String] = []
        while sinks.count < DeliveryChange.step, var part = left.first {
            let most = DeliveryChange.step - sinks.count
            let changed = try update(
                db, where: "id in (\(DeliveryChange.select(filter, isDead: part.isDead, action)))",
                arguments(filter, part, most: most))
            sinks += changed.map(\.sink)
            part.after = changed.map(\.id).max() ?? part.after
            if changed.count < most { left.removeFirst() } else { left[0] = part }
        }
        (parts, isDone) = (left, left.isEmpty)
        return sinks
    }

    private func parts(of filter: DeliveryFilter, _ db: Database) throws -> [Part] {
        let sinks = try filter.sink.map { [$0] } ?? String.fetchAll(db, sql: QueueTotalRows.sinks)
        let kinds: [Bool] =
            switch action {
            case .retry: [false, true]
            case .drop: [false]
            case .clear: [true]
            }
        return sinks.flatMap { sink in kinds.map { Part(sink: sink, isDead: $0) } }
    }

    /// The states that change, written as the partial indexes have it.
    private var states: String {
        switch action {
        case .retry: "state in ('dead', 'paused', 'retry')"
        case .drop: "ended_at is null"
        case .clear: "state = 'dead'"
        }
    }

    /// Builds the statement that finds the deliveries of one part.
    static func select(_ filter: DeliveryFilter, isDead: Bool, _ action: Action) -> String {
        var conditions = ["sink = ?", "id > ?"]
        conditions.append(isDead ? "state = 'dead'" : "ended_at is null")
        if !isDead, action == .retry { conditions.append("state in ('paused', 'retry')") }
        // The unary plus keeps an index of another order out.
        if filter.rule != nil { conditions.append("+rule = ?") }
        if filter.event != nil { conditions.append("+event = ?") }
        if filter.before != nil { conditions.append("+created < ?") }
        return "select id from delivery where \(conditions.joined(separator: " and ")) order by id limit ?"
    }

    private func arguments(_ filter: DeliveryFilter, _ part: Part, most: Int) -> StatementArguments {
        var arguments: StatementArguments = [part.sink, part.after]
        if let rule = filter.rule { arguments += [rule] }
        if let event = filter.event { arguments += [event] }
        if let before = filter.before { arguments += [before.milliseconds] }
        return arguments + [most]
    }

    private func update(
        _ db: Database, where condition: String, _ chosen: StatementArguments
    ) throws -> [(id: Int64, sink: String)] {
        let time = now.milliseconds
        let (change, values): (String, StatementArguments) =
            switch action {
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
        let statement = try db.cachedStatement(sql: "\(change) where \(condition) returning id, sink")
        let changed: [(id: Int64, sink: String)] = try Row.fetchAll(statement, arguments: values + chosen).map {
            ($0[0], $0[1])
        }
        guard action == .retry else { return changed }
        // Its attempts are counted from one again: those of before would stand between them.
        let forget = try db.cachedStatement(sql: "delete from attempt where delivery = ?")
        for delivery in changed { try forget.execute(arguments: [delivery.id]) }
        return changed
    }
}
