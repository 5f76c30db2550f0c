// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// The engine under test. Another one with the same interface is tested by naming it here.
typealias TestedEngine = RuleEngine

extension TestedEngine {
    /// Whether a step that was evaluated after `earlier` cannot be stored without it.
    func fails(_ later: Step, with earlier: Step) -> Bool { later.depends(on: earlier) }
}

/// Drives the engine as a watcher does, over a journal in memory.
struct TestedWatcher {
    private(set) var engine: TestedEngine
    /// The watcher that can take over; nil when there is only one.
    private var other: TestedEngine?
    var now = RuleTime(steady: RuleHarness.noon, wall: RuleHarness.noon)
    /// The rows of the journal, and the keys of all that it ever had.
    private var rows: [RuleMemory.Key: RuleMemory] = [:]
    private var keys = Set<RuleMemory.Key>()
    /// The stored items by source.
    private var stored: [String: [String: Item]] = [:]
    private var silences: [Silence] = []
    private var failing = Set<String>()
    /// Pending and suppressed deliveries of the steps since `takeDeliveries`.
    private var deliveries: [Delivery] = []
    private let numbers = Numbers()
    private var lastEvent: Int64 = 0
    private let sources = Set(["lab", "shop", "gateway", "maintenance"])

    init(_ rule: Rule, isShared: Bool) {
        engine = TestedEngine(RuleSet([rule]), civil: ZoneTime())
        for source in ["lab", "shop", "maintenance"] { engine.addStoredFacts(of: source, []) }
        guard isShared else { return }
        other = engine
        other?.fire([])
        engine.fire([])
        hold(rule.name)
    }

    mutating func takeDeliveries() -> [Delivery] {
        defer { deliveries = [] }
        return deliveries
    }

    // MARK: Steps

    /// A step that is not stored yet, with the items that its poll stores.
    struct Unstored {
        var step: TestedEngine.Step
        var source: String
        var items: [Item]
        var events: [Event]
    }

    mutating func evaluate(_ source: String, _ events: [Event], missing: Set<String> = []) -> Unstored {
        var seen = PollObservation(isGood: true)
        let items = events.filter { $0.kind != .disappeared }.compactMap(\.item)
        seen.stored = items.map { StoredItem($0, digest: $0.digest, stateSince: now.wall) }
        seen.deleted = events.filter { $0.kind == .disappeared }.compactMap { $0.item?.key }
        seen.missing = missing
        let step = engine.evaluatePoll(of: source, events: events, seen, at: now, identifier: numbers.next)
        return Unstored(step: step, source: source, items: items, events: events)
    }

    mutating func commit(_ unstored: Unstored) {
        for item in unstored.items { stored[unstored.source, default: [:]][item.key] = item }
        for event in unstored.events where event.kind == .disappeared {
            if let key = event.item?.key { stored[unstored.source]?[key] = nil }
        }
        take(unstored.step)
    }

    mutating func fail(_ unstored: Unstored) {
        engine.undo(unstored.step)
        guard engine.factSources.contains(unstored.source) else { return }
        engine.replaceFacts(of: unstored.source, Array((stored[unstored.source] ?? [:]).values))
    }

    mutating func poll(_ source: String, _ events: [Event] = [], missing: Set<String> = []) {
        commit(evaluate(source, events, missing: missing))
    }

    mutating func pollFails(_ source: String) {
        take(engine.evaluatePoll(of: source, PollObservation(isGood: false), at: now, identifier: numbers.next))
    }

    /// - Parameter failsFirst: whether the commit fails once.
    mutating func health(of source: String, isFailing: Bool, failsFirst: Bool) {
        if isFailing { failing.insert(source) } else { failing.remove(source) }
        var event = event(isFailing ? .failing : .recovered, source)
        event.error = Event.Problem(failure: "server-error", detail: "status 500")
        if failsFirst { engine.undo(engine.evaluate(event, at: now, identifier: numbers.next)) }
        take(engine.evaluate(event, at: now, identifier: numbers.next))
    }

    mutating func silence(_ silences: [Silence]) {
        self.silences = silences
        engine.setSilences(silences)
        take(engine.releaseSilenced(at: now, identifier: numbers.next))
    }

    /// Acknowledges the match of an item that was told. Returns the id of its event.
    @discardableResult
    mutating func acknowledge(_ key: String, isUndo: Bool = false) -> String? {
        let subject = Subject(source: Circumstances.source(of: key), key: key)
        let match = rows.values.lazy.filter { $0.subject == subject }.compactMap(\.firingMatch).first?.id.description
        guard match != nil || isUndo else { return nil }
        let acknowledgement = Acknowledgement(match: match ?? "", user: "anna", host: "desk", time: now.wall)
        take(
            engine.acknowledge(
                engine.rules.rules[0].name, subject, isUndo ? nil : acknowledgement, at: now, identifier: numbers.next))
        return match
    }

