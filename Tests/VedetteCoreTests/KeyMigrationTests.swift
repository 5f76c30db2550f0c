// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

@Suite("Differ: other keys")
struct KeyMigrationTests {
    private let window = source(StubKind(mode: .window))

    private func entry(_ key: String, title: String? = nil, url: String? = nil, _ time: Int64? = nil) -> Item {
        Item(key: key, title: title, url: url, time: time.map { at($0) })
    }

    private func entries(
        _ prefix: String, _ numbers: ClosedRange<Int>, site: String = "a", from: Int64 = 100
    ) -> [Item] {
        numbers.map {
            entry("\(prefix)\($0)", title: "title \($0)", url: "https://\(site)/\($0)", from - Int64($0))
        }
    }

    @Test("case 31: all ids change at once: the links keep the items, without an event")
    func byLink() {
        var memory = Memory()
        memory.poll(window, entries("old", 1...10), at: at(200))
        #expect(memory.poll(window, entries("new", 1...10), at: at(215)).isEmpty)
        #expect(memory.stored.keys.sorted() == (1...10).map { "new\($0)" }.sorted())
        #expect(memory.stored.values.allSatisfy { $0.stateSince == at(200) && $0.absentSince == nil })
        #expect(memory.poll(window, entries("new", 1...10), at: at(230)).isEmpty && memory.last.changesNothing)
    }

    @Test("case 31: a site moves to another host: ids and links change, the content keeps a window's items")
    func byContent() {
        var memory = Memory()
        memory.poll(window, entries("old", 1...5), at: at(200))
        #expect(memory.poll(window, entries("new", 1...5, site: "b"), at: at(215)).isEmpty)
        #expect(memory.stored["new3"]?.item?.url == "https://b/3" && memory.stored.count == 5)
    }

    @Test("case 31: items that are really new or gone among them are announced as usual")
    func amongThem() {
        var memory = Memory()
        memory.poll(source(), entries("old", 1...6), at: at(200))
        let now = entries("new", 2...7)
        #expect(memory.poll(source(), now, at: at(215)).map(\.short) == ["appeared new7"])
        #expect(memory.poll(source(), now, at: at(230)).map(\.short) == ["disappeared old1"])
    }

    @Test("case 31: a change of an item that has another key is announced")
    func changed() {
        var memory = Memory()
        memory.poll(window, entries("old", 1...5), at: at(200))
        var now = entries("new", 1...5)
        now[1].state = "down"
        now[2].notes["seen"] = "7"
        let events = memory.poll(window, now, at: at(215))
        #expect(events.map(\.short) == ["changed new2"])
        #expect(events.first?.changes == [FieldChange(field: "state", from: nil, to: "down", lasted: 15)])
        #expect(memory.stored["new2"]?.item == now[1] && memory.stored["new2"]?.stateSince == at(215))
        #expect(memory.stored["new3"]?.item == now[2] && memory.stored["new1"]?.item == now[0])
        #expect(memory.poll(window, now, at: at(230)).isEmpty && memory.last.changesNothing)
    }

    @Test("jobs of a list that were all replaced by their like are other jobs")
    func likeJobs() {
        var memory = Memory()
        func jobs(_ numbers: ClosedRange<Int>) -> [Item] {
            numbers.map { Item(key: "\($0)", title: "build \(($0 - 1) % 3)", state: "running") }
        }
        memory.poll(source(), jobs(1...3), at: at(200))
        #expect(memory.poll(source(), jobs(4...6), at: at(215)).map(\.short) == (4...6).map { "appeared \($0)" })
        #expect(memory.poll(source(), jobs(4...6), at: at(230)).map(\.short) == (1...3).map { "disappeared \($0)" })
    }

    @Test("a link in common is not enough in a list: what it leads to may be in other hands")
    func otherContent() {
        var memory = Memory()
        memory.poll(source(), entries("a", 1...4), at: at(200))
        let pods = (1...4).map { entry("b\($0)", title: "pod \($0)", url: "https://a/\($0)") }
        #expect(memory.poll(source(), pods, at: at(215)).map(\.short) == (1...4).map { "appeared b\($0)" })
    }

    @Test("newer alerts of a window that link to the pages of the old ones are news")
    func newerAlerts() {
        var memory = Memory()
        func alerts(_ words: String, _ time: Int64) -> [Item] {
            (1...3).map {
                entry("\(words)\($0)", title: "\(words) on \($0)", url: "https://a/host/\($0)", time + Int64($0))
            }
        }
        memory.poll(window, alerts("disk full", 100), at: at(200))
        let events = memory.poll(window, alerts("no answer", 300), at: at(400))
        #expect(events.map(\.short) == (1...3).map { "appeared no answer\($0)" })
    }

