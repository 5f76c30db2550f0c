// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `attempt`, and what an attempt changes in its delivery.
enum AttemptRows {
    /// Writes outcomes.
    /// - Parameter isFenced: whether those of sinks that the writer does not hold are left out.
    /// - Returns: the successors of dead deliveries.
    static func write(
        _ attempts: [Attempt], isFenced: Bool = false, _ transaction: Transaction
    ) throws -> [Delivery] {
        guard !attempts.isEmpty else { return [] }
        // An outcome for a delivery that has ended changes nothing (I5), but the receiver may have one that was evicted or
        // dropped while its attempt was in flight.
        var update = """
            update delivery set state = $1, attempts = $2, due = $3, reason = $4, ended_at = $5
            where id = $6 and (ended_at is null or $1 = 'sent' and state = 'dead')
            """
        let writer = isFenced ? transaction.sharedWriter : nil
        // The watcher that holds the sink now attempts it again.
        if writer != nil {
            update += " and exists (select 1 from lease where name = 'sink/' || sink and watcher = $7)"
        }
        let updated = try transaction.run(
            attempts.map { attempt in
                SQLCommand(
                    update,
                    [
                        attempt.state.rawValue, attempt.attempts, attempt.due.milliseconds, attempt.reason,
                        attempt.state.isPending ? nil : attempt.at.milliseconds, attempt.delivery,
                    ] + (writer.map { [$0] } ?? []))
            })
        // The delivery's own row records a success.
        let failed = zip(attempts, updated).filter { $0.state != .sent && $1.changed > 0 }.map(\.0)
        for attempt in failed where attempt.wasMade { insert(attempt, transaction) }
        let successors = failed.compactMap(\.successor)
        let places = try EventRows.places(of: Array(Set(successors.map(\.message.event.id))), transaction)
        return successors.map { DeliveryRows.write($0, event: places[$0.message.event.id], transaction) }
    }

    private static func insert(_ attempt: Attempt, _ transaction: Transaction) {
        transaction.enqueue(
            """
            insert into attempt (delivery, slot, number, at, due, state, reason) values ($1, $2, $3, $4, $5, $6, $7)
            on conflict (delivery, slot) do update set number = excluded.number, at = excluded.at, due = excluded.due,
              state = excluded.state, reason = excluded.reason
            """,
            [
                attempt.delivery, attempt.attempts % Attempt.kept, attempt.attempts, attempt.at.milliseconds,
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
