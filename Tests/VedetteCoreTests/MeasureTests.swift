// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@Suite("Measures and what is only shown")
struct MeasureTests {
    private func host(_ latency: String?, state: String = "up", note: String = "n") -> Item {
        var item = Item(key: "h", state: state, notes: ["note": .text(note)])
        item.measures["latency"] = latency.map { .text($0) }
        return item
    }

    private let thresholds: Thresholds = ["latency": [.above(500), .below(10)]]

    @Test("a measure is stored at every poll and makes an event only when it crosses a bound of a rule")
    func crossing() {
        var memory = Memory()
        memory.poll(source(), [host("900")], thresholds: thresholds, at: at(0))
        let steps: [(String, [String])] = [
            ("950", []), ("501", []), ("500", ["500"]), ("20", []), ("10", []), ("9.5", ["9.5"]), ("3", []),
            ("700", ["700"]), ("700", []),
        ]
        for (number, (value, news)) in steps.enumerated() {
            let events = memory.poll(source(), [host(value)], thresholds: thresholds, at: at(Int64(number + 1)))
            #expect(events.flatMap(\.changes).compactMap { $0.to?.description } == news, "\(value)")
            #expect(memory.stored["h"]?.item?.measures["latency"] == .text(value))
        }
    }

    @Test("without a bound in a rule a measure makes no event")
    func noRule() {
        var memory = Memory()
        memory.poll(source(), [host("1")], at: at(0))
        for value in ["1000", "1", "abc"] {
            #expect(memory.poll(source(), [host(value)], at: at(15)).isEmpty && memory.last.changesNothing)
            #expect(memory.last.refreshes.map(\.key) == ["h"])
        }
    }

    @Test(
        "a measure seen for the first time crosses a bound that it lies beyond; one that is absent or no number does not"
    )
    func absent() {
        var memory = Memory()
        memory.poll(source(), [host(nil)], thresholds: thresholds, at: at(0))
        #expect(memory.poll(source(), [host("100")], thresholds: thresholds, at: at(1)).isEmpty)
        #expect(memory.poll(source(), [host(nil)], thresholds: thresholds, at: at(2)).isEmpty)
        #expect(memory.poll(source(), [host("many")], thresholds: thresholds, at: at(3)).isEmpty)
        let change = memory.poll(source(), [host("501")], thresholds: thresholds, at: at(4)).first?.changes
        #expect(change == [FieldChange(field: "latency", from: "many", to: "501")])
    }

    @Test("the bounds of rules are found by source, also in nested conditions")
    func book() {
        let rules = [
            Rule(
                name: "a",
                when: .all([
                    .source(["s"], text: "s"), .field("latency", from: nil, to: .above(500)),
                    .not(.any([.item("days", .below(14)), .item("x", .oneOf(["1"]))])),
                ]), notify: []),
            Rule(name: "b", when: .item("latency", .above(900)), notify: []),
            Rule(name: "c", when: .appears, notify: []),
        ]
        let book = ThresholdIndex(rules)
        #expect(book.thresholds(for: "s") == ["latency": [.above(500), .above(900)], "days": [.below(14)]])
        #expect(book.thresholds(for: "t") == ["latency": [.above(900)]])
        #expect(ThresholdIndex([rules[2]]).thresholds(for: "s").isEmpty)
    }

    private func unmet(_ condition: Condition, from: Value?, to: Value?) throws -> String? {
        try condition.mismatch(
            with: Event(
                id: Identifier("e"), kind: .changed, time: at(0), source: "s", sourceKind: "stub", poll: "p",
                item: Item(key: "1"), changes: [FieldChange(field: "cpu", from: from, to: to)]))
    }

