// SPDX-License-Identifier: Apache-2.0

/// How both stores keep how late the polls of a watcher start.
public enum PollLatenessRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.pollLateness.names

    /// Reads a row of these columns: the name of the watcher, and its report.
    public static func decode(
        _ row: some StoredRow
    ) throws(UnreadableRow) -> (watcher: String, report: PollLateness.Report) {
        let p99 = Double(try row.int64(1)) / 1000
        return (try row.text(0), PollLateness.Report(p99: p99, polls: try row.int(2), at: try row.time(3)))
    }
}

extension PollLateness.Report {
    /// `p99` as both stores keep it: milliseconds.
    public var p99Milliseconds: Int64 { Int64((p99 * 1000).rounded()) }
}
