// SPDX-License-Identifier: Apache-2.0

import GRDB
public import VedetteCore

/// What another command asks of the watcher: `accept`, `retry`, `snooze`.
public struct JournalRequest: Sendable, Hashable {
    public var verb: String
    public var argument: String
    public var created: Timestamp

    public init(verb: String, argument: String, created: Timestamp) {
        (self.verb, self.argument, self.created) = (verb, argument, created)
    }

    /// Writes the request into a journal that another process may hold; the watcher takes it up within a second.
    /// Blocks for at most the wait for another program's lock.
    public func ask(directory: String) throws(JournalError) {
        let files = JournalFiles(directory: directory)
        guard files.identity != nil else { throw JournalError.missing(files) }
        let request = self
        try JournalStore.result(files) {
            let queue = try DatabaseQueue(
                path: files.database, configuration: JournalStore.configuration(readonly: false))
            try queue.writeWithoutTransaction { db in
                guard try Migrations.check(db, files) == Migrations.steps.count else {
                    throw JournalError.missing(files)
                }
                try db.execute(sql: "pragma synchronous = full")
                try JournalStore.transaction(db) { try ControlQueue.write(request, $0) }
            }
            try queue.close()
        }.get()
        files.ring()
    }
}

/// The rows of `request`.
enum ControlQueue {
    static func write(_ request: JournalRequest, _ db: Database) throws {
        try db.execute(
            sql: "insert into request (verb, argument, created) values (?, ?, ?)",
            arguments: [request.verb, request.argument, request.created.milliseconds])
    }

    static func areWaiting(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "select exists (select 1 from request)")) ?? false
    }

    static func take(_ db: Database) throws -> [JournalRequest] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "select verb, argument, created from request order by id"))
        var requests: [JournalRequest] = []
        while let row = try rows.next() {
            requests.append(
                JournalRequest(verb: row[0], argument: row[1], created: Timestamp(milliseconds: row[2])))
        }
        try db.execute(sql: "delete from request")
        return requests
    }
}
