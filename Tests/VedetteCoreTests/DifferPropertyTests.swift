// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport
@testable import VedetteCore

@Suite("Differ: properties")
struct DifferPropertyTests {
    private func item(_ key: Int, _ dice: inout SplitMix64) -> Item {
        func some(_ words: [String]) -> String? { words.randomElement(using: &dice) }
        var item = Item(key: "k\(key)", title: "t\(key)", state: some(["x", "y"]), url: some(["u", "v"]))
        item.fields["f"] = some(["1", "2"]).map { .text($0) }
        item.notes["n"] = some(["1", "2"]).map { .text($0) }
        item.measures["m"] = some(["1", "5", "9"]).map { .text($0) }
        return item
    }

    private func observation(_ dice: inout SplitMix64) -> [Item] {
        // One stays, so that neither an empty list nor a change of all keys is meant.
        let keys = [0] + (1..<8).filter { _ in Bool.random(using: &dice) }
        return keys.map { item($0, &dice) }.shuffled(using: &dice)
    }

    @Test("after any polls the rows are the last observation, and only what differs was written", arguments: 1...60)
    func rows(seed: UInt64) {
        var dice = SplitMix64(seed)
        let list = source()
        var memory = Memory()
        for number in 0..<25 {
            let items = observation(&dice)
            let before = memory.stored
            memory.poll(list, items, thresholds: ["m": [.above(4)]], at: at(Int64(number) * 15))
            let present = memory.stored.values.filter { $0.absentSince == nil }
            #expect(Set(present.compactMap(\.item)) == Set(items))
            #expect(memory.head?.count == items.count)
            let absent = memory.stored.values.count { $0.absentSince != nil }
            #expect(memory.head?.pendingAbsences == absent)
            for row in memory.last.writes { #expect(before[row.key] != row, "\(row.key) was written and is the same") }
            #expect(Set(memory.last.writes.map(\.key)).count == memory.last.writes.count)
        }
    }

    @Test("the events lead from one observation to the next, and say nothing twice", arguments: 1...60)
    func events(seed: UInt64) {
        var dice = SplitMix64(seed)
        let list = source()
        let thresholds: Thresholds = ["m": [.above(4)]]
        var memory = Memory()
        var model: [String: Item] = [:]
        let first = observation(&dice)
        memory.poll(list, first, thresholds: thresholds, at: at(0))
        for item in first { model[item.key] = item }
        for number in 1..<25 {
            let items = observation(&dice)
            for event in memory.poll(list, items, thresholds: thresholds, at: at(Int64(number) * 15)) {
                guard let item = event.item else { continue }
                let known = model[item.key]
                switch event.kind {
                case .appeared: #expect(known == nil)
                case .disappeared: #expect(known != nil)
                default: for change in event.changes { #expect(known?[change.field] == change.from) }
                }
                model[item.key] = event.kind == .disappeared ? nil : item
            }
            for item in items {
                #expect(model[item.key]?.digest == item.digest)
                // Of measures the model may be behind, but never on the other side of the bound.
                let isAbove = Threshold.above(4).contains(item.measures["m"])
                #expect(
                    item.measures["m"] == nil || Threshold.above(4).contains(model[item.key]?.measures["m"]) == isAbove)
                model[item.key] = item
            }
        }
    }

    @Test(
        "case 32: order, relative dates and links that carry another tracking parameter are no event", arguments: 1...30
    )
    func shuffled(seed: UInt64) {
        var dice = SplitMix64(seed)
        let kind = source(StubKind(mode: Bool.random(using: &dice) ? .list : .window))
        var memory = Memory()
        let items = observation(&dice)
        memory.poll(kind, items, at: at(0))
        let later = items.shuffled(using: &dice).map { item in
            var item = item
            item.url = "https://a/\(item.key)?utm_source=\(dice.next())"
            (item.time, item.notes["when"]) = (at(Int64.random(in: 0..<99, using: &dice)), "5 minutes ago")
            return item
        }
        #expect(memory.poll(kind, later, at: at(15)).isEmpty)
        #expect(memory.last.writes.count == items.count)
    }
}

@Suite("Differ: windows that are whole")
struct WholeWindowTests {
    private let window = source(StubKind(mode: .window))
    private func entry(_ key: String, _ time: Int64) -> Item { Item(key: key, title: key, time: at(time)) }

