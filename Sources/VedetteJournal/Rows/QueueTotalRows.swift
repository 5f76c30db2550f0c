// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `queue_total`, which triggers keep.
enum QueueTotalRows {
    static let sinks = "select distinct sink from queue_total where count > 0"

    static let all = "select sink, state, count, bytes from queue_total where count > 0 order by sink"

    static let ofSink = "select sink, state, count, bytes from queue_total where sink = ? and count > 0"

    /// Counts the pending and dead deliveries of each sink that has any.
    static func counts(_ db: Database) throws -> [SinkCount] {
        try counts(try Row.fetchCursor(db.cachedStatement(sql: all)))
    }

    static func count(of sink: String, _ db: Database) throws -> SinkCount {
        try counts(try Row.fetchCursor(db.cachedStatement(sql: ofSink), arguments: [sink])).first
            ?? SinkCount(sink: sink)
    }

    private static func counts(_ rows: RowCursor) throws -> [SinkCount] {
        var counts: [SinkCount] = []
        while let row = try rows.next() {
            let (sink, state, number): (String, String, Int) = (row[0], row[1], row[2])
            if counts.last?.sink != sink { counts.append(SinkCount(sink: sink)) }
            counts[counts.count - 1].add(number, state: DeliveryState(rawValue: state), bytes: row[3])
        }
        return counts
    }
}
