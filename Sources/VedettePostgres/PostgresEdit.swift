// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The change of a command, in a transaction that is open.
struct PostgresEdit: JournalEdit {
    let transaction: Transaction

    func add(_ silence: Silence) throws -> Int64 { try SilenceRows.add(silence, transaction) }

    func endSilences(_ ids: [Int64]) throws -> Int { try SilenceRows.endNow(ids, transaction) }

    func deleteSilences(overAt time: Timestamp) throws { SilenceRows.endOver(before: time, transaction) }

    func queuedSinks() throws -> [String] { try QueueTotalRows.counts(transaction).map(\.sink) }

    func lastDelivery() -> Int64 { transaction.lastDelivery }

    func change(_ ids: [Int64], _ change: DeliveryChange) throws -> [DeliveryChange.Changed] {
        try DeliveryChangeRows.change(ids, change, transaction)
    }

    func change(
        _ part: DeliveryChange.Part, _ filter: DeliveryFilter, _ change: DeliveryChange, limit: Int
    ) throws -> [DeliveryChange.Changed] {
        try DeliveryChangeRows.change(part, filter, change, limit: limit, transaction)
    }
}
