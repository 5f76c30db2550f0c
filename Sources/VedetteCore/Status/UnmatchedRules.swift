// SPDX-License-Identifier: Apache-2.0

/// Finds rules that matched no event since the journal began, for the warnings of `status`.
struct UnmatchedRules {
    /// Events of a source in which states are looked for.
    private static let searchedEvents = 1000
    /// Sources whose events are read, at most; of the others the states of now count. A page reads this each second.
    private static let searchedSources = 10

    let reader: any JournalReader
    let rules: [Rule]
    let sources: [SourceStatus]
    /// When a file of the configuration was last changed.
    let editedAt: Timestamp
    let now: Timestamp

    /// Returns nothing in the first day after the first event or after an edit of the configuration: rare events take time.
    func find(_ memories: [RuleMemory]) async throws(JournalError) -> [UnmatchedRule] {
        guard let first = try await reader.events(after: 0, EventFilter(), limit: 1).first?.time,
            now.seconds(since: max(first, editedAt)) >= 86_400
        else { return [] }
        let remembered = Set(memories.map(\.key.rule))
        var findings: [UnmatchedRule] = []
        var (seen, searched) = ([String: Set<String>](), 0)
        for rule in rules where !remembered.contains(rule.name) {
            guard try await !hasMatched(rule) else { continue }
            let awaited = rule.when.awaitedStates
            var (known, isWhole) = (Set<String>(), true)
            for source in sources where !awaited.isEmpty && rule.when.sources?.contains(source.name) != false {
                if let states = source.record?.snapshot?.states { known.formUnion(states.keys) }
                if seen[source.name] == nil, searched < UnmatchedRules.searchedSources {
                    seen[source.name] = try await states(of: source.name)
                    searched += 1
                }
                if seen[source.name] == nil { isWhole = false }
                known.formUnion(seen[source.name] ?? [])
            }
            // Where not every event was read, a state that nobody saw is only worth a word when it looks mistyped.
            let named = isWhole ? awaited : awaited.filter { suggestion(for: $0, among: known) != nil }
            findings.append(
                UnmatchedRule(
                    rule: rule.name,
                    text: UnmatchedRules.text(rule.name, awaited: named, seen: known, since: first, now: now)))
        }
        return findings
    }

    /// Returns the sentence of one rule.
    static func text(
        _ rule: String, awaited: Set<String>, seen: Set<String>, since: Timestamp, now: Timestamp
    ) -> String {
        let age = DurationText.long(seconds: now.seconds(since: since))
        let text = "rule '\(rule)' matched no event in \(age)"
        let missing = awaited.subtracting(seen).sorted()
        guard !missing.isEmpty, !seen.isEmpty else { return text }
        let states = missing.map { state in
            quoted(state) + (suggestion(for: state, among: seen).map { " (did you mean '\($0)'?)" } ?? "")
        }
        let some = seen.sorted().prefix(8).joined(separator: ", ")
        return "\(text): no item was seen in the state \(states.joined(separator: " or ")); seen were \(some)"
    }

    private func hasMatched(_ rule: Rule) async throws(JournalError) -> Bool {
        if try await !reader.lastEvents(1, EventFilter(rule: rule.name)).isEmpty { return true }
        // What a rule makes of an item that it found, or of a count, has no event in the journal, so that no index leads to it.
        guard rule.matchesExisting || rule.when.count != nil else { return false }
        return try await !reader.deliveries(DeliveryFilter(rule: rule.name), after: 0, limit: 1).isEmpty
    }

    private func states(of source: String) async throws(JournalError) -> Set<String> {
        var states = Set<String>()
        for event in try await reader.lastEvents(UnmatchedRules.searchedEvents, EventFilter(source: source)) {
            if let state = event.item?.state { states.insert(state) }
            for change in event.changes where change.field == "state" {
                states.formUnion([change.from, change.to].compactMap { $0?.description })
            }
        }
        return states
    }
}

extension Condition {
    /// The states for which it waits by name.
    var awaitedStates: Set<String> {
        switch self {
        case .field("state", _, .oneOf(let states)), .item("state", .oneOf(let states)): Set(states)
        case .all(let parts), .any(let parts): parts.reduce(into: Set()) { $0.formUnion($1.awaitedStates) }
        default: []
        }
    }
}
