// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

/// The table of conditions, row by row. A match is held by a silence: what is told when the silence ends was true until then.
@Suite("When a match begins and ends")
struct ConditionTableTests {
    /// The rule over one item `a`, silenced from the start.
    private struct Table {
        var harness: RuleHarness

        init(_ row: ConditionRow) {
            let waits = row.found != nil && !row.condition.isTimed
            var rule = Rule.when(row.condition) { if waits { $0.pendingFor = .seconds(1) } }
            rule.matchesExisting = row.found != nil
            harness = RuleHarness(rule)
            harness.silence(Silence(id: 1, rule: "r", created: RuleHarness.noon))
        }

        mutating func play(_ steps: [ConditionRow.Step]) { for step in steps { play(step) } }

        private mutating func play(_ step: ConditionRow.Step) {
            switch step {
            case .state(let state, let was, let team): harness.item("a", state, was: was, fields: fields(team))
            case .appears(let state, let team): harness.item("a", state, fields: fields(team))
            case .gone(let state): harness.gone("a", state)
            case .field(let field, let value, let was, let state):
                harness.field("a", field, value, was: was, state: state)
            case .source(let kind): harness.source(kind)
            case .items(let states):
                let events = states.enumerated().map { harness.event(.appeared, key: "i\($0.offset)", $0.element) }
                harness.poll(events: events)
            case .poll: harness.poll()
            case .wait(let seconds): harness.pass(.seconds(seconds))
            }
            harness.pass(.seconds(1))
            if case .poll = step { return }
            if case .source = step { return }
            if case .items = step { return }
            harness.poll()
        }

        private func fields(_ team: String) -> Fields { ["team": .text(team)] }

        /// Ends the silence, and returns whether something was told.
        mutating func isTold() -> Bool {
            harness.silence()
            return !harness.sent.isEmpty
        }
    }

    private func isTold(_ row: ConditionRow, _ steps: [ConditionRow.Step]) -> Bool {
        var table = Table(row)
        table.play(steps)
        return table.isTold()
    }

    /// Expects an outcome, or, where the row has a difference, the other one.
    private func expect(_ isRight: Bool, _ row: ConditionRow, _ difference: ConditionRow.Difference) {
        guard let known = row.differences[difference] else {
            #expect(isRight, "\(row.name): \(difference)")
            return
        }
        #expect(!isRight, "\(row.name): no longer \(known)")
    }

    @Test("a match begins, goes on and ends as the table says", arguments: ConditionRow.all)
    func table(row: ConditionRow) {
        for (i, steps) in row.unmatched.enumerated() { expect(!isTold(row, steps), row, .unmatched(i)) }
        for (i, steps) in row.begins.enumerated() { expect(isTold(row, steps), row, .begins(i)) }
        for (i, steps) in row.ends.enumerated() { expect(!isTold(row, row.begins[0] + steps), row, .ends(i)) }
        for (i, steps) in row.goesOn.enumerated() { expect(isTold(row, row.begins[0] + steps), row, .goesOn(i)) }
    }

    @Test("only lasting values are found among stored items", arguments: ConditionRow.all)
    func found(row: ConditionRow) {
        var table = Table(row)
        table.harness.find("a", row.found ?? "down", since: .seconds(-60), fields: row.foundFields)
        table.harness.poll()
        expect(table.isTold() == (row.found != nil), row, .found)
    }

    @Test("how_many is found in the stored items at the first poll, and told once")
    func countIsFound() {
        let count = ItemCount(SourceCondition(source: "lab", matcher: .oneOf(["down"])), bound: .above(1))
        var harness = RuleHarness(Rule.when(.howMany(count)))
        harness.engine.addStoredFacts(of: "lab", ["a", "b"].map { Item(key: $0, title: $0, state: "down") })
        harness.poll()
        harness.restart()
        harness.engine.addStoredFacts(of: "lab", ["a", "b"].map { Item(key: $0, title: $0, state: "down") })
        harness.poll()
        #expect(harness.sent.count == 1)
    }

    @Test("nothing begins when its time is over, and ends with a match that a gate drops, too")
    func nothing() {
        let pause = CivilWindow(
            name: "pause", start: CivilTimeOfDay(minutes: 12 * 60 + 2), end: CivilTimeOfDay(minutes: 12 * 60 + 5),
            zone: "UTC")
        var harness = RuleHarness(
            Rule.when(.becomes("down")) {
                $0.nothing = .seconds(60)
                $0.resolved = true
                $0.quiet = Quiet(windows: [pause], action: .defer)
            })
        harness.restart()
        harness.pass(.seconds(61))
        #expect(harness.sent.count == 1)
        harness.pass(.seconds(70))
        harness.item("a", "down", was: "up")
        harness.pass(.seconds(180))
        #expect(harness.sent.count == 1, "to the sink, nothing matched all the time")
        harness.item("a", "down", was: "up")
        #expect(harness.sent.count == 2)
    }
}