    @Test(
        "case 31: nothing is found again and nothing is newer: one new baseline, announced once, however often it happens"
    )
    func anew() {
        var memory = Memory()
        memory.poll(window, entries("old", 1...5), at: at(200))
        let unlike = (1...5).map { entry("x\($0)", title: "other \($0)", url: "https://c/\($0)", 90) }
        #expect(memory.poll(window, unlike, at: at(215)).map(\.short) == ["suspect keys-changed"])
        #expect(memory.last.isNewBaseline && memory.stored.count == 5)
        let again = (1...5).map { entry("y\($0)", title: "more \($0)", url: "https://d/\($0)", 91) }
        #expect(memory.poll(window, again, at: at(230)).isEmpty && memory.last.isNewBaseline)
        #expect(memory.head?.newest == at(99))
        #expect(memory.poll(window, [entry("z", 200)] + again, at: at(245)).map(\.short) == ["appeared z"])
        #expect(memory.head?.hasOtherKeys == false)
    }

    @Test("a window without times whose titles are the known ones is a new baseline too")
    func undated() {
        var memory = Memory()
        // Twice each, so that the content is nobody's own.
        let old = (1...6).map { entry("old\($0)", title: "title \($0 % 3)") }
        memory.poll(window, old, at: at(200))
        let new = (1...6).map { entry("new\($0)", title: "title \($0 % 3)") }
        #expect(memory.poll(window, new, at: at(215)).map(\.short) == ["suspect keys-changed"])
    }

    @Test("a burst of newer entries that fills the window stays a burst")
    func burst() {
        var memory = Memory()
        memory.poll(window, entries("a", 1...5), at: at(200))
        let burst = (1...5).map { entry("b\($0)", title: "news \($0)", url: "https://a/n\($0)", 300 + Int64($0)) }
        #expect(memory.poll(window, burst, at: at(400)).count == 5)
    }

    @Test("a list that is wholly replaced is believed")
    func turnover() {
        var memory = Memory()
        memory.poll(source(), entries("a", 1...4), at: at(200))
        let pods = (1...4).map { entry("b\($0)", title: "pod \($0)", url: "https://a/p\($0)") }
        #expect(memory.poll(source(), pods, at: at(215)).map(\.short) == (1...4).map { "appeared b\($0)" })
        #expect(memory.poll(source(), pods, at: at(230)).map(\.short) == (1...4).map { "disappeared a\($0)" })
    }

    @Test("two items are too few to tell, and a key that a window remembers is no other key")
    func tooFew() {
        var memory = Memory()
        memory.poll(window, entries("a", 1...2), at: at(200))
        #expect(memory.poll(window, entries("b", 1...2), at: at(215)).count == 2)
        var other = Memory()
        other.poll(window, entries("a", 1...4), at: at(200))
        other.poll(window, entries("n", 1...4, site: "n", from: 300), at: at(400))
        #expect(other.poll(window, entries("a", 1...4), at: at(415)).isEmpty && !other.last.isNewBaseline)
    }

    @Test("whatever the items are, other keys alone are never an event", arguments: 1...40)
    func property(seed: UInt64) {
        var dice = SplitMix64(seed)
        let kind = source(StubKind(mode: Bool.random(using: &dice) ? .list : .window))
        let count = Int.random(in: 3...30, using: &dice)
        let items = (0..<count).map { number in
            Item(
                key: "a\(number)", title: "t\(number)", state: ["x", "y"].randomElement(using: &dice),
                url: kind.kind.mode == .list || Bool.random(using: &dice) ? "https://a/\(number)" : nil,
                time: at(Int64(number)),
                fields: ["n": .text("\(Int.random(in: 0..<9, using: &dice))")])
        }
        var memory = Memory()
        memory.poll(kind, items, at: at(100))
        let renamed = items.map { item in
            var item = item
            item.key = "b" + item.key
            return item
        }
        #expect(memory.poll(kind, renamed.shuffled(using: &dice), at: at(115)).isEmpty)
        #expect(Set(memory.stored.keys) == Set(renamed.map(\.key)))
        #expect(memory.poll(kind, renamed, at: at(130)).isEmpty && memory.last.changesNothing)
    }
}
