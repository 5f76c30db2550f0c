// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `stopped_sink`.
enum StoppedSinkRows {
    static func write(_ change: SinkChange, _ transaction: Transaction) {
        switch change {
        case .stopped(let stop):
            transaction.enqueue(
                JournalTable.stoppedSink.upsert,
                [
                    stop.sink, stop.kind.word, stop.reason, stop.since.milliseconds,
                    Int64(bitPattern: stop.fingerprint),
                ])
        case .resumed(let sink): transaction.enqueue("delete from stopped_sink where sink = $1", [sink])
        }
    }

    static func all(_ connection: Connection) throws -> [StoppedSink] {
        try connection.run("select \(StoppedSinkRow.columns) from stopped_sink order by sink")
            .map(StoppedSinkRow.decode)
    }

    /// Forgets the stops of other sinks than these that are older than a time.
    static func delete(before time: Timestamp, except kept: Set<String>, _ transaction: Transaction) {
        transaction.enqueue(
            "delete from stopped_sink where since < $1 and sink <> all($2::text[])",
            [time.milliseconds, SQLArray(kept)])
    }
}
