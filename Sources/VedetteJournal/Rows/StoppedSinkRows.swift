// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `stopped_sink`.
enum StoppedSinkRows {
    static func write(_ change: SinkChange, _ db: Database) throws {
        switch change {
        case .stopped(let stop):
            try db.cachedStatement(sql: JournalTable.stoppedSink.upsert).execute(arguments: [
                stop.sink, stop.kind.word, stop.reason, stop.since.milliseconds, Int64(bitPattern: stop.fingerprint),
            ])
        case .resumed(let sink): try delete(sink, db)
        }
    }

    static func all(_ db: Database) throws -> [StoppedSink] {
        try Row.fetchCursor(db.cachedStatement(sql: "select \(StoppedSinkRow.columns) from stopped_sink order by sink"))
            .decode(StoppedSinkRow.decode)
    }

    /// Forgets the stops of other sinks than these that are older than a time.
    static func delete(before time: Timestamp, except kept: Set<String>, _ db: Database) throws {
        for stop in try all(db) where stop.since < time && !kept.contains(stop.sink) { try delete(stop.sink, db) }
    }

    private static func delete(_ sink: String, _ db: Database) throws {
        try db.cachedStatement(sql: "delete from stopped_sink where sink = ?").execute(arguments: [sink])
    }
}
