// SPDX-License-Identifier: Apache-2.0

/// Why `depends` or a silence withholds a message.
struct Obstacle: Sendable {
    var reason: String
    var slot: RuleMemory.Slot
    /// The end as wall time; nil when it is unknown.
    var end: Timestamp?
    /// Whether the message is not announced later.
    var drops = false
}

/// Whether `depends` or a silence withholds a message.
extension RuleEngine {
    /// Returns why `depends` or a silence withholds the message; nil when neither does.
    /// - Parameter sink: the only sink that it is for; nil for every sink of the rule.
    func obstacle(_ rule: Rule, _ event: Event, sink: String? = nil, at now: RuleTime) -> Obstacle? {
        if let source = unavailableSource(of: rule, for: event.source) {
            let state = failing.contains(source) ? "failing" : "down"
            return Obstacle(reason: "it depends on '\(source)', which is \(state)", slot: .blocked)
        }
        guard
            let silence = silence(of: rule, event, sink: nil, at: now)
                ?? sink.flatMap({ silence(of: rule, event, sink: $0, at: now) })
        else { return nil }
        return Obstacle(
            reason: "silenced: \(silence.description)", slot: .silenced,
            end: silenceEnd(of: rule, event, sink: sink, at: now), drops: silence.drops)
    }

    /// Returns a source of `depends` that is failing or down. Messages about a source do not depend on that source itself.
    func unavailableSource(of rule: Rule, for source: String?) -> String? {
        rule.gates.depends.first { $0 != source && (failing.contains($0) || down.contains($0)) }
    }

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
}
