// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `request`: control requests of commands.
enum ControlRequestRows {
    static func write(_ request: ControlRequest, at now: Timestamp, _ transaction: Transaction) {
        let (verb, argument) = request.columns
        transaction.enqueue(
            "insert into request (verb, argument, created) values ($1, $2, $3)", [verb, argument, now.milliseconds])
    }

    static func all(_ connection: Connection) throws -> [QueuedRequest] {
        try connection.run("select id, verb, argument from request order by id").map { row in
            QueuedRequest(
                id: try row.int64(0), request: ControlRequest(verb: try row.text(1), argument: try row.text(2)))
        }
    }
}
