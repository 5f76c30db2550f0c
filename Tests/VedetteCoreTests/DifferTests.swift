// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@Suite("Differ: lists")
struct DifferTests {
    private let one = Item(key: "1", title: "one", state: "Starting", fields: ["owner": "ann"])
    private let two = Item(key: "2", title: "two", state: "Stopped")

    @Test("the first poll is the baseline and announces nothing")
    func baseline() {
        var memory = Memory()
        #expect(memory.poll(source(), [one, two], at: at(0)).isEmpty)
        #expect(memory.stored.count == 2 && memory.head?.count == 2)
        #expect(memory.head?.states == ["Starting": 1, "Stopped": 1])
    }

    @Test("with first: announce the first poll announces every item, in the order of the document")
    func announce() {
        var memory = Memory()
        let events = memory.poll(source(first: .announce), [two, one], at: at(0))
        #expect(events.map(\.short) == ["appeared 2", "appeared 1"])
    }

    @Test("an identical observation writes nothing, whatever its order")
    func identical() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        #expect(memory.poll(source(), [two, one], at: at(15)).isEmpty)
        #expect(memory.last.writes.isEmpty && memory.last.deletions.isEmpty && memory.last.changesNothing)
    }

    @Test("a change says from, to and how long the state had lasted, state first, and writes that row alone")
    func changed() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(100))
        var ready = one
        (ready.state, ready.title) = ("Ready for use", "ONE")
        ready.fields["owner"] = "bob"
        ready.fields["zone"] = "a"
        let events = memory.poll(source(), [ready, two], at: at(352))
        #expect(
            events == [
                DraftEvent(
                    .changed, item: ready,
                    changes: [
                        FieldChange(field: "state", from: "Starting", to: "Ready for use", lasted: 252),
                        FieldChange(field: "title", from: "one", to: "ONE"),
                        FieldChange(field: "owner", from: "ann", to: "bob"),
                        FieldChange(field: "zone", from: nil, to: "a"),
                    ])
            ])
        #expect(memory.last.writes.map(\.key) == ["1"])
    }

    @Test("an item whose key is spelled otherwise, but the same to Unicode, keeps the stored key")
    func spelling() {
        var memory = Memory()
        memory.poll(source(), [Item(key: "caf\u{E9}", state: "up")], at: at(0))
        let events = memory.poll(source(), [Item(key: "cafe\u{301}", state: "down")], at: at(15))
        #expect(events.map(\.kind) == [.changed])
        let rows = memory.last.writes
        let keys = rows.map(\.key) + rows.compactMap(\.item?.key) + events.compactMap(\.item?.key)
        #expect(keys.map { Array($0.utf8) } == Array(repeating: Array("caf\u{E9}".utf8), count: 3))
    }

    @Test("a state's age survives changes of other fields")
    func stateSince() {
        var memory = Memory()
        memory.poll(source(), [one], at: at(0))
        var item = one
        item.title = "uno"
        memory.poll(source(), [item], at: at(50))
        item.state = "Stopped"
        #expect(memory.poll(source(), [item], at: at(70)).first?.changes.first?.lasted == 70)
    }

    @Test("an item disappears after two good polls, not one, and comes back silently in between")
    func disappears() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        #expect(memory.poll(source(), [one], at: at(15)).isEmpty)
        #expect(memory.head?.pendingAbsences == 1 && memory.head?.count == 1)
        #expect(memory.poll(source(), [one, two], at: at(30)).isEmpty)
        #expect(memory.head?.pendingAbsences == 0)
        #expect(memory.poll(source(), [one], at: at(45)).isEmpty)
        #expect(memory.poll(source(), [one], at: at(60)) == [DraftEvent(.disappeared, item: two)])
        #expect(memory.stored["2"] == nil && memory.head?.pendingAbsences == 0)
    }

    @Test("an unchanged response confirms an absence")
    func confirmed() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        memory.poll(source(), [one], at: at(15))
        #expect(memory.unchanged(source(), at: at(30)).map(\.short) == ["disappeared 2"])
        #expect(memory.unchanged(source(), at: at(45)).isEmpty)
        #expect(memory.head?.goodAt == at(45))
    }

    @Test("an item that comes back changed is compared with its last good observation", .tags(.I3))
    func backChanged() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        memory.poll(source(), [one], at: at(15))
        var back = two
        back.state = "Starting"
        let change = memory.poll(source(), [one, back], at: at(30)).first?.changes.first
        #expect(change?.from == "Stopped" && change?.to == "Starting")
    }

    @Test("a list that turns empty is suspect until three polls over five minutes agree")
    func suspect() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        #expect(memory.poll(source(), [], at: at(100)).map(\.short) == ["suspect empty"])
        #expect(memory.last.isSuspect && memory.stored.count == 2 && memory.head?.count == 2)
        #expect(memory.poll(source(), [], at: at(200)).isEmpty)
        #expect(memory.poll(source(), [], at: at(399)).isEmpty && memory.stored.count == 2)
        #expect(memory.poll(source(), [], at: at(400)).map(\.short) == ["disappeared 1", "disappeared 2"])
        #expect(memory.stored.isEmpty && memory.head?.emptiness == nil)
    }

    @Test("an object without a key in the place of a list is suspect for as long, also where an empty list is valid")
    func keyless() {
        let whole = Item(key: "lab", state: "error")
        for source in [source(), source(empty: .valid)] {
            var memory = Memory()
            memory.poll(source, [one, two], at: at(0))
            #expect(memory.poll(source, [whole], doubt: .keyless, at: at(100)).map(\.short) == ["suspect shape"])
            #expect(memory.last.isSuspect && memory.stored.count == 2 && memory.head?.emptiness?.isReplaced == true)
            #expect(memory.poll(source, [whole], doubt: .keyless, at: at(200)).isEmpty && memory.stored.count == 2)
            let events = memory.poll(source, [whole], doubt: .keyless, at: at(400)).map(\.short)
            #expect(events.sorted() == ["appeared lab", "disappeared 1", "disappeared 2"])
            #expect(memory.head?.emptiness == nil)
            // From now on the object is what the source shows.
            let down = Item(key: "lab", state: "down")
            #expect(memory.poll(source, [down], doubt: .keyless, at: at(500)).map(\.short) == ["changed lab"])
        }
    }

    @Test("members without a value are suspect where all that is stored has one and none of them is known")
    func valueless() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        let error = Item(key: "error", title: "error")
        #expect(memory.poll(source(), [error], doubt: .valueless, at: at(100)).map(\.short) == ["suspect shape"])
        #expect(memory.poll(source(), [one, two], at: at(200)).isEmpty && memory.head?.emptiness == nil)
        #expect(memory.poll(source(), [Item(key: "1"), error], doubt: .valueless, at: at(300)).count == 2)
        var bare = Memory()
        bare.poll(source(), [Item(key: "1")], at: at(0))
        #expect(bare.poll(source(), [error], doubt: .valueless, at: at(100)).map(\.short) == ["appeared error"])
    }

    @Test("five minutes alone are not enough: two polls do not agree")
    func twoPolls() {
        var memory = Memory()
        memory.poll(source(), [one], at: at(0))
        memory.poll(source(), [], at: at(10))
        #expect(memory.poll(source(), [], at: at(1000)).isEmpty && memory.last.isSuspect)
    }

    @Test("items that are back end the suspicion without an event")
    func backFromEmpty() {
        var memory = Memory()
        memory.poll(source(), [one], at: at(0))
        memory.poll(source(), [], at: at(15))
        #expect(memory.poll(source(), [one], at: at(30)).isEmpty)
        #expect(memory.head?.emptiness == nil)
        memory.poll(source(), [], at: at(45))
        #expect(memory.unchanged(source(), at: at(60)).isEmpty && memory.head?.emptiness == nil)
    }

    @Test("empty: valid believes an empty list, but each absence still needs two good polls")
    func validEmptiness() {
        var memory = Memory()
        memory.poll(source(empty: .valid), [one, two], at: at(0))
        #expect(memory.poll(source(empty: .valid), [], at: at(15)).isEmpty)
        let events = memory.poll(source(empty: .valid), [], at: at(30))
        #expect(events.map(\.short) == ["disappeared 1", "disappeared 2"])
    }

    @Test("another identity is a new baseline, even with first: announce")
    func identity() {
        var memory = Memory()
        memory.poll(source(first: .announce), [one], at: at(0))
        let other = source(StubKind(identity: 2), first: .announce)
        #expect(memory.poll(other, [two], at: at(15)).isEmpty)
        #expect(memory.last.isNewBaseline && memory.stored.keys.sorted() == ["2"])
    }

    @Test("other options that select nothing of a list that had items are suspect, like a list that turns empty")
    func emptiedByOptions() {
        var memory = Memory()
        memory.poll(source(), [one, two], at: at(0))
        let other = source(StubKind(identity: 2))
        #expect(memory.poll(other, [], at: at(100)).map(\.short) == ["suspect empty"])
        #expect(memory.poll(other, [], at: at(200)).isEmpty && memory.head?.count == 2)
        #expect(memory.poll(other, [], at: at(400)).isEmpty && memory.last.isNewBaseline && memory.head?.count == 0)
        var right = Memory()
        right.poll(source(), [one], at: at(0))
        right.poll(other, [], at: at(100))
        #expect(right.poll(other, [two], at: at(200)).isEmpty && right.last.isNewBaseline)
        right.poll(source(empty: .valid), [], at: at(300))
        #expect(right.last.isNewBaseline && !right.last.isSuspect)
    }

    @Test("a field that is read with other options, is new or is read no more, starts as baseline; others do not")
    func fingerprints() {
        var memory = Memory()
        memory.poll(
            source(StubKind(fingerprints: ["a": 1, "gone": 1])),
            [
                Item(key: "1", fields: ["a": "x", "b": "x", "gone": "x"])
            ], at: at(0))
        let later = source(StubKind(fingerprints: ["a": 2, "new": 1]))
        let events = memory.poll(later, [Item(key: "1", fields: ["a": "y", "b": "y", "new": "y"])], at: at(15))
        #expect(events.first?.changes == [FieldChange(field: "b", from: "x", to: "y")])
        let next = memory.poll(later, [Item(key: "1", fields: ["a": "z", "b": "y", "new": "y"])], at: at(30))
        #expect(next.first?.changes == [FieldChange(field: "a", from: "y", to: "z")])
    }

    @Test("a program that reads the same bytes otherwise makes a new baseline of every field; then changes are told")
    func newReading() {
        var memory = Memory()
        func lab(_ version: UInt64) -> Source { source(StubKind(fingerprints: [SnapshotHead.everyField: version])) }
        func poll(_ version: UInt64, _ text: String, _ seconds: Int64) -> [String] {
            let item = Item(
                key: "1", title: text, state: text, fields: ["a": .text(text)], measures: ["m": .text("\(seconds)")])
            return memory.poll(lab(version), [item], thresholds: ["m": [.above(10)]], at: at(seconds)).map(\.short)
        }
        #expect(poll(1, "M\u{FC}nchen", 0) == [])
        #expect(poll(2, "Muenchen", 15) == [] && memory.stored["1"]?.item?.title == "Muenchen")
        #expect(memory.last.reread == ["1"])
        #expect(poll(2, "Wien", 30) == ["changed 1"])
        #expect(memory.last.reread == [])
        #expect(memory.poll(lab(3), [Item(key: "1"), Item(key: "2")], at: at(45)).map(\.short) == ["appeared 2"])
        let measure = Item(key: "2", measures: ["m": "20"])
        #expect(memory.poll(lab(4), [Item(key: "1"), measure], at: at(60)).isEmpty && memory.last.reread == ["2"])
        #expect(memory.last.writes.map(\.key) == ["2"], "rules read the measure from the row")
    }

    @Test("the server's words, times and links are not compared: another language is no change")
    func notes() {
        var memory = Memory()
        memory.poll(source(), [Item(key: "1", state: "Starting", notes: ["state_text": "Avvio"])], at: at(0))
        let english = Item(key: "1", state: "Starting", url: "/1", time: at(9), notes: ["state_text": "Starting"])
        #expect(memory.poll(source(), [english], at: at(15)).isEmpty)
    }

    @Test("a row of the journal that cannot be read is written again and is no event")
    func corruptRow() {
        var memory = Memory()
        memory.poll(source(), [one], at: at(0))
        memory.stored["1"]?.body = Array("{".utf8)
        memory.stored["1"]?.digest = 0
        #expect(memory.poll(source(), [one], at: at(15)).isEmpty && memory.stored["1"]?.item == one)
    }
}
