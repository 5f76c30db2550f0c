// SPDX-License-Identifier: Apache-2.0

/// The number of rows of the next page: as many as fit into a few megabytes if they are like those before.
struct JournalPage: Hashable {
    static let budget = 4 << 20
    static let most = 1000

    private(set) var limit = 64

    mutating func adapt(to rows: [JournalRow]) {
        let bytes = rows.reduce(1) { $1.reduce($0) { $0 + $1.bytes.count + 8 } }
        limit = max(1, min(JournalPage.most, limit * JournalPage.budget / bytes))
    }
}
