// SPDX-License-Identifier: Apache-2.0

import GRDB
import VedetteCore

/// The rows of `poll_lateness`: how late the polls of each watcher started lately.
enum PollLatenessRows {
    static func write(_ report: PollLateness.Report, of watcher: String, _ db: Database) throws {
        try db.cachedStatement(sql: JournalTable.pollLateness.upsert).execute(arguments: [
            watcher, report.p99Milliseconds, report.polls, report.at.milliseconds,
        ])
    }

    /// Reads all by the names of the watchers.
    static func all(_ db: Database) throws -> [String: PollLateness.Report] {
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "select \(PollLatenessRow.columns) from poll_lateness"))
            .decode(PollLatenessRow.decode)
        return Dictionary(rows.map { ($0.watcher, $0.report) }) { _, last in last }
    }

    static func delete(before time: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: "delete from poll_lateness where at < ?").execute(arguments: [time.milliseconds])
    }
}
