// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `attempt`, and what an attempt changes in its delivery.
enum AttemptRows {
    /// Writes outcomes.
    /// - Returns: the successors of deliveries that ended.
    static func write(_ attempts: [Attempt], _ db: Database) throws -> [Delivery] {
        var successors: [Delivery] = []
        // An outcome for a delivery that has ended changes nothing (I5), but the receiver may have one that was evicted or
        // dropped while its attempt was in flight.
        let update = try db.cachedStatement(
            sql: """
                update delivery set state = ?1, attempts = ?2, due = ?3, reason = ?4, ended_at = ?5, receiver_id = ?7
                where id = ?6 and (ended_at is null or ?1 = 'sent' and state in ('dead', 'suppressed'))
                """)
        let insert = try db.cachedStatement(sql: JournalTable.attempt.upsert)
        for attempt in attempts {
            try update.execute(arguments: [
                attempt.state.rawValue, attempt.attempts, attempt.due.milliseconds, attempt.reason,
                attempt.state.isPending ? nil : attempt.at.milliseconds, attempt.delivery,
                attempt.receiverID,
            ])
            guard db.changesCount > 0 else { continue }
            // The delivery's own row records a success.
            if attempt.wasMade, attempt.state != .sent {
                try insert.execute(arguments: [
                    attempt.delivery, attempt.attempts % Retention.attempts, attempt.attempts, attempt.at.milliseconds,
                    attempt.due.milliseconds, attempt.state.rawValue, attempt.reason,
                ])
            }
            if let successor = attempt.successor { successors.append(try write(successor, db)) }
        }
        return successors
    }

    private static func write(_ successor: Delivery, _ db: Database) throws -> Delivery {
        let event = try EventRows.place(of: successor.message.event.id, db)
        return try DeliveryRows.write(successor, event: event, with: db.cachedStatement(sql: DeliveryRows.insert), db)
    }

    /// Reads the failed attempts of a delivery that are still kept, in order.
    static func of(_ delivery: Int64, _ db: Database) throws -> [Attempt] {
        let select = "select \(AttemptRow.columns) from attempt where delivery = ? order by number"
        return try Row.fetchCursor(db.cachedStatement(sql: select), arguments: [delivery])
            .decode { try AttemptRow.decode($0, of: delivery) }
    }
}
