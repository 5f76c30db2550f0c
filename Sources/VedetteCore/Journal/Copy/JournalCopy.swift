// SPDX-License-Identifier: Apache-2.0

/// Copies a journal to another place. A copy that was interrupted goes on where it ended: the rows that are in the target
/// must be the first of the source.
public struct JournalCopy: Sendable {
    /// What was copied of a table.
    public struct Table: Sendable, Hashable {
        public var name: String
        public var digest: TableDigest
        /// The rows that were in the target before.
        public var present: Int
    }

    private let source: any JournalRows
    private let target: any JournalTarget

    /// Creates a copy of which nothing is done yet.
    public init(from source: any JournalRows, to target: any JournalTarget) {
        (self.source, self.target) = (source, target)
    }

    /// Copies all tables, reads them again from the target, and makes that a journal when they are equal. Memory is bounded
    /// by two pages of rows.
    /// - Parameter report: called after each table.
    /// - Throws: `.corrupt` where the target has other rows; it is then no journal.
    public func run(_ report: (Table) async -> Void) async throws(JournalError) {
        var tables: [(table: JournalTable, digest: TableDigest)] = []
        for table in JournalTable.all {
            let copied = try await copy(table)
            tables.append((table, copied.digest))
            await report(copied)
        }
        for (table, digest) in tables where try await target.digest(of: table) != digest {
            throw JournalError(
                .corrupt,
                "the table '\(table.name)' in \(target.location) is not the same as in \(source.location): "
                    + "delete the copy and begin again")
        }
        try await target.finish(try await source.numbers())
    }

    private func copy(_ table: JournalTable) async throws(JournalError) -> Table {
        let present = try await target.digest(of: table)
        var digest = TableDigest()
        try await source.visit(table) { rows throws(JournalError) in
            let known = min(present.rows - digest.rows, rows.count)
            var rest = rows[...]
            if known > 0 {
                for row in rows.prefix(known) { digest.add(row) }
                rest = rows.dropFirst(known)
                if digest.rows == present.rows { try requireSame(digest, present, table) }
            }
            guard !rest.isEmpty else { return }
            try await target.insert(Array(rest), into: table)
            for row in rest { digest.add(row) }
        }
        if digest.rows < present.rows { try requireSame(digest, present, table) }
        return Table(name: table.name, digest: digest, present: present.rows)
    }

    private func requireSame(
        _ found: TableDigest, _ present: TableDigest, _ table: JournalTable
    ) throws(JournalError) {
        guard found != present else { return }
        throw JournalError(
            .corrupt,
            "the copy in \(target.location) cannot go on, since the table '\(table.name)' has rows that \(source.location) "
                + "does not have: the journal changed since the copy began; delete the copy and begin again")
    }
}