    @Test("a bound in `to` alone matches when the value crosses it, not at every step beyond it")
    func toBound() throws {
        let above = Condition.field("cpu", from: nil, to: .above(90))
        #expect(try unmet(above, from: "80", to: "91") == nil)
        #expect(try unmet(above, from: nil, to: "91") == nil)
        #expect(try unmet(above, from: "none", to: "91") == nil)
        #expect(
            try unmet(above, from: "91", to: "99")
                == "cpu was above 90.0 before, at '91', so it did not cross it")
        #expect(try unmet(above, from: "99", to: "89") == "to is '89', not above 90.0")
        #expect(try unmet(.field("cpu", from: nil, to: .below(5)), from: "4", to: "3") != nil)
        // Who names `from` too asks for what stands there.
        #expect(try unmet(.field("cpu", from: .above(90), to: .above(95)), from: "91", to: "99") == nil)
    }

    @Test("an appeared item crosses from absent")
    func appeared() throws {
        var event = Event(
            id: Identifier("e"), kind: .appeared, time: at(0), source: "s", sourceKind: "stub", poll: "p",
            item: host("501"))
        #expect(try Condition.field("latency", from: nil, to: .above(500)).mismatch(with: event) == nil)
        event.item = host("499")
        #expect(try Condition.field("latency", from: nil, to: .above(500)).mismatch(with: event) != nil)
    }

    @Test("words, link, time and measures that changed alone are written, one row, and are no event")
    func shown() {
        let base = Item(
            key: "1", title: "t", url: "u", time: at(1), notes: ["n": "a", "l": .list(["x"])], measures: ["m": "1"])
        let edits: [(inout Item) -> Void] = [
            { $0.url = "v" }, { $0.url = nil }, { $0.time = at(2) }, { $0.time = nil }, { $0.notes["n"] = "b" },
            { $0.notes["l"] = .list(["x", "y"]) }, { $0.notes = [:] }, { $0.measures["m"] = "2" },
            { ($0.notes, $0.measures) = (["m": "1"], ["n": "a", "l": .list(["x"])]) },
        ]
        for (number, edit) in edits.enumerated() {
            var memory = Memory()
            memory.poll(source(), [base, Item(key: "2", title: "t")], at: at(0))
            var other = base
            edit(&other)
            #expect(memory.poll(source(), [other, Item(key: "2", title: "t")], at: at(15)).isEmpty)
            let (writes, refreshes) = (memory.last.writes.map(\.key), memory.last.refreshes.map(\.key))
            #expect(writes + refreshes == ["1"] && refreshes.isEmpty == (number != 7), "edit \(number)")
            #expect(memory.stored["1"]?.item == other && memory.stored["1"]?.stateSince == at(0))
            #expect(memory.poll(source(), [other, Item(key: "2", title: "t")], at: at(30)).isEmpty)
            #expect(memory.last.writes.isEmpty && memory.last.refreshes.isEmpty)
        }
    }
}

/// Up, or down.
private struct HostKind: ObservingKind {
    let mode = ReadingMode.list
    let identity: UInt64 = 1
    let fingerprints: [String: UInt64] = [:]
    let fieldNames: [String]? = nil
    func request(base: String, context: PollContext) -> RequestTemplate { RequestTemplate(url: base) }
    func read(_ page: inout PageBody) throws(ReadError) -> Page { Page(items: []) }
    func observe(_ seen: Observed, _ context: ObservationContext) -> Page { Page(items: []) }
    func isDown(_ item: Item) -> Bool { item.state == "down" }
    let bodyFields: Set<String> = ["page"]
}

@Suite("Doubt")
struct DoubtTests {
    private let up = Item(key: "h", state: "up", measures: ["ms": "5"])
    private let down = Item(key: "h", state: "down")

    private func stored(_ item: Item) -> [String: StoredItem] {
        [item.key: StoredItem(item, digest: item.digest, stateSince: at(0))]
    }

    @Test("what was up is down only when enough polls in a row say so; what is known to be down is not doubted")
    func doubtful() {
        let kind = HostKind()
        #expect(kind.isUnconfirmed([down], stored: stored(up), polls: 1, fails: 3))
        #expect(kind.isUnconfirmed([down], stored: stored(up), polls: 2, fails: 3))
        #expect(!kind.isUnconfirmed([down], stored: stored(up), polls: 3, fails: 3))
        #expect(!kind.isUnconfirmed([down], stored: stored(up), polls: 1, fails: 1))
        #expect(!kind.isUnconfirmed([up], stored: stored(up), polls: 1, fails: 3))
        #expect(!kind.isUnconfirmed([down], stored: stored(down), polls: 1, fails: 3))
        #expect(!kind.isUnconfirmed([down], stored: [:], polls: 1, fails: 3))
    }

    @Test("while it is down its last measures are kept, so that no outage makes them cross a bound again")
    func measures() {
        let kind = HostKind()
        #expect(kind.keepingMeasures([down], stored: stored(up))[0].measures == ["ms": "5"])
        let other = Item(key: "h", state: "up", measures: [:])
        #expect(kind.keepingMeasures([other], stored: stored(up)) == [other])
    }

    @Test("while it is down the fields that only its own page tells stand too, and no others")
    func fields() {
        let up = Item(key: "h", state: "up", fields: ["page": "a", "status": "200"])
        let down = Item(key: "h", state: "down", fields: [:])
        let kept = HostKind().keepingMeasures([down], stored: stored(up))
        #expect(kept[0].fields == ["page": "a"])
        #expect(HostKind().keepingMeasures([down], stored: stored(kept[0]))[0].fields == ["page": "a"])
        let moved = Item(key: "h", state: "up", fields: ["status": "200"])
        #expect(HostKind().keepingMeasures([moved], stored: stored(up)) == [moved])
    }

    @Test("doubt is counted like a failure and is none: no event, no problem, and the next good poll says nothing")
    func health() {
        var health = Health()
        health.pollUnconfirmed(at: at(1))
        #expect(health.failures == 1 && health.problem == nil && !health.isFailing && health.failingSince == nil)
        #expect(health.doubtedSince == at(1))
        #expect(health.pollSucceeded(at: at(2)) == nil && health.failures == 0 && health.doubtedSince == nil)
    }
}
