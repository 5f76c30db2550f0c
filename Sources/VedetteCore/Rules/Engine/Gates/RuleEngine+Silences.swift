// SPDX-License-Identifier: Apache-2.0

/// Which silences cover a message, and what happens when they end.
extension RuleEngine {
    /// Returns a silence that covers the message for that sink, or for every sink.
    func silence(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Silence? {
        silences.first { $0.sink == sink && $0.covers(rule: rule.name, event, at: now.wall) }
    }

    /// Returns when the last of the silences ends that cover the message; nil when one has no time.
    func silenceEnd(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Timestamp? {
        let covering = silences.filter {
            ($0.sink == nil || $0.sink == sink) && $0.covers(rule: rule.name, event, at: now.wall)
        }
        let ends = covering.map(\.until)
        return ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
    }

    /// Opens the groups of silences.
    mutating func openSilences(at now: RuleTime, _ identifier: () -> Identifier) {
        let silenced = groups.keys.filter { $0.slot == .silenced }
        for group in silenced.sorted(by: { ($0.rule, $0.name) < ($1.rule, $1.name) }) {
            if let rule = rules.rule(named: group.rule) { open(group, rule, at: now, identifier) }
        }
    }
}
