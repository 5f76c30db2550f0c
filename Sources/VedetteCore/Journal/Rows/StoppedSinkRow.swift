// SPDX-License-Identifier: Apache-2.0

/// How both stores keep a stopped sink.
public enum StoppedSinkRow {
    /// The columns that are decoded.
    public static let columns = JournalTable.stoppedSink.names

    /// Reads a row of these columns.
    public static func decode(_ row: some StoredRow) throws(UnreadableRow) -> StoppedSink {
        let (sink, word) = (try row.text(0), try row.text(1))
        guard let kind = [Event.Kind.paused, .disabled, .failing].first(where: { $0.word == word }) else {
            throw UnreadableRow("the row of the stopped sink '\(sink)' is unreadable")
        }
        return StoppedSink(
            sink: sink, kind: kind, reason: try row.text(2), since: try row.time(3),
            fingerprint: UInt64(bitPattern: try row.int64(4)))
    }
}
