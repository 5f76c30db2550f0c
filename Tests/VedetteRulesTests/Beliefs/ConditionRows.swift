// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension ConditionRow {
    private static let down = Condition.field("state", from: nil, to: .oneOf(["down"]))

    static let all: [ConditionRow] = [
        ConditionRow(
            name: "field with to", condition: down,
            unmatched: [[.state("up", was: "limp")], [.field("note", "2", was: "1", state: "down")]],
            begins: [[.state("down", was: "up")], [.appears("down")]],
            ends: [[.state("up", was: "down")], [.gone("down")]],
            goesOn: [[.field("note", "2", was: "1", state: "down")], [.poll]]),
        ConditionRow(
            name: "field with from and to", condition: .field("state", from: .oneOf(["up"]), to: .oneOf(["down"])),
            unmatched: [[.state("down", was: "limp")], [.appears("down")]],
            begins: [[.state("down", was: "up")]],
            ends: [[.state("limp", was: "down")], [.gone("down")]]),
        ConditionRow(
            name: "field with a list in to", condition: .field("state", from: nil, to: .oneOf(["down", "limp"])),
            begins: [[.state("down", was: "up")], [.state("limp", was: "up")]],
            ends: [[.state("up", was: "down")], [.gone("down")]],
            goesOn: [[.state("limp", was: "down")]]),
        ConditionRow(
            name: "field without to", condition: .field("state", from: nil, to: nil),
            unmatched: [[.field("note", "2", was: "1")]],
            begins: [[.state("down", was: "up")], [.appears("up")]], ends: [[.gone("down")]],
            goesOn: [[.poll], [.state("limp", was: "down")]]),
        ConditionRow(
            name: "field with from alone", condition: .field("state", from: .oneOf(["up"]), to: nil),
            unmatched: [[.state("down", was: "limp")]],
            begins: [[.state("down", was: "up")]], ends: [[.state("up", was: "down")], [.gone("down")]],
            goesOn: [[.poll]]),
        ConditionRow(
            name: "changes", condition: .changes(["note"]), unmatched: [[.state("down", was: "up")]],
            begins: [[.field("note", "2", was: "1")]], ends: [[.gone("up")]], goesOn: [[.poll]]),
        ConditionRow(
            name: "by", condition: .by("note", Delta("10")!), unmatched: [[.field("note", "5", was: "1")]],
            begins: [[.field("note", "20", was: "1")], [.field("note", "1", was: "20")]],
            ends: [[.gone("up")], [.field("note", "5", was: "20")]],
            goesOn: [[.poll], [.field("note", "21", was: "20")]]),
        ConditionRow(
            name: "stays", condition: .stays("state", .oneOf(["down", "limp"])),
            unmatched: [[.field("note", "2", was: "1", state: "down")]],
            begins: [[.state("down", was: "up")], [.appears("down")]],
            ends: [[.state("up", was: "down")], [.gone("down")]],
            goesOn: [[.state("limp", was: "down")], [.poll]], found: "down"),
        ConditionRow(
            name: "older", condition: .older("note", .seconds(10)),
            unmatched: [[.field("note", "none", was: "1")]],
            begins: [[.field("note", "2026-11-21T11:00:00Z", was: "1"), .poll]],
            ends: [[.field("note", "2027-01-01T00:00:00Z", was: "2026-11-21T11:00:00Z")], [.gone("up")]],
            goesOn: [[.poll]], found: "up", foundFields: ["note": "2026-11-21T11:00:00Z"]),
        ConditionRow(
            name: "how_many",
            condition: .howMany(
                ItemCount(SourceCondition(source: "lab", matcher: .oneOf(["down"])), bound: .above(1))),
            unmatched: [[.items(["down", "up"])]],
            begins: [[.items(["down", "down"])]], ends: [[.items(["down", "up"])]],
            goesOn: [[.poll], [.items(["down", "down", "down"])]]),
        ConditionRow(
            name: "above under to", condition: .field("note", from: nil, to: .above(10)),
            unmatched: [[.field("note", "30", was: "20")], [.field("note", "5", was: "1")]],
            begins: [[.field("note", "20", was: "1")]],
            ends: [[.field("note", "1", was: "20")], [.gone("up")]],
            goesOn: [[.field("note", "30", was: "20")]]),
        ConditionRow(
            name: "below under to", condition: .field("note", from: nil, to: .below(10)),
            unmatched: [[.field("note", "3", was: "5")]],
            begins: [[.field("note", "5", was: "20")]],
            ends: [[.field("note", "20", was: "5")], [.gone("up")]],
            goesOn: [[.field("note", "3", was: "5")]]),
        ConditionRow(
            name: "appears", condition: .appears, unmatched: [[.state("down", was: "up")]],
            begins: [[.appears("up")]], ends: [[.gone("up")]], goesOn: [[.state("down", was: "up")]]),
        ConditionRow(
            name: "disappears", condition: .disappears, unmatched: [[.state("down", was: "up")]],
            begins: [[.gone("up")]], ends: [[.appears("up")]], goesOn: [[.poll]]),
        ConditionRow(
            name: "source_state failing", condition: .sourceState([.failing]), unmatched: [[.source(.stale)]],
            begins: [[.source(.failing)]], ends: [[.source(.recovered)], [.poll]],
            differences: [.ends(1): "a fault: a good poll without the event of the recovery ends no failure"]),
        ConditionRow(
            name: "source_state stale", condition: .sourceState([.stale]), unmatched: [[.source(.failing)]],
            begins: [[.source(.stale)]], ends: [[.source(.recovered)], [.poll]]),
        ConditionRow(
            name: "source_state suspect", condition: .sourceState([.suspect]),
            begins: [[.source(.suspect)]], ends: [[.poll]]),
        ConditionRow(
            name: "offline", condition: .sourceState([.offline]), begins: [[.source(.offline)]],
            ends: [[.source(.online)]], goesOn: [[.poll]]),
        ConditionRow(
            name: "unequal", condition: .sourceState([.unequal]), begins: [[.source(.unequal)]],
            ends: [[.source(.equal)]], goesOn: [[.poll]]),
        ConditionRow(
            name: "item or where", condition: .all([.item("team", .oneOf(["x"])), down]),
            unmatched: [[.state("down", was: "up", team: "y")], [.field("team", "x", was: "y", state: "down")]],
            begins: [[.state("down", was: "up")], [.appears("down")]],
            ends: [[.state("up", was: "down")], [.field("team", "y", was: "x", state: "down")], [.gone("down")]]),
        ConditionRow(
            name: "source", condition: .all([.source(["lab"], text: "lab"), down]),
            begins: [[.state("down", was: "up")]], ends: [[.state("up", was: "down")]], goesOn: [[.poll]]),
        ConditionRow(
            name: "all", condition: .all([.item("team", .not(.oneOf(["y"]))), .stays("state", .oneOf(["down"]))]),
            unmatched: [[.state("down", was: "up", team: "y")]],
            begins: [[.state("down", was: "up")]],
            ends: [[.state("up", was: "down")], [.field("team", "y", was: "x", state: "down")]], found: "down"),
        ConditionRow(
            name: "any", condition: .any([down, .field("note", from: nil, to: .above(10))]),
            begins: [[.state("down", was: "up")], [.field("note", "20", was: "1")]],
            ends: [[.state("up", was: "down")], [.gone("down")]],
            goesOn: [[.field("note", "5", was: "1", state: "down")]]),
        ConditionRow(
            name: "not", condition: .all([.not(.item("team", .oneOf(["y"]))), down]),
            unmatched: [[.state("down", was: "up", team: "y")]],
            begins: [[.state("down", was: "up")]], ends: [[.field("team", "y", was: "x", state: "down")]]),
    ]
}
