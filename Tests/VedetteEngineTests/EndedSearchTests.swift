// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteEngine

@Suite("The search for deliveries that another watcher ended")
struct EndedSearchTests {
    @Test("one query asks about all that wait; of more than it takes, each is asked about in turn")
    func turns() {
        var search = EndedSearch()
        let few = search.next(of: [3, 1, 2])
        #expect(few == [3, 1, 2])
        let many = Array(Int64(1)...2500)
        let parts = (0..<4).map { _ in search.next(of: many.reversed()) }
        #expect(parts[0] == Array(many[..<1000]) && parts[1] == Array(many[1000..<2000]))
        #expect(parts[2] == Array(many[2000...] + many[..<500]) && parts[3] == Array(many[500..<1500]))
        // Those that it would go on with have ended meanwhile.
        let rest = search.next(of: Array(many[..<1200]))
        #expect(rest == Array(many[..<1000]))
    }
}
