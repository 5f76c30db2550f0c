// SPDX-License-Identifier: Apache-2.0

/// The rows of a journal, as they were at one moment.
public protocol JournalRows: Sendable {
    /// Names the place of the journal for a person.
    var location: String { get }

    /// Reads the last numbers that were given.
    func numbers() async throws(JournalError) -> JournalNumbers

    /// Reads the next rows of a table in the order of its key.
    /// - Parameter last: the row after which to begin; nil for the first.
    func rows(
        of table: JournalTable, after last: JournalRow?, limit: Int
    ) async throws(JournalError) -> [JournalRow]

    /// Ends the reading or writing.
    func close() async
}

extension JournalRows {
    /// Visits all rows of a table in pages of a bounded size.
    func visit(
        _ table: JournalTable, _ visit: ([JournalRow]) async throws(JournalError) -> Void
    ) async throws(JournalError) {
        var (page, last) = (JournalPage(), JournalRow?.none)
        while true {
            let rows = try await rows(of: table, after: last, limit: page.limit)
            if !rows.isEmpty { try await visit(rows) }
            guard rows.count == page.limit else { return }
            last = rows.last
            page.adapt(to: rows)
        }
    }

    /// Reads a table for its digest.
    public func digest(of table: JournalTable) async throws(JournalError) -> TableDigest {
        var digest = TableDigest()
        try await visit(table) { rows in for row in rows { digest.add(row) } }
        return digest
    }
}
