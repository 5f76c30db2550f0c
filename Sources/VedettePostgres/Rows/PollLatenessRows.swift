// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of `poll_lateness`: how late the polls of each watcher started lately.
enum PollLatenessRows {
    static func write(_ report: PollLateness.Report, of watcher: String, _ transaction: Transaction) {
        transaction.enqueue(
            JournalTable.pollLateness.upsert,
            [watcher, report.p99Milliseconds, report.polls, report.at.milliseconds])
    }

    /// Reads all by the names of the watchers.
    static func all(_ connection: Connection) throws -> [String: PollLateness.Report] {
        let rows = try connection.run("select \(PollLatenessRow.columns) from poll_lateness").map(
            PollLatenessRow.decode)
        return Dictionary(rows.map { ($0.watcher, $0.report) }) { _, last in last }
    }

    static func delete(before time: Timestamp, _ transaction: Transaction) {
        transaction.enqueue("delete from poll_lateness where at < $1", [time.milliseconds])
    }
}
