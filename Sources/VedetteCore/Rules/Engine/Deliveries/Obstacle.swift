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
}
