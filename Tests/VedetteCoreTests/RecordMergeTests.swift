// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Records applied to a snapshot")
struct RecordMergeTests {
    /// Reads the records of a stream, one change each, as the journal would keep them.
    private final class Stream {
        let source: Source
        var memory = Memory()

        init(_ mode: ReadingMode) {
            source = VedetteCoreTests.source(StubKind(mode: mode))
            let differ = Differ(source: source, now: at(0))
            memory.head = differ.streamBaseline(openedAt: at(0), resume: nil, replaces: false).head
        }

        /// - Returns: the events; the head is checked against the rows.
        func merge(_ items: [Item], gone: [String] = [], resume: String? = nil, at now: Timestamp) -> [String] {
            var changes = RecordChanges()
            let isNew = [
                changes.add(items, isDeletion: false), changes.add(gone.map { Item(key: $0) }, isDeletion: true),
            ]
            #expect(isNew == [true, true])
            changes.resume = resume
            guard let head = memory.head else { return [] }
            let differ = Differ(source: source, now: now)
            let needsAll = differ.needsEveryRow(head, for: changes)
            let stored = needsAll ? memory.stored : memory.stored.filter { changes.allKeys.contains($0.key) }
            let events = memory.take(differ.merge(head, stored: stored, with: changes))
            let present = memory.stored.values.filter { $0.absentSince == nil }
            #expect(memory.head?.count == present.count)
            let states = Dictionary(present.compactMap { $0.item?.state }.map { ($0, 1) }, uniquingKeysWith: +)
            #expect(memory.head?.states == states)
            return events.map(\.short)
        }
    }

    @Test("an item appears, changes, is as it was, and is deleted; what no record is about stays")
    func list() {
        let stream = Stream(.list)
        #expect(
            stream.merge([Item(key: "a", state: "on"), Item(key: "b")], at: at(1)) == ["appeared a", "appeared b"])
        #expect(stream.merge([Item(key: "a", state: "on")], at: at(2)) == [])
        #expect(stream.merge([Item(key: "a", state: "off")], resume: "7", at: at(3)) == ["changed a"])
        #expect(stream.memory.head?.resume == "7")
        #expect(stream.merge([], gone: ["b", "never"], at: at(4)) == ["disappeared b"])
        #expect(stream.memory.head?.resume == "7" && stream.memory.head?.goodAt == at(4))
    }

    @Test("an item that a list lacked once is back when a record is about it, and gone when one deletes it")
    func absent() {
        let stream = Stream(.list)
        _ = stream.merge([Item(key: "a", state: "on"), Item(key: "b"), Item(key: "c")], at: at(1))
        #expect(stream.memory.poll(stream.source, [Item(key: "c")], at: at(2)).isEmpty)
        #expect(stream.memory.head?.pendingAbsences == 2)
        #expect(stream.merge([Item(key: "a", state: "on")], at: at(3)) == [])
        #expect(stream.merge([], gone: ["b"], at: at(4)) == ["disappeared b"])
        #expect(stream.memory.head?.pendingAbsences == 0)
    }

    @Test("what a server pushes is news, however old it says it is")
    func old() {
        let stream = Stream(.window)
        #expect(stream.merge([Item(key: "a", time: at(100))], at: at(100)) == ["appeared a"])
        #expect(stream.merge([Item(key: "b", time: at(1))], at: at(101)) == ["appeared b"])
    }

    @Test("a window shows at most 250 items, remembers the keys of those that left, and is silent when they come back")
    func window() {
        let stream = Stream(.window)
        for i in 0..<300 {
            #expect(
                stream.merge([Item(key: "\(1000 + i)", state: "new")], at: at(Int64(i))) == ["appeared \(1000 + i)"])
            #expect(stream.memory.head?.count ?? 0 <= Differ.maximumShown + Differ.surplus)
        }
        #expect(stream.memory.stored.count == 300)
        #expect(stream.memory.stored["1000"]?.absentSince != nil && stream.memory.stored["1299"]?.absentSince == nil)
        #expect(stream.merge([Item(key: "1000", state: "new")], at: at(400)) == [])
        #expect(stream.merge([], gone: ["1001", "1298"], at: at(401)) == ["disappeared 1298"])
        #expect(stream.memory.stored["1001"] == nil)
    }

    @Test("a key that comes twice begins the next changes, so that no state between two others is lost")
    func twice() {
        var changes = RecordChanges()
        let isNew = [
            changes.add([Item(key: "a", state: "1")], isDeletion: false),
            changes.add([Item(key: "b"), Item(key: "a", state: "2")], isDeletion: false),
            changes.add([Item(key: "a")], isDeletion: true),
        ]
        #expect(isNew == [true, false, false])
        #expect(changes.items.map(\.key) == ["a"] && changes.deletions.isEmpty)
    }
}
