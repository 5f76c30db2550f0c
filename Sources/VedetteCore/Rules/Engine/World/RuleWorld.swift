// SPDX-License-Identifier: Apache-2.0

/// What gates may ask besides the rows: silences, the health of sources, items of other sources, and which items the last
/// polls confirmed.
struct RuleWorld: Sendable {
    /// The silences in force.
    var silences: [Silence] = []
    /// Silences that a state ended. A reader of the journal may still report them until the end is committed.
    var endedSilences = Set<Int64>()
    /// Which sources are failing or down, for `depends` and for messages about several sources.
    var health = SourceHealth()
    /// What `if`, `unless` and `how_many` ask of other sources.
    var facts: SourceFacts
    /// Sources whose last poll failed, or was before a restart: their items may have changed meanwhile.
    var unconfirmed = Set<String>()
    /// Sources whose items `how_many` has not counted since its rule came into force: the count may be beyond the bound
    /// already.
    var uncounted = Set<String>()
    /// Items that the last good poll did not show; the next one shows whether they are gone.
    var missing: [String: Set<String>] = [:]
    let civil: any CivilTime

    init(_ rules: RuleSet, _ civil: any CivilTime) { (facts, self.civil) = (SourceFacts(rules), civil) }

    // MARK: Polls

    /// Returns whether it is unknown if the subject is still as the event says. Then no message is sent about it.
    func isUncertain(_ event: Event?) -> Bool {
        guard let event, let key = event.item?.key else { return false }
        if unconfirmed.contains(event.source) { return true }
        return event.kind != .disappeared && missing[event.source]?.contains(key) == true
    }

    /// Returns whether the time without a match of a source is unknown, since its last poll failed.
    func isUncertain(_ row: RuleMemory) -> Bool {
        guard row.dependsOnItem else { return false }
        guard row.key.slot == .match else { return row.subject.map { unconfirmed.contains($0.source) } ?? false }
        return isUncertain(row.event ?? row.held?.event ?? row.told?.event)
    }

    // MARK: Silences

    /// Returns a silence that covers the message for that sink alone, or with nil for every sink.
    func silence(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Silence? {
        silences.first { $0.sink == sink && $0.covers(rule: rule.name, event, at: now.wall) }
    }

    /// Returns when the last of the silences ends that cover the message; nil when one has no time.
    func silenceEnd(of rule: Rule, _ event: Event, sink: String, at now: RuleTime) -> Timestamp? {
        let covering = silences.filter {
            ($0.sink == nil || $0.sink == sink) && $0.covers(rule: rule.name, event, at: now.wall)
        }
        let ends = covering.map(\.until)
        return ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
    }

    /// Ends the silences that wait for the state that this event brings.
    mutating func endSilences(_ event: Event, _ rules: RuleSet) -> [Silence] {
        let over = silences.filter { silence in
            let sources = silence.rule.flatMap(rules.rule(named:))?.when.sources
            return silence.isEnded(by: event) && sources?.contains(event.source) != false
        }
        silences.removeAll(where: over.contains)
        endedSilences.formUnion(over.map(\.id))
        return over
    }

    // MARK: Health

    func isAvailable(_ source: String) -> Bool { health.failing[source] == nil && !health.down.contains(source) }

    /// Returns a source of `depends` that is failing or down. Messages about a source do not depend on that source itself.
    func unavailableSource(of rule: Rule, for source: String?) -> String? {
        rule.gates.depends.first { $0 != source && !isAvailable($0) }
    }

    /// Keeps which sources are failing and down. Returns the health of the source before, when it has changed.
    mutating func trackHealth(_ event: Event) -> Health? {
        // Without polls, as in a simulation, only the failure names the server.
        if let server = event.error?.server, health.servers[event.source] == nil {
            health.servers[event.source] = server
        }
        var after = self.health(of: event.source)
        switch event.kind {
        case .failing: after.cause = event.error?.detail ?? ""
        case .recovered: after.cause = nil
        case .appeared where event.sourceKind == Event.http, .changed where event.sourceKind == Event.http:
            after.isDown = event.item?.state == "down"
        default: return nil
        }
        return set(after, of: event.source)
    }

    func health(of source: String) -> Health {
        Health(cause: health.failing[source], isDown: health.down.contains(source))
    }

    /// Returns the health before, when it was another one.
    mutating func set(_ new: Health, of source: String) -> Health? {
        let before = health(of: source)
        guard new != before else { return nil }
        health.failing[source] = new.cause
        if new.isDown { health.down.insert(source) } else { health.down.remove(source) }
        return before
    }

    /// Whether a source is failing, and why; and whether its response means down.
    struct Health: Sendable, Hashable {
        /// Empty when the cause is unknown; nil when the source does not fail.
        var cause: String?
        var isDown: Bool

        var isAvailable: Bool { cause == nil && !isDown }
    }

    /// Returns which other sources of the server still fail, for the message that a source recovered.
    func othersThatFail(_ rule: Rule, _ event: Event) -> String? {
        guard event.item == nil else { return nil }
        let kind = event.summary?.parts.first { $0.key == nil }?.kind
        let isRecovery = HealthChange(event) == .recovered || kind == Event.Kind.recovered.word
        guard isRecovery, let server = health.servers[event.source] ?? event.error?.server else { return nil }
        let others = health.failing.keys.filter { source in
            source != event.source && health.servers[source] == server
                && rule.when.sources?.contains(source) != false
        }
        guard !others.isEmpty else { return nil }
        let named = others.sorted().prefix(MessageLimits.named).map { source in
            source + (health.failing[source].flatMap { $0.isEmpty ? nil : " (\($0))" } ?? "")
        }
        let more = others.count - named.count
        return "still failing: " + named.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
}

extension Event {
    /// `sourceKind` of a source whose item is the response itself.
    static let http = "http"
}