    /// The next deadline, or the next time at which one of the sources is to be polled; nil for none.
    func nextDeadline(polling sources: [String]) -> Timestamp? {
        let polls = sources.compactMap { engine.nextConfirmation(of: $0) }
        return ([engine.nextTimer(at: now)].compactMap { $0 } + polls).min()
    }

    /// Whether a poll of the source is to confirm something.
    func needsPoll(_ source: String) -> Bool { engine.nextConfirmation(of: source).map { $0 <= now.steady } ?? false }

    /// Moves the clocks, and evaluates what is due.
    mutating func pass(to time: Timestamp) {
        now = RuleTime(steady: time, wall: time)
        take(engine.fireTimers(at: now, identifier: numbers.next))
    }

    // MARK: Restart, reload, take-over

    mutating func restart(with rule: Rule? = nil) {
        let (rules, isShared) = (rule.map { RuleSet([$0]) } ?? engine.rules, other != nil)
        if rule != nil { reloadStandby(rules) }
        engine = TestedEngine(rules, civil: ZoneTime())
        for source in engine.factSources { engine.addStoredFacts(of: source, items(of: source)) }
        take(
            engine.restore(
                Array(rows.values), silences: silences, health: health, unconfirmed: ["lab", "shop"], at: now,
                identifier: numbers.next))
        if isShared {
            engine.fire([])
            hold(rules.rules[0].name, uncertain: ["lab", "shop"])
        }
        findExisting()
    }

    mutating func reload(_ rule: Rule) {
        let rules = RuleSet([rule])
        for source in engine.gatherFacts(for: rules) { engine.addStoredFacts(of: source, items(of: source)) }
        take(engine.reload(rules, at: now, identifier: numbers.next))
        if other != nil { engine.fire([rule.name]) }
        reloadStandby(rules)
        findExisting()
    }

    /// The other watcher reads the same configuration, and stores nothing.
    private mutating func reloadStandby(_ rules: RuleSet) {
        guard var standby = other else { return }
        _ = standby.gatherFacts(for: rules)
        _ = standby.reload(rules, at: now, identifier: numbers.next)
        standby.take(rows.mapValues(Optional.some), isComplete: true, at: now)
        other = standby
    }

    /// The other watcher gets the leases of all sources and of the rule.
    /// - Parameter uncertain: sources whose last poll failed.
    mutating func takeOver(uncertain: Set<String>) {
        guard var next = other else { return }
        for source in sources { engine.leave(source) }
        engine.fire([])
        var changes: [RuleMemory.Key: RuleMemory?] = [:]
        for key in keys { changes[key] = .some(rows[key]) }
        for source in next.factSources { next.replaceFacts(of: source, items(of: source)) }
        next.take(changes, at: now)
        next.take(health, of: sources, uncertain: uncertain)
        next.setSilences(silences)
        (other, engine) = (engine, next)
        take(engine.releaseSilenced(at: now, identifier: numbers.next))
        take(engine.openSourceGates(at: now, identifier: numbers.next))
        hold(engine.rules.rules[0].name, uncertain: uncertain)
        // What came due while nobody evaluated it is due at once, before the next poll.
        take(engine.fireTimers(at: now, identifier: numbers.next))
        findExisting()
    }

    private mutating func hold(_ rule: String, uncertain: Set<String> = []) {
        for source in sources { engine.join(source, isUncertain: uncertain.contains(source)) }
        engine.fire([rule])
        take(engine.openSourceGates(at: now, identifier: numbers.next))
    }

    private mutating func findExisting() {
        for name in ["lab", "shop"] where !engine.rulesMatchingExisting(in: name).isEmpty {
            let found = items(of: name).map { StoredItem($0, digest: $0.digest, stateSince: now.wall) }
            var source = RuleHarness.lab
            source.name = name
            var evaluation = PollEvaluation(existing: found, of: source, at: now)
            engine.resume(&evaluation, elapsed: { .zero }, identifier: numbers.next)
            take(evaluation.step)
        }
    }

    private var health: SourceHealth {
        var health = SourceHealth()
        for source in failing { health.failing[source] = "status 500" }
        return health
    }

    private func items(of source: String) -> [Item] { (stored[source] ?? [:]).values.sorted { $0.key < $1.key } }

    // MARK: Values

    private mutating func take(_ step: TestedEngine.Step) {
        deliveries += step.deliveries
        for (key, row) in step.changes {
            keys.insert(key)
            // Through JSON, so that a property which is not stored is missed after a restart.
            rows[key] = row.flatMap { RuleMemory(key: key, json: $0.json) }
        }
    }

    mutating func event(_ kind: Event.Kind, _ source: String, _ item: Item? = nil, _ changes: [FieldChange] = [])
        -> Event
    {
        lastEvent += 1
        return Event(
            id: numbers.next(), seq: lastEvent, kind: kind, time: now.wall, source: source, sourceKind: "json",
            poll: "p", item: item, changes: changes)
    }
}
