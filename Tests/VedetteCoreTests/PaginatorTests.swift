// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@Suite("Paginator")
struct PaginatorTests {
    private func entry(_ key: String, _ time: Int64? = nil, _ title: String = "") -> Item {
        Item(key: key, title: title, time: time.map { at($0) })
    }

    private func known(_ items: [Item]) -> [String: StoredItem] {
        Dictionary(items.map { ($0.key, StoredItem($0, digest: $0.digest, stateSince: at(0))) }) { a, _ in a }
    }

    private func walk(_ items: [Item]?, comparesDigests: Bool = true) -> Paginator {
        let times = items?.compactMap(\.time)
        return Paginator(
            mode: .window, url: "p1", known: items.map(known), newest: times?.max(), oldest: times?.min(),
            comparesDigests: comparesDigests)
    }

    @Test("the baseline of a window is its first page")
    func windowBaseline() {
        var walk = walk(nil)
        #expect(walk.pageRead(Page(items: [entry("a", 1)], next: "p2")) == .done)
    }

    @Test("a list is read to its last page, news or not")
    func list() {
        let old = [entry("a"), entry("b")]
        var walk = Paginator(mode: .list, url: "p1", known: known(old), newest: nil)
        #expect(walk.pageRead(Page(items: [old[0]], next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: [], next: "p3")) == .fetch("p3"))
        #expect(walk.pageRead(Page(items: [old[1]])) == .done)
        #expect(walk.items == old)
    }

    @Test("a known, edited row between new ones does not end the reading; a whole page without news does")
    func editedBetween() {
        let old = (1...4).map { entry("k\($0)", Int64($0)) }
        var walk = walk(old)
        #expect(walk.pageRead(Page(items: [entry("n2", 9), entry("k2", 8, "edited")], next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: [entry("n1", 7), old[3]], next: "p3")) == .fetch("p3"))
        #expect(walk.pageRead(Page(items: [old[2], old[0]], next: "p4")) == .done)
        #expect(walk.items.map(\.key) == ["n2", "k2", "n1", "k4", "k3", "k1"])
    }

    @Test("what lies before the old end was never read and is no news, so a reading of one new entry ends")
    func beyondTheOldEnd() {
        let old = (11...12).map { entry("k\($0)", Int64($0)) }
        var walk = walk(old)
        #expect(walk.pageRead(Page(items: [entry("n", 13), old[1]], next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: [old[0], entry("o10", 10)], next: "p3")) == .done)
    }

    @Test("times in the future, which count as now, do not lead into the archive")
    func ahead() {
        let old = (1...4).map { entry("k\($0)", 100) }
        var walk = Paginator(
            mode: .window, url: "p1", known: known(old), newest: at(100), oldest: at(100), now: at(200))
        let shown = old.map { entry($0.key, 200) }
        #expect(walk.pageRead(Page(items: Array(shown[..<2]), next: "p2")) == .done)
    }

    @Test("of an undated window too: unknown rows behind the known ones end the reading")
    func undatedEnd() {
        let old = [entry("k2"), entry("k1")]
        var walk = walk(old)
        #expect(walk.pageRead(Page(items: [entry("n"), old[0]], next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: [old[1], entry("o1")], next: "p3")) == .done)
    }

    @Test("in an undated window an edited row that moved to the top hides no burst behind it")
    func undatedBurst() {
        let old = [entry("k2"), entry("k1")]
        var walk = walk(old)
        #expect(walk.pageRead(Page(items: [entry("k1", nil, "edited"), entry("n3")], next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: [entry("n2"), entry("n1")], next: "p3")) == .fetch("p3"))
        #expect(walk.pageRead(Page(items: [old[0], entry("o")], next: "p4")) == .done)
    }

    @Test("a page of repeats that is newer than all that was seen goes on: rows moved while they were read")
    func drift() {
        var walk = walk([entry("k", 1)])
        let new = [entry("n2", 9), entry("n1", 8)]
        #expect(walk.pageRead(Page(items: new, next: "p2")) == .fetch("p2"))
        #expect(walk.pageRead(Page(items: new, next: "p3")) == .fetch("p3"))
        #expect(walk.pageRead(Page(items: [entry("k", 1)], next: "p4")) == .done)
        #expect(walk.items.map(\.key) == ["n2", "n1", "k"] && walk.repeats == 2)
    }

    @Test("with other options every digest differs and says nothing: only unknown keys are news")
    func otherOptions() {
        let old = [entry("k2", 2), entry("k1", 1)]
        var walk = walk(old, comparesDigests: false)
        #expect(walk.pageRead(Page(items: [entry("k2", 2, "read anew")], next: "p2")) == .done)
    }

    @Test("the page cap is a gap")
    func cap() {
        var walk = walk([entry("k", 1)])
        for page in 1..<Paginator.maximumPages {
            let news = entry("n\(page)", 1000 - Int64(page))
            #expect(
                walk.pageRead(Page(items: [news], next: NextPage("p\(page + 1)"))) == .fetch(NextPage("p\(page + 1)")))
        }
        guard case .gap = walk.pageRead(Page(items: [entry("n", 2)], next: "p")) else {
            Issue.record("no gap at the cap")
            return
        }
    }

    @Test("more items than a poll may hold are a gap, unless the page with them is the last")
    func maximumItems() {
        var walk = Paginator(mode: .list, url: "p1", known: [:], newest: nil)
        walk.maximumItems = 4
        #expect(walk.pageRead(Page(items: [entry("a"), entry("b"), entry("a")], next: "p2")) == .fetch("p2"))
        var last = walk
        #expect(last.pageRead(Page(items: [entry("c"), entry("d"), entry("e")])) == .done)
        guard case .gap(let detail) = walk.pageRead(Page(items: [entry("c"), entry("d")], next: "p3")) else {
            Issue.record("no gap at the cap")
            return
        }
        #expect(detail == "after page 2 there are 4 items and no more are read")
    }

    @Test("pages that lead in a circle are a gap")
    func circle() {
        var walk = Paginator(mode: .list, url: "p1", known: [:], newest: nil)
        #expect(walk.pageRead(Page(items: [], next: "p2")) == .fetch("p2"))
        guard case .gap = walk.pageRead(Page(items: [], next: "p1")) else {
            Issue.record("no gap in a circle")
            return
        }
    }
}
