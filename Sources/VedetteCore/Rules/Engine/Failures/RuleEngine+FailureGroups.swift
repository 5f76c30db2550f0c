// SPDX-License-Identifier: Apache-2.0

/// Groups the messages about the health of sources of one server. The first message is sent at once.
/// Those that follow within a minute are announced together when it ends, as far as they are still true. The message
/// of a recovery names the sources of the server that still fail.
extension RuleEngine {
    static let groupSpan = Duration.seconds(60)

    /// Returns whether a message about the health of a source is not sent now: it joins the others of its server, or it
    /// takes back one that was not sent.
    mutating func joinsGroup(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) -> Bool {
        guard let change = HealthChange(event) else { return false }
        if takesBackGrouped(rule, event, at: now, identifier) { return true }
        let server = servers[event.source] ?? event.error?.server ?? event.source
        leaveOtherGroups(rule, server, change)
        let name = server + "\u{1F}" + change.rawValue
        let lead = RuleMemory.Key(rule: rule.name, slot: .outage, name: name)
        guard let first = memories[lead], !first.isDue(at: now) else {
            var memory = RuleMemory(key: lead, identity: rule.identity, since: now.steady)
            (memory.due, memory.lines) = (now.steady.advanced(by: RuleEngine.groupSpan), [event.source])
            if memories[lead] == nil { put(memory) }
            return false
        }
        let group = RowGroup(rule: rule.name, slot: .grouped, name: name)
        guard keepWithheld(rule, event, in: group, count: 0, at: now) else { return false }
        let source = first.lines.first ?? ""
        let reason = "'\(source)' of \(server) was reported less than a minute before; the others follow together"
        suppress(rule, event, reason, at: now, identifier)
        return true
    }

    /// Takes back a message about the same source that waits for others of its server. Returns whether this one need not be sent,
    /// either.
    mutating func takesBackGrouped(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: .grouped, name: event.source)
        guard let change = HealthChange(event), let earlier = memories[key]?.event, let was = HealthChange(earlier),
            change.contradicts(was)
        else { return false }
        forget(key)
        guard isBelieved(event, rule) else { return false }
        let reason = "the message that it is \(was.rawValue) was not sent yet"
        suppress(rule, event, reason, at: now, identifier)
        return true
    }

    /// Ends the groups of other changes that nothing waits for. Without this, a source that fails again within the minute
    /// would wait, and "recovered" would be the last message.
    private mutating func leaveOtherGroups(_ rule: Rule, _ server: String, _ change: HealthChange) {
        for other in [HealthChange.failing, .stale, .recovered] where other.contradicts(change) {
            let name = server + "\u{1F}" + other.rawValue
            let group = RowGroup(rule: rule.name, slot: .grouped, name: name)
            if groups[group] == nil { forget(RuleMemory.Key(rule: rule.name, slot: .outage, name: name)) }
        }
    }

    /// The minute after the first message is over: announces the others.
    mutating func sendGroup(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let group = RowGroup(rule: rule.name, slot: .grouped, name: memory.key.name)
        guard groups[group] == nil || !deferInQuietTime(memory, rule, at: now) else { return }
        let rows = takeWithheld(group, at: now)
        // Forgotten afterwards only, so that a single message starts no group of its own.
        _ = announce(rule, rows, at: now, identifier)
        forget(memory.key)
    }

    /// Returns which other sources of the server still fail, for the message that a source recovered.
    func othersThatFail(_ rule: Rule, _ event: Event) -> String? {
        let kind = event.summary?.parts.first { $0.key == nil }?.kind
        let isRecovery = HealthChange(event) == .recovered || kind == Event.Kind.recovered.word
        guard isRecovery, let server = servers[event.source] ?? event.error?.server else { return nil }
        let others = failing.filter { source in
            source != event.source && servers[source] == server && rule.when.sources?.contains(source) != false
        }
        guard !others.isEmpty else { return nil }
        let named = others.sorted().prefix(MessageLimits.named).map { source in
            source + (causes[source].map { " (\($0))" } ?? "")
        }
        let more = others.count - named.count
        return "still failing: " + named.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
}