    @Test("case 33: where a window's document says that it is whole, what is absent from two of them is gone")
    func gone() {
        var memory = Memory()
        let all = [entry("c", 30), entry("b", 20), entry("a", 10)]
        memory.poll(window, all, mode: .list, at: at(100))
        let fewer = Array(all.dropLast())
        #expect(memory.poll(window, fewer, mode: .list, at: at(115)).isEmpty && memory.head?.pendingAbsences == 1)
        #expect(memory.poll(window, fewer, mode: .list, at: at(130)).map(\.short) == ["disappeared a"])
    }

    @Test("what a window had forgotten already is no news when its document is whole from now on")
    func fromNowOn() {
        var memory = Memory()
        memory.poll(window, [entry("b", 20), entry("a", 10)], at: at(100))
        memory.poll(window, [entry("c", 30), entry("b", 20)], at: at(115))
        #expect(memory.stored["a"]?.absentSince != nil)
        for second in [130, 145, 160] {
            #expect(memory.poll(window, [entry("c", 30), entry("b", 20)], mode: .list, at: at(Int64(second))).isEmpty)
        }
        #expect(memory.stored.keys.sorted() == ["b", "c"] && memory.head?.isWhole == true)
    }

    @Test("case 33: a whole document that turns empty is suspect, like any list")
    func empty() {
        var memory = Memory()
        memory.poll(window, [entry("b", 20), entry("a", 10)], mode: .list, at: at(100))
        #expect(memory.poll(window, [], mode: .list, at: at(115)).map(\.short) == ["suspect empty"])
        #expect(memory.stored.count == 2)
    }

    @Test("only a window's one page can say that it is whole")
    func walk() {
        var whole = Paginator(mode: .window, url: "p", known: nil, newest: nil)
        #expect(whole.pageRead(Page(items: [entry("a", 1)], isComplete: true)) == .done)
        #expect(whole.readingMode == .list)
        var part = Paginator(mode: .window, url: "p", known: nil, newest: nil)
        #expect(part.pageRead(Page(items: [entry("a", 1)], next: "q", isComplete: true)) == .done)
        #expect(part.readingMode == .window)
    }
}

@Suite("The wall clock")
struct WallClockTests {
    @Test("case 36: what is measured from a stored time goes on when the clock is set", arguments: [864_000, -7200])
    func rebased(seconds: Int64) {
        var record = SourceRecord(name: "a")
        record.due = at(60)
        record.notBefore = at(120)
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: at(1))
        record.snapshot?.emptiness = SnapshotHead.Emptiness(polls: 1, since: at(2))
        _ = record.health.pollFailed(.timeout, detail: "", fails: 3, at: at(3))
        record.wallClockJumped(by: .seconds(seconds))
        #expect(record.due == at(60 + seconds) && record.notBefore == at(120 + seconds))
        #expect(record.snapshot?.emptiness?.since == at(2 + seconds))
        #expect(record.health.failingSince == at(3 + seconds))
        // An hour later by the clock that was set, and not before.
        #expect(record.health.becameStale(PollInterval(every: .seconds(60)), at: at(3 + seconds + 3599)) == nil)
        #expect(record.health.becameStale(PollInterval(every: .seconds(60)), at: at(3 + seconds + 3600)) != nil)
    }

    @Test("what a person accepted stays accepted")
    func accepted() {
        var record = SourceRecord(name: "a")
        record.snapshot = SnapshotHead(identity: 1, fingerprints: [:], goodAt: at(1))
        record.snapshot?.emptiness = .accepted
        record.wallClockJumped(by: .seconds(-7200))
        #expect(record.snapshot?.emptiness == .accepted)
    }
}
