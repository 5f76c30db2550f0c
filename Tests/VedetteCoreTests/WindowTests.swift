// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@Suite("Differ: windows")
struct WindowTests {
    private let window = source(StubKind(mode: .window))

    private func entry(_ key: String, _ time: Int64? = nil) -> Item { Item(key: key, time: time.map { at($0) }) }

    @Test("what leaves a window is remembered silently, and its return is no news")
    func leaves() {
        var memory = Memory()
        memory.poll(window, [entry("b", 20), entry("a", 10)], at: at(100))
        #expect(memory.poll(window, [entry("c", 30), entry("b", 20)], at: at(115)).map(\.short) == ["appeared c"])
        #expect(memory.stored["a"]?.absentSince == at(115) && memory.head?.pendingAbsences == 0)
        #expect(memory.poll(window, [entry("b", 20), entry("a", 10)], at: at(130)).isEmpty)
        #expect(memory.stored["a"]?.absentSince == nil)
        #expect(memory.unchanged(window, at: at(145)).isEmpty)
    }

    @Test("what slides back in after a deletion, older than the old end, is not new")
    func slidesBack() {
        var memory = Memory()
        memory.poll(window, [entry("d", 40), entry("c", 30)], at: at(100))
        #expect(memory.poll(window, [entry("c", 30), entry("b", 20)], at: at(115)).isEmpty)
        #expect(memory.stored["b"] != nil)
    }

    @Test("what is taken for old is counted with the title of the last, over polls")
    func unannounced() {
        var memory = Memory()
        memory.poll(window, [entry("d", 40), entry("c", 30)], at: at(100))
        #expect(memory.head?.unannounced == nil)
        memory.poll(window, [entry("c", 30), entry("b", 20)], at: at(115))
        #expect(memory.last.unannounced.map(\.key) == ["b"])
        #expect(memory.head?.unannounced == .init(count: 1, last: "b", at: at(115)))
        memory.poll(window, [entry("c", 30), entry("b", 20)], at: at(130))
        #expect(memory.last.unannounced.isEmpty && memory.head?.unannounced?.count == 1)
        memory.poll(window, [Item(key: "a", title: "Old", time: at(10))], at: at(145))
        #expect(memory.head?.unannounced == .init(count: 2, last: "Old", at: at(145)))
    }

    @Test("an entry with an old date before a known one is new, unless something was deleted")
    func backdated() {
        var memory = Memory()
        memory.poll(window, [entry("d", 40), entry("c", 30), entry("b", 20)], at: at(100))
        var other = memory
        let grown = memory.poll(window, [entry("x", 5), entry("d", 40), entry("c", 30), entry("b", 20)], at: at(115))
        #expect(grown.map(\.short) == ["appeared x"])
        // The oldest left at the end, as it does when a window of a fixed length gets a new entry.
        let pushed = other.poll(window, [entry("d", 40), entry("x", 5), entry("c", 30)], at: at(115))
        #expect(pushed.map(\.short) == ["appeared x"])
        #expect(memory.poll(window, [entry("x", 5), entry("y", 4), entry("c", 30)], at: at(130)).isEmpty)
        #expect(memory.last.unannounced.map(\.key) == ["y"])
    }

    @Test("an unknown item between the old end and the newest came late and is new")
    func late() {
        var memory = Memory()
        memory.poll(window, [entry("d", 40), entry("b", 20)], at: at(100))
        let events = memory.poll(window, [entry("d", 40), entry("c", 30), entry("b", 20)], at: at(115))
        #expect(events.map(\.short) == ["appeared c"])
    }

    @Test("an unknown item at the very time of the old end is new, wherever it stands on the first page")
    func oneDate() {
        var memory = Memory()
        memory.poll(window, [entry("c", 10), entry("b", 10)], at: at(100))
        #expect(memory.poll(window, [entry("d", 10), entry("c", 10)], at: at(115)).map(\.short) == ["appeared d"])
        let appended = memory.poll(window, [entry("c", 10), entry("b", 10), entry("a", 10)], at: at(130))
        #expect(appended.map(\.short) == ["appeared a"])
    }

    @Test("in an undated window, what stands before a known item is new, and what stands beyond them all is not")
    func undated() {
        var memory = Memory()
        memory.poll(window, [entry("c"), entry("b"), entry("z")], at: at(100))
        let events = memory.poll(window, [entry("e"), entry("c"), entry("d"), entry("b"), entry("a")], at: at(115))
        #expect(events.map(\.short) == ["appeared d", "appeared e"])
        #expect(memory.head?.unannounced == .init(count: 1, last: "a", at: at(115), isUndated: true))
    }

    /// The events of each poll after the first.
    private func events(_ polls: String...) -> [[String]] {
        var memory = Memory()
        return polls.enumerated().map { number, keys in
            memory.poll(window, keys.map { entry(String($0)) }, at: at(Int64(100 + number * 15))).compactMap(
                \.item?.key)
        }.dropFirst() + []
    }

    @Test("in an undated window from which nothing left, nothing can have slid in: whatever is unknown is new")
    func grown() {
        #expect(events("123", "1234", "12345") == [["4"], ["5"]])
        #expect(events("cb", "edcba") == [["a", "d", "e"]])
    }

