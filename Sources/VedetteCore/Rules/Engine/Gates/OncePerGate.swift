// SPDX-License-Identifier: Apache-2.0

/// `once_per`: one match for each value of a field.
enum OncePerGate: Gate {
    static let name = "once"

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        candidate.rule.gates.oncePer != nil && candidate.content == .firing && !candidate.isListed
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let key = key(candidate.rule, candidate.event), let used = engine.table[key],
            used.events.allSatisfy({ $0 != candidate.event.id.description && $0 != candidate.claim })
        else { return .pass }
        return .drop("already sent for \(candidate.rule.gates.oncePer ?? "") '\(key.name)'")
    }

    static func admit(_ candidate: Candidate, _ engine: inout RuleEngine, at now: RuleTime) {
        guard concerns(candidate, engine.world), let key = key(candidate.rule, candidate.event) else { return }
        var row = engine.table[key] ?? RuleMemory(key: key, identity: candidate.rule.identity, since: now.steady)
        if row.events.isEmpty {
            row.events = [candidate.event.id.description] + (candidate.claim.isEmpty ? [] : [candidate.claim])
        }
        guard !row.sinks.contains(candidate.sink) else { return }
        row.sinks = (row.sinks + [candidate.sink]).sorted()
        engine.rememberValue(row)
    }

    /// Returns the value that a match uses; nil for none.
    static func value(_ rule: Rule, _ event: Event) -> String? { rule.isEnd(event) ? nil : key(rule, event)?.name }

    private static func key(_ rule: Rule, _ event: Event) -> RuleMemory.Key? {
        guard let value = rule.gates.oncePer.flatMap({ event.item?[$0] }) else { return nil }
        return RuleMemory.Key(rule: rule.name, slot: .once, name: IndexedText.bounded(value.description))
    }
}

extension RuleEngine {
    /// Lets values be used again whose match a sink is not told after all, unless another sink was told it or will be.
    mutating func releaseValues(_ values: [String], of rule: String, for sinks: [String]) {
        for value in values {
            let key = RuleMemory.Key(rule: rule, slot: .once, name: value)
            guard var row = table[key], row.sinks.contains(where: sinks.contains) else { continue }
            row.sinks.removeAll(where: sinks.contains)
            if row.sinks.isEmpty { forget(key) } else { put(row) }
        }
    }

    /// Remembers a value of `once_per` or `by`. When there is no room, the oldest tenth of the values is evicted.
    mutating func rememberValue(_ row: RuleMemory) {
        guard !put(row) else { return }
        let values = table.all.filter { $0.key.rule == row.key.rule && $0.key.slot == row.key.slot }
        let oldest = values.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        for value in oldest.prefix(table.maximum / 10) { forget(value.key) }
        put(row)
    }
}
