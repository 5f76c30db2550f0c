// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `attempt`, and what an attempt changes in its delivery.
enum AttemptRows {
    /// Writes outcomes.
    /// - Parameter isFenced: whether to leave out the outcomes of sinks that the writer does not hold.
    /// - Returns: the successors of deliveries that ended.
    static func write(
        _ attempts: [Attempt], isFenced: Bool = false, _ transaction: Transaction
    ) throws -> [Delivery] {
        guard !attempts.isEmpty else { return [] }
        let changed = try update(attempts, fence: isFenced ? transaction.sharedWriter : nil, transaction)
        let stored = zip(attempts, changed).filter(\.1).map(\.0)
        // The delivery's own row records a success.
        for attempt in stored where attempt.wasMade && attempt.state != .sent { insert(attempt, transaction) }
        let successors = stored.compactMap(\.successor)
        let places = try EventRows.places(of: Array(Set(successors.map(\.message.event.id))), transaction)
        return DeliveryRows.write(successors, places: places, transaction)
    }

    /// Changes the deliveries of attempts, many with one statement.
    /// - Parameter fence: the watcher that must hold the sinks; nil for any.
    /// - Returns: of each attempt, whether it changed its delivery.
    private static func update(
        _ attempts: [Attempt], fence: Int64?, _ transaction: Transaction
    ) throws -> [Bool] {
        let runs = runs(of: attempts)
        let rows = try transaction.run(
            runs.map { run in
                let values: [(any SQLValue)?] = [
                    SQLArray(run.map(\.state.rawValue)), SQLArray(run.map(\.attempts)),
                    SQLArray(run.map(\.due.milliseconds)), SQLArray(run.map { $0.reason as (any SQLValue)? }),
                    SQLArray(run.map { $0.state.isPending ? nil : $0.at.milliseconds }), SQLArray(run.map(\.delivery)),
                    SQLArray(run.map { $0.receiverID as (any SQLValue)? }),
                ]
                let sql = update + (fence == nil ? "" : fenced) + " returning d.id"
                return SQLCommand(sql, values + (fence.map { [$0] } ?? []))
            })
        return try zip(runs, rows).flatMap { run, rows in
            let changed = Set(try rows.map { try $0.int64(0) })
            return run.map { changed.contains($0.delivery) }
        }
    }

    /// Divides attempts into parts with one attempt of a delivery each: a statement changes a row once.
    private static func runs(of attempts: [Attempt]) -> [[Attempt]] {
        var runs: [[Attempt]] = []
        var seen: Set<Int64> = []
        for attempt in attempts {
            if runs.isEmpty || seen.count == DeliveryRows.batch || seen.contains(attempt.delivery) {
                runs.append([])
                seen = []
            }
            runs[runs.count - 1].append(attempt)
            seen.insert(attempt.delivery)
        }
        return runs
    }

    /// An outcome for a delivery that has ended changes nothing (I5), but the receiver may have one that was evicted or
    /// dropped while its attempt was in flight.
    private static let update = """
        update delivery as d
        set state = a.state, attempts = a.attempts, due = a.due, reason = a.reason, ended_at = a.ended_at,
          receiver_id = a.receiver_id
        from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
          as a (state, attempts, due, reason, ended_at, id, receiver_id)
        where d.id = a.id and (d.ended_at is null or a.state = 'sent' and d.state in ('dead', 'suppressed'))
        """

    /// The watcher that holds the sink now attempts it again.
    private static let fenced =
        " and exists (select 1 from lease where kind = 'sink' and name = d.sink and watcher = $8)"

    private static func insert(_ attempt: Attempt, _ transaction: Transaction) {
        transaction.enqueue(
            JournalTable.attempt.upsert,
            [
                attempt.delivery, attempt.attempts % Retention.attempts, attempt.attempts, attempt.at.milliseconds,
                attempt.due.milliseconds, attempt.state.rawValue, attempt.reason,
            ])
    }

    /// Reads the failed attempts of a delivery that are still kept, in order.
    static func of(_ delivery: Int64, _ connection: Connection) throws -> [Attempt] {
        try connection.run(
            "select \(AttemptRow.columns) from attempt where delivery = $1 order by number", [delivery]
        ).compactMap { try AttemptRow.decode($0, of: delivery) }
    }
}
