// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `queue_total`, which triggers keep.
enum QueueTotalRows {
    private static let select = "select sink, state, count, bytes from queue_total where count > 0"

    /// Counts the pending and dead deliveries of each sink that has any.
    static func counts(_ connection: Connection) throws -> [SinkCount] {
        try counts(try connection.run(select + " order by sink"))
    }

    static func counts(_ transaction: Transaction) throws -> [SinkCount] {
        try counts(try transaction.run(select + " order by sink"))
    }

    static func count(of sink: String, _ transaction: Transaction) throws -> SinkCount {
        try counts(try transaction.run(select + " and sink = $1", [sink])).first ?? SinkCount(sink: sink)
    }

    private static func counts(_ rows: SQLRows) throws -> [SinkCount] {
        var counts: [SinkCount] = []
        for row in rows {
            let sink = try row.text(0)
            if counts.last?.sink != sink { counts.append(SinkCount(sink: sink)) }
            counts[counts.count - 1].add(
                try row.int(2), state: DeliveryState(rawValue: try row.text(1)), bytes: try row.int64(3))
        }
        return counts
    }
}
