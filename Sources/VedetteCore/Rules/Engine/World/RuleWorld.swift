// SPDX-License-Identifier: Apache-2.0

/// What gates may ask besides the rows: silences, the health of sources, items of other sources, and which items the last
/// polls confirmed.
struct RuleWorld: Sendable {
    var silences = SilenceList()
    /// What `if`, `unless` and `how_many` ask of other sources.
    var facts: RuleFacts
    /// Which sources are failing or down, for `depends` and for messages about several sources.
    private(set) var health = SourceHealth()
    /// Sources whose last poll failed, or was before a restart: their items may have changed meanwhile.
    private var unconfirmed = Set<String>()
    /// Sources whose items `how_many` has not counted since its rule came into force: the count may be beyond the bound
    /// already.
    private var uncounted = Set<String>()
    /// Items that the last good poll did not show; the next one shows whether they are gone.
    private var missing: [String: Set<String>] = [:]
    let civil: any CivilTime

    init(_ rules: RuleSet, _ civil: any CivilTime) { (facts, self.civil) = (RuleFacts(rules), civil) }

    /// What a step changed, for `undo`.
    struct Changes: Sendable {
        /// Silences that a state ended.
        fileprivate(set) var endedSilences: [Silence] = []
        fileprivate var undo: [@Sendable (inout RuleWorld) -> Void] = []

        /// Appends the changes of a step that followed.
        mutating func add(_ later: Changes) {
            endedSilences += later.endedSilences
            undo += later.undo
        }
    }

    /// Takes back the changes of a step that failed.
    mutating func undo(_ failed: Changes) {
        silences.restore(failed.endedSilences)
        for undo in failed.undo.reversed() { undo(&self) }
    }

    /// Takes up what is known at a start.
    mutating func restore(
        _ silences: [Silence], _ health: SourceHealth, unconfirmed: Set<String>, uncounted: Set<String>
    ) {
        self.silences.replace(by: silences)
        (self.health, self.unconfirmed, self.uncounted) = (health, unconfirmed, uncounted)
    }

    mutating func replaceRules(_ rules: RuleSet) {
        facts.takeGathered(for: rules)
        uncounted = rules.countedSources
    }

    /// Ends the silences that wait for the state that this event brings. Returns whether there were any.
    mutating func endSilences(by event: Event, _ rules: RuleSet, _ changes: inout Changes) -> Bool {
        let ended = silences.end(by: event, rules)
        changes.endedSilences += ended
        return !ended.isEmpty
    }

    // MARK: Polls

    /// Whether nobody knows that the subject is still as the event says. Then no message is sent about it.
    func isUncertain(_ event: Event?) -> Bool {
        guard let event, let key = event.item?.key else { return false }
        if unconfirmed.contains(event.source) { return true }
        return event.kind != .disappeared && missing[event.source]?.contains(key) == true
    }

    /// Whether nobody knows that the subject of a match is still as the match says. A rule's time without a match is never
    /// uncertain here: it is announced only after a good poll of one of the rule's sources.
    func isUncertain(_ row: RuleMemory) -> Bool {
        guard row.key.slot == .match, row.dependsOnItem else { return false }
        return isUncertain(row.event ?? row.held?.event ?? row.told?.event)
    }

    func isUnconfirmed(_ source: String) -> Bool { unconfirmed.contains(source) }

    /// Whether the next poll of a source can show what nobody saw: its last one failed, or was before a restart, and it does not
    /// count as failing.
    func isUnread(_ source: String) -> Bool { unconfirmed.contains(source) && health.failing[source] == nil }

    /// The sources of which the next good poll must be evaluated.
    var uncertainSources: Set<String> { unconfirmed.union(missing.keys).union(uncounted) }

    func isUncertain(source: String) -> Bool {
        unconfirmed.contains(source) || missing[source] != nil || uncounted.contains(source)
    }

    /// Records that the items of a source may have changed since its last good poll.
    mutating func doubt(_ source: String) { unconfirmed.insert(source) }

    mutating func confirm(_ source: String, _ changes: inout Changes) {
        if unconfirmed.remove(source) != nil { changes.undo.append { $0.doubt(source) } }
    }

    /// Confirms the items of a source that another watcher polls. Returns whether its last poll had not.
    mutating func confirmElsewhere(_ source: String) -> Bool {
        missing[source] = nil
        return unconfirmed.remove(source) != nil
    }

    mutating func count(_ source: String, _ changes: inout Changes) {
        if uncounted.remove(source) != nil { changes.undo.append { $0.uncounted.insert(source) } }
    }

    /// Sets the items that the last good poll of a source did not show.
    mutating func setMissing(_ items: Set<String>, of source: String, _ changes: inout Changes) {
        let before = missing[source]
        guard items != before ?? [] else { return }
        missing[source] = items.isEmpty ? nil : items
        changes.undo.append { $0.missing[source] = before }
    }

    // MARK: Health

    func isAvailable(_ source: String) -> Bool { health.failing[source] == nil && !health.down.contains(source) }

    /// Returns a source of `depends` that is failing or down. Messages about a source do not depend on that source itself.
    func unavailableSource(of rule: Rule, for source: String?) -> String? {
        rule.gates.depends.first { $0 != source && !isAvailable($0) }
    }

    /// Keeps which sources are failing and down. Returns the health of the source before, when it has changed.
    mutating func trackHealth(_ event: Event, _ changes: inout Changes) -> Health? {
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
        return set(after, of: event.source, &changes)
    }

    /// Keeps what a poll observed of its source. Returns the health of the source before, when it has changed.
    mutating func trackHealth(of source: String, _ observation: PollObservation, _ changes: inout Changes) -> Health? {
        if let server = observation.server { health.servers[source] = server }
        guard let isDown = observation.isDown else { return nil }
        var after = health(of: source)
        after.isDown = isDown
        return set(after, of: source, &changes)
    }

    /// Takes the health of a source that another watcher polls.
    mutating func take(_ other: SourceHealth, of source: String) {
        set(Health(source, in: other), of: source)
        if let server = other.servers[source] { health.servers[source] = server }
    }

    /// Forgets the servers of other sources.
    mutating func forgetServers(exceptOf known: Set<String>) {
        health.servers = health.servers.filter { known.contains($0.key) }
    }

    private func health(of source: String) -> Health { Health(source, in: health) }

    private mutating func set(_ new: Health, of source: String, _ changes: inout Changes) -> Health? {
        let before = health(of: source)
        guard new != before else { return nil }
        set(new, of: source)
        changes.undo.append { $0.set(before, of: source) }
        return before
    }

    private mutating func set(_ new: Health, of source: String) {
        health.failing[source] = new.cause
        if new.isDown { health.down.insert(source) } else { health.down.remove(source) }
    }

    /// Whether a source is failing, and why; and whether its response means down.
    struct Health: Sendable, Hashable {
        /// Empty when the cause is unknown; nil when the source does not fail.
        var cause: String?
        var isDown: Bool

        init(_ source: String, in health: SourceHealth) {
            (cause, isDown) = (health.failing[source], health.down.contains(source))
        }

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
