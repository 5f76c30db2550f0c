// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Digests and pages of a copy")
struct JournalCopyTests {
    private func digest(_ rows: [JournalRow]) -> TableDigest {
        rows.reduce(into: TableDigest()) { $0.add($1) }
    }

    @Test("the digest of a table does not depend on the order of its rows, and on everything else")
    func digests() {
        let (one, other): (JournalRow, JournalRow) = ([.integer(1), .text([97])], [.integer(2), .null])
        #expect(digest([one, other]) == digest([other, one]))
        let different: [[JournalRow]] = [
            [], [one], [one, one], [[.integer(1), .null], [.integer(2), .text([97])]],
            [[.text([97]), .integer(1)], other],
            [[.integer(1), .text([98])], other], [one, [.integer(2), .text([])]], [one, [.integer(2), .integer(0)]],
            [[.integer(1), .text([97]), .null], other],
        ]
        for rows in different { #expect(digest(rows) != digest([one, other]), "\(rows)") }
        #expect(digest([]).text == "0000000000000000" && digest([one]).text.count == 16)
    }

    @Test("a page has as many rows as fit into the budget, and one at least")
    func pages() {
        var page = JournalPage()
        page.adapt(to: Array(repeating: [.integer(1)], count: 64))
        #expect(page.limit == JournalPage.most)
        let large = JournalRow([.text(Array(repeating: 97, count: 100_000))])
        page.adapt(to: Array(repeating: large, count: page.limit))
        #expect((30...42).contains(page.limit))
        page.adapt(to: [[.text(Array(repeating: 97, count: JournalPage.budget * 100))]])
        #expect(page.limit == 1)
    }

    @Test("the key of each table comes first, and no name is there twice")
    func tables() {
        for table in JournalTable.all {
            #expect(Set(table.columns.map(\.name)).count == table.columns.count)
            #expect((1...3).contains(table.keyCount))
        }
        #expect(JournalTable.event.key.map(\.name) == ["seq"])
    }
}
