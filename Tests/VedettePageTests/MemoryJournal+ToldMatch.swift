// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

extension MemoryJournal {
    /// Stores that the rule `ready` told a match of the item `a/b` of `lab` that is true: its event has the id `match`.
    func tellMatch(at now: Timestamp) throws {
        let event = Event(
            id: Identifier("match"), kind: .changed, time: now, source: "lab", sourceKind: "json", poll: "p",
            item: Item(key: "a/b", title: "A", state: "down"))
        let told: JSON = .members([
            "event": event.json, "since": .number(now.milliseconds), "due": .number(now.milliseconds),
        ])
        let row = try #require(
            RuleMemory(
                key: RuleMemory.Key(rule: "ready", slot: .match, name: "lab\u{1F}a/b"),
                json: .members(["identity": .string("1"), "since": .number(now.milliseconds), "told": told])))
        var record = PollRecord(record: nil, events: [event])
        record.memories = [row.key: row]
        _ = try commit([record], within: .none)
    }
}
