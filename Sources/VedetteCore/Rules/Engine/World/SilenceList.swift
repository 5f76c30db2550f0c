// SPDX-License-Identifier: Apache-2.0

/// The silences in force.
struct SilenceList: Sendable {
    private(set) var all: [Silence] = []
    /// Silences that a state ended. A reader of the journal may still report them until the end is committed.
    private var ended = Set<Int64>()

    /// Replaces the silences by the journal's.
    mutating func replace(by stored: [Silence]) { all = stored.filter { !ended.contains($0.id) } }

    /// Returns a silence that covers the message for that sink alone, or with nil for every sink.
    func silence(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Silence? {
        all.first { $0.sink == sink && $0.covers(rule, event, at: now.wall) }
    }

    /// Returns when the last of the silences ends that cover the message; nil when one has no time.
    func end(of rule: Rule, _ event: Event, sink: String, at now: RuleTime) -> Timestamp? {
        let covering = all.filter { ($0.sink == nil || $0.sink == sink) && $0.covers(rule, event, at: now.wall) }
        let ends = covering.map(\.until)
        return ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
    }

    /// Ends the silences that wait for the state that this event brings, and returns them.
    mutating func end(by event: Event, _ rules: RuleSet) -> [Silence] {
        let over = all.filter { silence in
            let sources = silence.rule.flatMap(rules.heir(of:))?.when.sources
            return silence.isEnded(by: event) && sources?.contains(event.source) != false
        }
        all.removeAll(where: over.contains)
        ended.formUnion(over.map(\.id))
        return over
    }

    /// Takes back the end of silences.
    mutating func restore(_ silences: [Silence]) {
        ended.subtract(silences.map(\.id))
        all += silences.filter { silence in !all.contains { $0.id == silence.id } }
    }
}
