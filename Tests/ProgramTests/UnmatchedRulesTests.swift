// SPDX-License-Identifier: Apache-2.0

import Testing
@testable import VedetteCore

@testable import vedette

@Suite("Rules that matched nothing")
struct UnmatchedRulesTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z") ?? Timestamp(milliseconds: 0)

    private func record(_ time: Timestamp, state: String, rule: String?) -> PollRecord {
        let event = Event(
            id: Identifier("0199-\(state)"), kind: .changed, time: time, source: "lab", sourceKind: "json", poll: "p",
            item: Item(key: "1", state: state),
            changes: [FieldChange(field: "state", from: "Starting", to: .text(state))])
        let deliveries = rule.map { name in
            [
                Delivery(
                    message: Message(id: "msg_1", rule: name, sink: "out", event: event, title: "", text: ""),
                    created: time, due: time)
            ]
        }
        return PollRecord(record: SourceRecord(name: "lab"), events: [event], deliveries: deliveries ?? [])
    }

    private var lab: SourceStatus {
        SourceStatus(name: "lab", kindName: "json", every: .seconds(15), isInsecure: false, record: nil)
    }

    private func findings(first: Duration) async throws -> [String] {
        let journal = MemoryJournal()
        let time = now.advanced(by: first)
        _ = try journal.commit([record(time, state: "Ready", rule: "ready")], within: .none)
        let rules = [("ready", "Ready"), ("typo", "Redy"), ("held", "Stopped")].map { name, state in
            Rule(
                name: name, when: .field("state", from: nil, to: .oneOf([state])), notify: [])
        }
        let memory = RuleMemory(
            key: RuleMemory.Key(rule: "held", slot: .tally, name: "x"), identity: 0, since: time)
        return try await UnmatchedRules(
            reader: journal, rules: rules, sources: [lab], editedAt: Timestamp(milliseconds: 0), now: now
        ).find([memory]).map(\.text)
    }

    @Test("after a day a rule without a match is named, with the state that no item had; a held match counts as one")
    func named() async throws {
        #expect(
            try await findings(first: .seconds(-2 * 86_400)) == [
                "rule 'typo' matched no event in 2 d: no item was seen in the state 'Redy' (did you mean 'Ready'?); seen were Ready, Starting"
            ])
    }

    @Test("before a day has passed nothing is said")
    func early() async throws {
        #expect(try await findings(first: .seconds(-3600)) == [])
    }

    @Test("a rule that told a count has matched, although the count is back and no event of it is stored")
    func counted() async throws {
        let journal = MemoryJournal()
        let time = now.advanced(by: .seconds(-2 * 86_400))
        let few = Rule(
            name: "few",
            when: .howMany(
                ItemCount(SourceCondition(source: "lab", field: "state", matcher: .oneOf(["up"])), bound: .below(3))),
            notify: [])
        var record = record(time, state: "up", rule: nil)
        let told = Event(
            id: Identifier("0199-told"), kind: .elapsed, time: time, source: "lab", sourceKind: Event.watcher, poll: "")
        record.deliveries = [
            Delivery(
                message: Message(id: "msg_1", rule: "few", sink: "out", event: told, title: "", text: ""),
                created: time, due: time)
        ]
        _ = try journal.commit([record], within: .none)
        let findings = try await UnmatchedRules(
            reader: journal, rules: [few], sources: [lab], editedAt: Timestamp(milliseconds: 0), now: now
        ).find([])
        #expect(findings.map(\.rule) == [])
    }

    @Test("of many sources the events of ten are read, and of all the states of now count")
    func manySources() async throws {
        let journal = MemoryJournal()
        let time = now.advanced(by: .seconds(-2 * 86_400))
        _ = try journal.commit([record(time, state: "Ready", rule: nil)], within: .none)
        let sources = (0..<50).map { number in
            var record = SourceRecord(name: "s\(number)")
            var head = SnapshotHead(identity: 1, fingerprints: [:], goodAt: now)
            head.states = ["State\(number)": 1]
            record.snapshot = head
            return SourceStatus(
                name: number == 20 ? "lab" : "s\(number)", kindName: "json", every: .seconds(15), isInsecure: false,
                record: record)
        }
        let rules = ["State49", "Ready", "Sttae49"].map { state in
            Rule(name: state, when: .field("state", from: nil, to: .oneOf([state])), notify: [])
        }
        let findings = try await UnmatchedRules(
            reader: journal, rules: rules, sources: sources, editedAt: Timestamp(milliseconds: 0), now: now
        ).find([])
        // The events of the 21st are not read, so that nobody knows whether it was ever 'Ready'.
        #expect(
            findings.prefix(2).map(\.text) == ["State49", "Ready"].map { "rule '\($0)' matched no event in 2 d" })
        #expect(findings.last?.text.contains("in the state 'Sttae49' (did you mean 'State") == true)
    }
}
