// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("by compares with the value that was told last")
struct AnnouncedValueTests {
    private func rule(_ change: (inout Delta) -> Void = { _ in }) throws -> Rule {
        var delta = try #require(Delta("5%"))
        change(&delta)
        return Rule.when(.by("price", delta))
    }

    private func drift(_ harness: inout RuleHarness, _ values: Int...) {
        for (old, new) in zip(values, values.dropFirst()) {
            harness.field("a", "price", "\(new)", was: "\(old)", state: "s")
        }
    }

    @Test("a slow drift is told once it is large enough, and then measured from there")
    func slow() throws {
        var harness = RuleHarness(try rule())
        drift(&harness, 100, 104, 108)
        #expect(harness.sent == ["out: a: price 100 → 108"])
        #expect(harness.last?.changes.first?.from == "104", "the event has the values of the poll")
        harness.restart()
        drift(&harness, 108, 112)
        #expect(harness.sent.count == 1)
        drift(&harness, 112, 114)
        #expect(harness.sent.last == "out: a: price 108 → 114")
    }

    @Test("a change that was withheld does not count as told")
    func silenced() throws {
        var harness = RuleHarness(try rule())
        harness.silence(
            Silence(id: 1, rule: "r", drops: true, created: RuleHarness.noon))
        drift(&harness, 100, 110)
        harness.silence()
        drift(&harness, 110, 111)
        #expect(harness.sent == ["out: a: price 100 → 111"])
    }

    @Test("compare: previous measures each poll from the one before")
    func previous() throws {
        var harness = RuleHarness(try rule { $0.comparesWithAnnounced = false })
        drift(&harness, 100, 104, 108, 112)
        #expect(harness.sent.isEmpty && harness.rows.isEmpty)
    }

    @Test("an item that is gone leaves no value")
    func gone() throws {
        var harness = RuleHarness(try rule())
        drift(&harness, 100, 110)
        #expect(harness.rows.count == 1)
        harness.gone("a")
        #expect(harness.rows.isEmpty)
    }
}
