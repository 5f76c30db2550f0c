// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension PostgresJournalAccess {
    /// Opens the journal to read all its rows, as they are now.
    /// - Parameter isExclusive: nothing can be changed before it is closed.
    /// - Throws: `.locked` when it is exclusive and a watcher runs; `.missing`, `.older` or `.newer`.
    public func snapshot(isExclusive: Bool) async throws(JournalError) -> any JournalRows {
        try await PostgresSnapshot.open(server, isExclusive: isExclusive)
    }

    /// Begins a copy into a schema without a journal, or goes on with one.
    /// - Throws: `.readOnly` where there is a journal; `.busy` where another copy into it runs.
    public func beginCopy() async throws(JournalError) -> any JournalTarget { try await PostgresCopy.open(server) }
}
