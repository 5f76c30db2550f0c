// SPDX-License-Identifier: Apache-2.0

/// A journal that is being written by a copy. No watcher and no command uses it before it is finished.
public protocol JournalTarget: JournalRows {
    /// Adds rows in one transaction.
    func insert(_ rows: [JournalRow], into table: JournalTable) async throws(JournalError)

    /// Sets the last numbers that were given, and makes it a journal like any other.
    func finish(_ numbers: JournalNumbers) async throws(JournalError)
}
