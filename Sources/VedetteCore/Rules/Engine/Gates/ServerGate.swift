// SPDX-License-Identifier: Apache-2.0

/// Groups the messages about the health of sources of one server. The first is sent at once. Those that follow within a
/// minute are told together when it ends, as far as they are still true.
enum ServerGate: Gate {
    static let name = "grouped"
    static let waitingText = "told with the others of its server"
    static let noun = "sources that fail together"
    static let tellsWithoutRoom = true
    static let span = Duration.seconds(60)

    static func longestWait(_ rule: Rule) -> Duration { span }

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        // The other sinks got a late message already, so it joins no group.
        candidate.event.item == nil && candidate.content != .followUp && !candidate.isLate && candidate.gate != name
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let key = key(candidate.rule, candidate.event, engine), let first = engine.table[key],
            !first.isDue(at: now),
            first.lines != [candidate.event.source] || first.events != [candidate.event.id.description]
        else { return .pass }
        let server = server(of: candidate.event, engine)
        let source = first.lines.first ?? ""
        return .wait(
            Verdict.Waiting(
                reason: "'\(source)' of \(server) was reported less than a minute before; the others follow together",
                until: first.due, group: key.name))
    }

    static func charge(_ message: MadeMessage, _ engine: inout RuleEngine, at now: RuleTime) {
        // What is told together starts no group of its own.
        guard message.events.count == 1, let event = message.events.first,
            let key = key(message.rule, event, engine), let change = HealthChange(event)
        else { return }
        endGroups(that: { $0.contradicts(change) }, message.rule, server(of: event, engine), &engine)
        guard engine.table[key] == nil else { return }
        var row = RuleMemory(key: key, identity: message.rule.identity, since: now.steady)
        (row.due, row.lines) = (now.steady.advanced(by: span), [event.source])
        row.events = [event.id.description]
        engine.put(row)
    }

    /// Ends the groups of other changes that nothing waits for. Without this, a source that fails again within the minute
    /// would wait, and "recovered" would be the last message.
    private static func endGroups(
        that isOther: (HealthChange) -> Bool, _ rule: Rule, _ server: String, _ engine: inout RuleEngine
    ) {
        for other in [HealthChange.failing, .stale, .recovered] where isOther(other) {
            let name = server + "\u{1F}" + other.rawValue
            guard engine.table.isEmpty(RowTable.Group(rule: rule.name, gate: ServerGate.name, name: name)) else {
                continue
            }
            engine.forget(RuleMemory.Key(rule: rule.name, slot: .server, name: name))
        }
    }

    private static func server(of event: Event, _ engine: RuleEngine) -> String {
        engine.world.health.servers[event.source] ?? event.error?.server ?? event.source
    }

    private static func key(_ rule: Rule, _ event: Event, _ engine: RuleEngine) -> RuleMemory.Key? {
        guard let change = HealthChange(event) else { return nil }
        let name = server(of: event, engine) + "\u{1F}" + change.rawValue
        return RuleMemory.Key(rule: rule.name, slot: .server, name: name)
    }
}

extension RuleEngine {
    /// The minute after the first message is over: tells the others.
    mutating func closeServerGroup(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        reconcile(rule, RowTable.Group(rule: rule.name, gate: ServerGate.name, name: row.key.name), at: moment)
        // Forgotten afterwards only, so that a single message starts no group of its own.
        forget(row.key)
    }
}
