// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteText

@testable import VedetteCore

/// A rule keeps so many entries for one purpose; a match beyond that is suppressed with its reason. Most tests take a tenth of
/// what the program keeps.
@Suite("The memory of a rule has a bound")
struct RuleMemoryLimitTests {
    private static let room = 1000
    private static let many = 1050

    @Test("a full 'for' leaves room for 'limit', and what has no room is suppressed")
    func limitBesideFor() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.pendingFor = .seconds(60)
                $0.limit = Limit(count: 1, per: .seconds(600), by: .rule)
            }, room: Self.room)
        for n in 0..<Self.many { harness.item("\(n)", "down", was: "up") }
        #expect(harness.sent.isEmpty, "nothing is sent before its time")
        #expect(harness.suppressed.count == Self.many - Self.room)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.count == 1)
        #expect(harness.sent.count + harness.suppressed.count == Self.many)
    }

    @Test("limit by item: an item without room is suppressed, both times, and never sent uncounted")
    func limitByItem() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600)) }, room: Self.room)
        for _ in 1...2 {
            for n in 0..<Self.many { harness.item("\(n)", "down", was: "up") }
        }
        #expect(harness.sent.count == Self.room)
        #expect(harness.suppressed.count == 2 * Self.many - Self.room)
    }

    @Test("beyond the room of a limit no sink gets more than another")
    func limitOfSinks() {
        var harness = RuleHarness(
            Rule.when(.appears, to: "out", "team") { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) },
            room: Self.room)
        for n in 0..<Self.many { harness.item("\(n)", "up") }
        #expect(harness.sent.count == 2)
    }

    @Test("limit by a field: counts that wait for the next message of their value give their room to another value")
    func countsGiveRoom() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .field("team")) },
            room: Self.room)
        for n in 0..<Self.room {
            let fields: Fields = ["team": .text("\(n)")]
            for key in ["x\(n)", "y\(n)"] { harness.item(key, "down", was: "up", fields: fields) }
            harness.item("y\(n)", "up", was: "down", fields: fields)
        }
        harness.pass(.seconds(3600))
        for key in ["a", "b"] { harness.item(key, "down", was: "up", fields: ["team": .text(key)]) }
        #expect(harness.sent.suffix(2) == ["out: a: up → down", "out: b: up → down"])
    }

    @Test("stays: an item that is there already and has no room is suppressed, not forgotten")
    func stays() {
        var rule = Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }
        rule.matchesExisting = true
        var harness = RuleHarness(rule, room: Self.room)
        for n in 0..<Self.many { harness.find("\(n)", "down", since: .zero) }
        #expect(harness.suppressed.count == Self.many - Self.room)
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.count == Self.room)
    }

    @Test("a match that stays beyond the room for reminders is suppressed, and a restart does not send it again")
    func activeMatches() {
        var rule = Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }
        rule.matchesExisting = true
        var harness = RuleHarness(rule, room: Self.room)
        for n in 0..<Self.room { harness.find("\(n)", "down", since: .zero) }
        harness.pass(.seconds(60))
        harness.poll()
        for n in Self.room..<Self.many { harness.find("\(n)", "down", since: .zero) }
        harness.pass(.seconds(60))
        harness.poll()
        #expect(harness.sent.count == Self.room)
        #expect(harness.suppressed.count == Self.many - Self.room)
    }

    @Test("two steps that fail together leave what was before, whichever is undone first", arguments: [true, false])
    func undoneTogether(firstFirst: Bool) {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 1, per: .seconds(600), by: .rule) })
        let first = harness.evaluate(harness.event(.changed, key: "a", "down", was: "up"))
        let second = harness.evaluate(harness.event(.changed, key: "b", "down", was: "up"))
        for step in firstFirst ? [first, second] : [second, first] { harness.engine.undo(step) }
        #expect(harness.engine.remembered.isEmpty)
        harness.item("c", "down", was: "up")
        #expect(harness.sent == ["out: c: up → down"])
    }

    @Test("what a limit counts at one time is one entry, for each sink and over a restart")
    func entries() {
        var harness = RuleHarness(
            Rule.when(.appears, to: "out", "team", "boss") {
                $0.limit = Limit(count: 100, per: .seconds(600), by: .rule)
            })
        harness.silence(Silence(id: 1, sink: "boss", created: RuleHarness.noon))
        for n in 0..<99 { harness.item("\(n)", nil) }
        #expect(harness.rows.values.filter { $0.key.slot == .limit }.map { $0.times.map(\.count) } == [[99]])
        harness.restart()
        harness.silence()
        #expect(harness.sent.count == 2 * 99 + 1, "what waited for 'boss' is one message")
        for key in ["x", "y"] { harness.item(key, nil) }
        #expect(harness.sent.filter { $0 == "team: x" || $0 == "team: y" } == ["team: x"])
        #expect(harness.sent.filter { $0.hasPrefix("boss: ") }.count == 3)
    }

    @Test("what at_least counts at one time is one entry, over a restart")
    func matches() {
        var harness = RuleHarness(
            Rule.when(.appears) { $0.atLeast = Limit(count: 100, per: .seconds(600), by: .rule) })
        for n in 0..<98 { harness.item("\(n)", nil) }
        harness.restart()
        harness.item("x", nil)
        #expect(harness.rows.values.map { $0.times.map(\.count) } == [[99]])
        harness.item("y", nil)
        #expect(harness.sent == ["out: y (+99)"])
    }

    @Test("a step that fails between two that are committed takes nothing of theirs back")
    func undoneBetween() {
        var harness = RuleHarness(
            Rule.when(.becomes("down")) { $0.limit = Limit(count: 3, per: .seconds(600), by: .rule) })
        harness.item("a", "down", was: "up")
        let failed = harness.evaluate(harness.event(.changed, key: "b", "down", was: "up"))
        harness.item("c", "down", was: "up")
        let alsoFailed = harness.evaluate(harness.event(.changed, key: "d", "down", was: "up"))
        harness.engine.undo(failed)
        harness.engine.undo(alsoFailed)
        #expect(harness.engine.remembered.first?.times.total == 3)
    }

    @Test("the versions of deleted rows have a bound, and a step in flight can be undone whenever they are pruned")
    func versions() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) })
        harness.engine = RuleEngine(
            harness.engine.rules, civil: ZoneTime(), maximumRows: Self.room, maximumVersions: 10)
        for n in 1...12 {
            harness.item("kept-\(n)", "down", was: "up")
            let failed = harness.evaluate(harness.event(.changed, key: "kept-\(n)", "up", was: "down"))
            harness.item("gone-\(n)", "down", was: "up")
            harness.item("gone-\(n)", "up", was: "down")
            harness.engine.undo(failed)
            #expect(harness.engine.remembered.count == n)
        }
        for n in 13...100 {
            harness.item("gone-\(n)", "down", was: "up")
            harness.item("gone-\(n)", "up", was: "down")
        }
        #expect(harness.engine.versions.count <= harness.engine.remembered.count + 10)
    }

    @Test("beyond its room once_per forgets the oldest tenth of the rule's own values")
    func oldestValues() {
        let web = Rule.when(.all([.source(["web"], text: "'web'"), .appears]), name: "web") { $0.oncePer = "build" }
        let lab = Rule.when(.all([.source(["lab"], text: "'lab'"), .appears]), name: "lab") { $0.oncePer = "build" }
        var harness = RuleHarness(web, lab, room: Self.room)
        func appear(_ build: Int, _ source: String = "lab") -> Bool {
            let before = harness.sent.count
            harness.item("x", nil, source: source, fields: ["build": .text("\(build)")])
            return harness.sent.count > before
        }
        #expect(appear(0, "web"))
        for n in 10_000..<11_001 {
            harness.sleep(.milliseconds(1))
            #expect(appear(n))
        }
        #expect(!appear(0, "web"), "the values of another rule stay")
        #expect(!appear(11_000) && !appear(10_100))
        #expect(appear(10_099))
    }

    @Test("the bound holds after rows are forgotten, and the warning comes again after a tenth was free")
    func warnings() {
        var harness = RuleHarness(Rule.when(.becomes("down")) { $0.pendingFor = .seconds(60) }, room: Self.room)
        var next = 0
        func fill(_ count: Int) {
            for n in next..<next + count { harness.item("\(n)", "down", was: "up") }
            next += count
        }
        func empty(_ keys: Range<Int>) { for n in keys { harness.item("\(n)", "up", was: "down") } }
        fill(1001)
        #expect(harness.warnings.count == 1 && harness.rows.count == Self.room)
        empty(0..<100)
        fill(101)
        #expect(harness.warnings.count == 1 && harness.rows.count == Self.room)
        empty(100..<201)
        fill(102)
        #expect(harness.warnings.count == 2 && harness.rows.count == Self.room)
    }
}

@Suite("The rows of rules")
struct RowTableTests {
    @Test("a row whose name is spelled otherwise, but the same to Unicode, keeps its key")
    func spelling() {
        func row(_ name: String) -> RuleMemory {
            let key = RuleMemory.Key(rule: "r", slot: .limit, name: name)
            return RuleMemory(key: key, identity: 1, since: Timestamp(milliseconds: 0))
        }
        var table = RowTable(maximum: 10, maximumVersions: 10)
        let (short, long) = (row("caf\u{E9}"), row("cafe\u{301}"))
        let writes = [table.set(short.key, short), table.set(long.key, long), table.set(long.key, nil)]
        #expect(writes.map { $0?.key.name.utf8.count } == [5, 5, 5])
        #expect(table.all.isEmpty)
    }
}
