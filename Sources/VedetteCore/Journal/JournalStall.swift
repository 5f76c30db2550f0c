// SPDX-License-Identifier: Apache-2.0

/// Decides from the journal alone that its watcher stores nothing: a full disk has no room for the news that it is full.
public enum JournalStall {
    /// Polls that are overdue for less time may still go on.
    static let patience = Duration.seconds(300)

    /// Returns since when nothing was stored although polls were due; nil when all is well.
    /// - Parameter watcherAge: how long the watcher has run; nil where none runs.
    public static func since(
        _ records: some Sequence<SourceRecord>, watcherAge: Duration?, now: Timestamp
    ) -> Timestamp? {
        guard let watcherAge, watcherAge > patience else { return nil }
        let limit = now.advanced(by: .zero - patience)
        let isOverdue = records.contains { record in
            guard let due = record.due else { return false }
            return max(due, record.notBefore ?? due) < limit
        }
        guard isOverdue, let newest = records.compactMap(\.health.lastPollAt).max(), newest < limit else { return nil }
        return newest
    }
}
