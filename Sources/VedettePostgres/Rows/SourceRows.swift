// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `source` and `item`.
enum SourceRows {
    static func write(_ record: SourceRecord, _ transaction: Transaction) {
        transaction.enqueue(
            """
            insert into source (name, polled_at, record) values ($1, $2, $3)
            on conflict (name) do update set polled_at = excluded.polled_at, record = excluded.record
            """,
            [
                record.name, polledAt(record), UTF8Text(record.bytes),
            ])
    }

    /// The value of `polled_at`: for a source that was never polled, when it is due.
    static func polledAt(_ record: SourceRecord) -> Int64? {
        (record.health.lastPollAt ?? record.due)?.milliseconds
    }

    static func write(_ item: StoredItem, of source: String, _ transaction: Transaction) {
        transaction.enqueue(
            JournalTable.item.upsert,
            [
                source, item.key, Int64(bitPattern: item.digest), Int64(bitPattern: item.shown),
                item.absentSince?.milliseconds, item.stateSince.milliseconds, UTF8Text(item.body),
            ])
    }

    static func records(_ connection: Connection) throws -> [SourceRecord] {
        try connection.run("select \(SourceRow.columns) from source order by name").map(SourceRow.decode)
    }

    static func record(_ connection: Connection, of source: String) throws -> SourceRecord? {
        try connection.run("select \(SourceRow.columns) from source where name = $1", [source]).first
            .map(SourceRow.decode)
    }

    static func items(_ connection: Connection, of source: String) throws -> [String: StoredItem] {
        try items(connection.run(selectItems, [source]))
    }

    static func items(
        _ connection: Connection, of source: String, withKeys keys: Set<String>
    ) throws -> [String: StoredItem] {
        guard !keys.isEmpty else { return [:] }
        let commands = keys.map { SQLCommand(selectItems + " and key = $2", [source, $0]) }
        return try connection.run(commands).reduce(into: [:]) { try $0.merge(items($1)) { first, _ in first } }
    }

    static func items(
        _ connection: Connection, of source: String, from offset: Int, limit: Int
    ) throws -> [StoredItem] {
        let select = selectItems + " and absent_since is null order by key limit $2 offset $3"
        let rows = try items(connection.run(select, [source, limit, offset]))
        return rows.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static let selectItems = "select \(ItemRow.columns) from item where source = $1"

    private static func items(_ rows: SQLRows) throws -> [String: StoredItem] {
        var items: [String: StoredItem] = [:]
        items.reserveCapacity(rows.count)
        for row in rows {
            let item = try ItemRow.decode(row)
            items[item.key] = item
        }
        return items
    }
}
