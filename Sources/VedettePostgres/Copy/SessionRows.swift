// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The rows of a journal that one connection reads.
protocol SessionRows: JournalRows {
    var session: PostgresSession { get }
}

extension SessionRows {
    var location: String { session.location }

    func numbers() async throws(JournalError) -> JournalNumbers { try await session.run(CopyRows.numbers) }

    func rows(
        of table: JournalTable, after last: JournalRow?, limit: Int
    ) async throws(JournalError) -> [JournalRow] {
        try await session.run { try CopyRows.read(table, after: last, limit: limit, $0) }
    }
}
