// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `request`.
enum ControlRequestRows {
    static func write(_ request: ControlRequest, at now: Timestamp, _ db: Database) throws {
        let (verb, argument) = request.columns
        try db.execute(
            sql: "insert into request (verb, argument, created) values (?, ?, ?)",
            arguments: [verb, argument, now.milliseconds])
    }

    static let selectAll = "select id, verb, argument from request order by id"

    static func all(_ db: Database) throws -> [QueuedRequest] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: selectAll))
        var requests: [QueuedRequest] = []
        while let row = try rows.next() {
            requests.append(QueuedRequest(id: row[0], request: ControlRequest(verb: row[1], argument: row[2])))
        }
        return requests
    }

    static func delete(_ id: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "delete from request where id = ?").execute(arguments: [id])
    }
}