    @Test(
        "an undated window whose front left while items came at its end ascends; where another item left they are not told"
    )
    func ascends() {
        #expect(events("123", "234", "567") == [["4"], ["5", "6", "7"]])
        #expect(events("1234", "1245", "12456") == [[], ["6"]])
        // Nothing at all may be known by now.
        #expect(events("123456789abcdef", "bcdefgh") == [["g", "h"]])
    }

    @Test("an undated window that got its news at the front goes on doing so: what slides in behind it is not new")
    func descends() {
        #expect(events("dcb", "edcb", "dcba") == [["e"], []])
        // The other way about: an order that was seen to ascend needs no proof any more.
        #expect(events("123", "1234", "1345") == [["4"], ["5"]])
    }

    @Test("whatever an undated window shows, each unknown item is told or counted", arguments: 1...60)
    func counted(seed: UInt64) {
        var dice = SplitMix64(seed)
        var memory = Memory()
        for number in 0..<12 {
            let shown = (0..<9).filter { _ in Bool.random(using: &dice) }.map { entry("k\($0)") }.shuffled(using: &dice)
            let unknown = shown.map(\.key).filter { memory.stored[$0] == nil }
            let before = memory.head?.unannounced?.count ?? 0
            let told = memory.poll(window, shown, at: at(Int64(number) * 15)).filter { $0.kind == .appeared }
            let counted = (memory.head?.unannounced?.count ?? 0) - before
            #expect(number == 0 || memory.last.isNewBaseline || told.count + counted == unknown.count)
        }
    }

    @Test("of items that are all dated in the future, the place decides about one in the past")
    func ahead() {
        var memory = Memory()
        memory.poll(window, [entry("c", 900), entry("b", 800)], at: at(100))
        var other = memory
        let grown = memory.poll(window, [entry("c", 900), entry("b", 800), entry("a", 50)], at: at(115))
        #expect(grown.map(\.short) == ["appeared a"])
        #expect(other.poll(window, [entry("c", 900), entry("x", 50)], at: at(115)).isEmpty)
        #expect(other.head?.unannounced?.isUndated == true)
    }

    @Test("an undated window without a known item is all new")
    func burst() {
        var memory = Memory()
        memory.poll(window, [entry("a")], at: at(100))
        #expect(
            memory.poll(window, [entry("c"), entry("b")], at: at(115)).map(\.short) == ["appeared b", "appeared c"])
    }

    @Test("events go oldest first by their times; equal times keep the document's order from its end")
    func order() {
        var memory = Memory()
        memory.poll(window, [entry("a", 10)], at: at(100))
        let events = memory.poll(
            window, [entry("d", 30), entry("e", 40), entry("c", 30), entry("b", 20), entry("a", 10)], at: at(115))
        #expect(events.map(\.short) == ["appeared b", "appeared c", "appeared d", "appeared e"])
    }

    @Test("an empty window changes nothing and is not suspect")
    func empty() {
        var memory = Memory()
        memory.poll(window, [entry("b", 20), entry("a", 10)], at: at(100))
        #expect(memory.poll(window, [], at: at(115)).isEmpty && !memory.last.isSuspect)
        #expect(memory.head?.newest == at(20) && memory.head?.oldest == at(10))
        #expect(memory.poll(window, [entry("b", 20), entry("a", 10)], at: at(130)).isEmpty)
    }

    @Test("a key is forgotten only after 30 days and beyond five windows, the longest gone first")
    func remembered() {
        var memory = Memory()
        let day: Int64 = 86_400
        memory.poll(window, (0..<150).map { entry("old\($0)", Int64($0)) }, at: at(0))
        let now = [entry("new", 1000)]
        memory.poll(window, now, at: at(15))
        memory.poll(window, now, at: at(29 * day))
        #expect(memory.stored.count == 151)
        memory.poll(window, now, at: at(31 * day))
        // One item is in the window, which counts as 20: five windows are 100 keys.
        #expect(memory.stored.count == 101 && memory.stored["new"] != nil)
    }

    @Test("however busy a window is, what is remembered is bounded", .tags(.I8))
    func bounded() {
        var memory = Memory()
        memory.poll(window, (0..<12_000).map { entry("old\($0)", Int64($0)) }, at: at(0))
        memory.poll(window, [entry("new", 20_000)], at: at(15))
        memory.poll(window, [entry("new", 20_000)], at: at(30))
        #expect(memory.stored.count == 10_001)
    }

    @Test("a long window that is all new at each poll is remembered as far as a short one", .tags(.I8))
    func churning() {
        var memory = Memory()
        for poll in Int64(0)..<9 {
            let entries = (0..<3000).map { entry("\(poll)-\($0)", poll * 3000 + Int64($0)) }
            memory.poll(window, entries, at: at(100_000 + poll * 15))
        }
        // What is shown, what left just now, and what is remembered.
        #expect(memory.stored.count == 3000 + 3000 + 10_000)
    }

    @Test("what a window shows is remembered as a whole, however long it is")
    func longWindow() {
        var memory = Memory()
        let (first, second) = ((0..<10_001).map { entry("a\($0)") }, (0..<10_001).map { entry("b\($0)") })
        memory.poll(window, first, at: at(0))
        memory.poll(window, second, at: at(15))
        memory.poll(window, second, at: at(30))
        #expect(memory.poll(window, first, at: at(45)).isEmpty)
    }
}
