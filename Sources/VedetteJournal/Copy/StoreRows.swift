// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Rows that are read over one connection.
protocol StoreRows: JournalRows {
    var store: JournalStore { get }
}

extension StoreRows {
    public func numbers() async throws(JournalError) -> JournalNumbers {
        try await store.run { try CopyRows.numbers($0) }
    }

    public func rows(
        of table: JournalTable, after last: JournalRow?, limit: Int
    ) async throws(JournalError) -> [JournalRow] {
        try await store.run { try CopyRows.read(table, after: last, limit: limit, $0) }
    }
}
