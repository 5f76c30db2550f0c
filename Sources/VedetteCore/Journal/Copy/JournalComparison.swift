// SPDX-License-Identifier: Apache-2.0

/// Compares two journals.
public struct JournalComparison: Sendable {
    /// A table, or the last numbers, of both.
    public struct Table: Sendable, Hashable {
        public var name: String
        public var first: TableDigest
        public var second: TableDigest
    }

    private let (first, second): (any JournalRows, any JournalRows)

    /// Creates a comparison.
    public init(_ first: any JournalRows, _ second: any JournalRows) { (self.first, self.second) = (first, second) }

    /// Reads all tables of both.
    /// - Parameter report: called after each table.
    /// - Returns: whether they have the same rows and gave the same numbers.
    public func run(_ report: (Table) async -> Void) async throws(JournalError) -> Bool {
        var isSame = true
        for table in JournalTable.all {
            let (one, other) = (try await first.digest(of: table), try await second.digest(of: table))
            await report(Table(name: table.name, first: one, second: other))
            isSame = isSame && one == other
        }
        let numbers = (try await first.numbers().digest, try await second.numbers().digest)
        await report(Table(name: "last numbers", first: numbers.0, second: numbers.1))
        return isSame && numbers.0 == numbers.1
    }
}
