// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The change of a command, in a transaction that is open.
struct SQLiteEdit: JournalEdit {
    let db: Database

    func add(_ silence: Silence) throws -> Int64 { try SilenceRows.add(silence, db) }

    func endSilences(_ ids: [Int64]) throws -> Int { try SilenceRows.end(ids, db) }

    func deleteSilences(overAt time: Timestamp) throws { try SilenceRows.endOver(before: time, db) }

    func queuedSinks() throws -> [String] { try String.fetchAll(db, sql: QueueTotalRows.sinks) }

    func lastDelivery() throws -> Int64 { try Int64.fetchOne(db, sql: "select max(id) from delivery") ?? 0 }

    func change(_ ids: [Int64], _ change: DeliveryChange) throws -> [DeliveryChange.Changed] {
        try DeliveryChangeRows.change(ids, change, db)
    }

    func change(
        _ part: DeliveryChange.Part, _ filter: DeliveryFilter, _ change: DeliveryChange, limit: Int
    ) throws -> [DeliveryChange.Changed] {
        try DeliveryChangeRows.change(part, filter, change, limit: limit, db)
    }
}
