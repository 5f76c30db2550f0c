// SPDX-License-Identifier: Apache-2.0

/// Evaluates rules, and keeps what they remember between an event and a message: (memory, event or time) → (memory,
/// deliveries). It reads no clock and writes nothing; what a step changed is committed with the poll that caused it (I1).
public struct RuleEngine: Sendable {

    /// The rules in force.
    public internal(set) var rules: RuleSet
    /// The silences in force.
    public internal(set) var silences: [Silence] = []
    /// Silences that a state ended. A reader of the journal may still report them until the end is committed.
    private var ended = Set<Int64>()
    let civil: any CivilTime
    var memories: [RuleMemory.Key: RuleMemory] = [:]
    /// The rows about each subject.
    var bySubject: [Subject: Set<RuleMemory.Key>] = [:]
    /// The rows that end when their item changes, by source.
    var bySource: [String: Set<RuleMemory.Key>] = [:]
    /// What `if` and `unless` ask of other sources.
    var facts = SourceFacts()
    /// What the rules of a coming reload ask of other sources, while stored items are added.
    var gathered: SourceFacts?
    /// How often facts were gathered: a poll whose evaluation began before counts for them, too.
    var gatherings = 0
    /// The rows that are announced together.
    var groups: [RowGroup: Set<RuleMemory.Key>] = [:]
    /// Sources that are failing, for `depends`.
    var failing = Set<String>()
    /// Sources whose response means down, for `depends`.
    var down = Set<String>()
    /// Why each failing source fails.
    var causes: [String: String] = [:]
    /// The server of each source, as a person knows it.
    var servers: [String: String] = [:]
    /// Sources whose last poll failed, or was before a restart: their items may have changed meanwhile.
    var unconfirmed = Set<String>()
    /// Sources whose items `how_many` has not counted since its rule came into force: the count may be beyond the bound
    /// already.
    var uncounted = Set<String>()
    /// Items that the last good poll did not show; the next one shows whether they are gone.
    var missing: [String: Set<String>] = [:]
    var step = Step()
    /// The rules whose deadlines this engine evaluates; nil for all.
    var firingRules: Set<String>?
    /// The sources whose polls this engine evaluates; nil for all.
    var followed: Set<String>?
    /// When each rule last forgot counts to have room for messages.
    var countsForgottenAt: [String: Timestamp] = [:]
    private var counts: [Room: Int] = [:]
    /// Rules without room for further rows, so that each is reported once.
    private var full = Set<Room>()
    /// The version of each row: the number of its last change. Undoing a change restores the version before it.
    private(set) var versions: [RuleMemory.Key: Int] = [:]
    /// The versions of deleted rows that are kept at most.
    private let maximumVersions: Int
    private var lastVersion = 0
    /// Versions whose step failed after a later step had changed the row: what the later step restores if it fails, too.
    private var undone: [Int: (before: RuleMemory?, version: Int)] = [:]
    private var steadyTimers = Heap<Timer>()
    private var civilTimers = Heap<Timer>()

    /// The rows of one rule for one purpose.
    private struct Room: Hashable, Sendable {
        var rule: String
        var slot: RuleMemory.Slot
    }

    private struct Timer: Comparable, Sendable {
        var due: Timestamp
        var key: RuleMemory.Key

        /// A fixed order for timers that are due at the same time, so that a restart changes no outcome.
        static func < (a: Timer, b: Timer) -> Bool {
            a.due != b.due ? a.due < b.due : (a.key.rule, a.key.name) < (b.key.rule, b.key.name)
        }
    }

    /// Creates an engine that remembers nothing.
    public init(_ rules: RuleSet, civil: any CivilTime) { self.init(rules, civil: civil, maximumVersions: 100_000) }

    /// - Parameter maximumVersions: the versions of deleted rows that are kept at most.
    init(_ rules: RuleSet, civil: any CivilTime, maximumVersions: Int) {
        (self.rules, self.civil, self.maximumVersions) = (rules, civil, maximumVersions)
        facts = SourceFacts(rules)
    }

    // MARK: Events, polls, time

    /// Evaluates a poll in one piece: its events in the order in which they are committed, and what it observed besides.
    public mutating func evaluatePoll(
        of source: String, events: [Event] = [], _ observation: PollObservation = PollObservation(), at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        var evaluation = PollEvaluation(of: source, events: events, observation, at: now)
        resume(&evaluation, elapsed: { .zero }, identifier: identifier)
        return evaluation.step
    }

    /// Returns the `stays` rules that can match this source.
    public func rulesMatchingExisting(in source: String) -> [Rule] {
        rules.matchingExisting.filter { $0.when.sources?.contains(source) != false }
    }

    /// Evaluates an event that does not come from a poll.
    public mutating func evaluate(_ event: Event, at now: RuleTime, identifier: () -> Identifier) -> Step {
        var evaluation = PollEvaluation(of: event.source, events: [event], at: now)
        process(event, &evaluation, { .zero }, identifier)
        reportFailures(evaluation, identifier)
        return takeStep()
    }

    /// Expires everything that is due and needs no poll to confirm it.
    public mutating func fireTimers(at now: RuleTime, identifier: () -> Identifier) -> Step {
        for key in takeDueKeys(at: now) {
            // The next good poll of an uncertain item's source confirms it.
            guard firingRules?.contains(key.rule) ?? true, let memory = memories[key], memory.isDue(at: now),
                !isUncertain(memory), let rule = rule(of: key)
            else { continue }
            expire(memory, rule, at: now, identifier)
        }
        return takeStep()
    }

    /// Returns when the next timer is due, on the steady clock.
    public func nextTimer(at now: RuleTime) -> Timestamp? {
        let shift = now.steady.milliseconds - now.wall.milliseconds
        let civil = civilTimers.least.map { Timestamp(milliseconds: $0.due.milliseconds.addingClamped(shift)) }
        return [steadyTimers.least?.due, civil].compactMap { $0 }.min()
    }

    /// Returns when the source should be polled to confirm a pending match, on the steady clock.
    public func nextConfirmation(of source: String) -> Timestamp? {
        (bySource[source] ?? []).lazy.filter { $0.slot == .pending || $0.slot == .absence }.compactMap {
            memories[$0]?.due
        }.min()
    }

    // MARK: Restart, reload, undo

    /// Restores the rows of the journal. Times on the steady clock are clamped to what their rule can have meant.
    /// - Parameters:
    ///   - health: the sources that are failing or down.
    ///   - unconfirmed: sources whose polls were missed meanwhile. Rows about their items wait for a good poll.
    public mutating func restore(
        _ rows: [RuleMemory], silences: [Silence], health: SourceHealth = SourceHealth(),
        unconfirmed: Set<String> = [], at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        self.silences = silences
        (failing, causes) = (Set(health.failing.keys), health.failing)
        (down, servers) = (health.down, health.servers)
        var unchanged = Set<RuleMemory.Key>()
        for memory in rows {
            let rule = rule(of: memory.key)
            guard let rule, rule.identity == memory.identity else {
                step.changes[memory.key] = .some(nil)
                discard(memory, of: rule, RuleEngine.ruleChanged, at: now, identifier)
                continue
            }
            let clamped = memory.clamped(by: rule, at: now)
            put(clamped)
            if clamped == memory { unchanged.insert(memory.key) }
        }
        step.removeWrites(of: unchanged)
        self.unconfirmed = unconfirmed.filter { bySource[$0] != nil }
        uncounted = rules.countedSources
        openSilences(at: now, identifier)
        for rule in rules.rules { openDependencies(of: rule, at: now) }
        startAbsences(at: now, identifier)
        return takeStep()
    }

    /// Replaces the rules. Rows of rules with the same identity are kept, all others are discarded.
    public mutating func reload(_ rules: RuleSet, at now: RuleTime, identifier: () -> Identifier) -> Step {
        let old = self.rules
        self.rules = rules
        takeGatheredFacts()
        uncounted = rules.countedSources
        for key in RuleEngine.ordered(memories.keys) {
            guard let memory = memories[key], rule(of: key)?.identity != memory.identity else { continue }
            forget(key)
            discard(memory, of: old.rule(named: key.rule), RuleEngine.ruleChanged, at: now, identifier)
        }
        // `depends` may name other sources now, or none.
        for rule in rules.rules { openDependencies(of: rule, at: now) }
        startAbsences(at: now, identifier)
        return takeStep()
    }

    /// The sources with rows about their items.
    public var rememberedSources: Set<String> { Set(bySource.keys) }

    /// Discards the rows about items of all other sources, which will never be polled again.
    public mutating func forgetSources(
        except known: Set<String>, at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        servers = servers.filter { known.contains($0.key) }
        let failed = memories.keys.filter { $0.slot == .failed && !known.contains($0.name) }
        for key in failed { forget(key) }
        for source in rememberedSources.subtracting(known).sorted() {
            for key in keys(of: source) {
                guard let memory = memories[key] else { continue }
                forget(key)
                discard(memory, of: rule(of: key), "the source '\(source)' is gone", at: now, identifier)
            }
        }
        return takeStep()
    }

    private static let ruleChanged = "its rule was changed or removed"

    /// Undoes a step whose commit failed; its poll will be repeated. Steps that fail together can be undone in any order: a
    /// row that a later step changed keeps that change, and if the later step fails, too, it gets the value before both.
    public mutating func undo(_ failed: Step) {
        for change in failed.writes.reversed() {
            var (before, version) = (change.before, change.versions.before)
            while let earlier = undone.removeValue(forKey: version) { (before, version) = earlier }
            guard versions[change.key, default: 0] == change.versions.after else {
                undone[change.versions.after] = (before, version)
                continue
            }
            if let before { write(before) } else { forget(change.key) }
            versions[change.key] = version == 0 ? nil : version
        }
        // A later step that is committed leaves its entry behind. They are few, since commits seldom fail.
        if undone.count > RuleMemory.maximum { undone = [:] }
        for (source, was) in failed.wereFailing {
            if was.isFailing { failing.insert(source) } else { failing.remove(source) }
            causes[source] = was.cause
        }
        for (source, was) in failed.wereDown {
            if was { down.insert(source) } else { down.remove(source) }
        }
        unconfirmed.formUnion(failed.wereUnconfirmed)
        uncounted.formUnion(failed.wereUncounted)
        ended.subtract(failed.endedSilences)
        silences += failed.ended.filter { ended in !silences.contains { $0.id == ended.id } }
        step = Step()
    }

    /// Replaces the silences by those of the journal.
    public mutating func setSilences(_ silences: [Silence]) {
        self.silences = silences.filter { !ended.contains($0.id) }
    }

    /// Releases the messages that silences withheld and that no silence covers any more.
    public mutating func releaseSilenced(at now: RuleTime, identifier: () -> Identifier) -> Step {
        openSilences(at: now, identifier)
        return takeStep()
    }

    /// All rows, in no order.
    public var remembered: [RuleMemory] { Array(memories.values) }

    // MARK: Memory

    func rule(of key: RuleMemory.Key) -> Rule? { rules.rule(named: key.rule) }

    /// Writes a row. Returns false when the rule has no room for another one.
    @discardableResult
    mutating func put(_ memory: RuleMemory) -> Bool {
        guard memories[memory.key] != nil || !isFull(memory.key) else {
            let room = Room(rule: memory.key.rule, slot: memory.key.slot)
            if room.slot != .once, room.slot != .announced, full.insert(room).inserted {
                step.warnings.append(
                    "rule '\(room.rule)' has no room for more than \(RuleMemory.maximum) \(room.slot.noun); "
                        + "further ones are suppressed, or get no reminders")
            }
            return false
        }
        write(memory)
        return true
    }

    /// Whether the rule has no room for another row like this one.
    func isFull(_ key: RuleMemory.Key) -> Bool {
        counts[Room(rule: key.rule, slot: key.slot), default: 0] >= RuleMemory.maximum
    }

    private mutating func write(_ memory: RuleMemory) {
        let key = memory.key
        let old = memories[key]
        recordWrite(key, before: old)
        step.changes[key] = .some(memory)
        if let subject = old?.subject, subject != memory.subject { unlink(subject, key) }
        if let old, old.group != memory.group { leaveGroup(old) }
        if memory.isInGroup { groups[RowGroup(memory), default: []].insert(key) }
        if old == nil { counts[Room(rule: key.rule, slot: key.slot), default: 0] += 1 }
        memories[key] = memory
        if let subject = memory.subject {
            bySubject[subject, default: []].insert(key)
            if memory.dependsOnItem { bySource[subject.source, default: []].insert(key) }
        }
        if old?.due != memory.due || old?.isCivil != memory.isCivil { pushTimer(of: memory) }
    }

    /// Sets the timer of a row that is due at some time.
    mutating func pushTimer(of memory: RuleMemory) {
        guard let due = memory.due else { return }
        let key = memory.key
        if memory.isCivil {
            civilTimers.push(Timer(due: due, key: key))
        } else if (key.slot != .pending && key.slot != .absence) || !memory.dependsOnItem {
            steadyTimers.push(Timer(due: due, key: key))
        }
    }

    private mutating func recordWrite(_ key: RuleMemory.Key, before: RuleMemory?) {
        lastVersion += 1
        step.record(
            Step.Write(key: key, before: before, versions: (versions[key, default: 0], lastVersion)))
        versions[key] = lastVersion
        // The versions of deleted rows are kept for steps whose commit is in flight.
        if versions.count - memories.count > maximumVersions {
            versions = versions.filter { memories[$0.key] != nil || $0.value > lastVersion - maximumVersions / 2 }
        }
    }

    /// Deletes a row.
    mutating func forget(_ key: RuleMemory.Key) {
        guard let old = memories.removeValue(forKey: key) else { return }
        recordWrite(key, before: old)
        step.changes[key] = .some(nil)
        let room = Room(rule: key.rule, slot: key.slot)
        counts[room, default: 1] -= 1
        // Reported again only after a tenth is free, not with every row that comes and goes.
        if counts[room, default: 0] < RuleMemory.maximum / 10 * 9 { full.remove(room) }
        if let subject = old.subject { unlink(subject, key) }
        leaveGroup(old)
    }

    private mutating func leaveGroup(_ memory: RuleMemory) {
        let group = RowGroup(memory)
        groups[group]?.remove(memory.key)
        if groups[group]?.isEmpty == true { groups[group] = nil }
    }

    private mutating func unlink(_ subject: Subject, _ key: RuleMemory.Key) {
        bySubject[subject]?.remove(key)
        if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
        bySource[subject.source]?.remove(key)
        guard bySource[subject.source]?.isEmpty == true else { return }
        (bySource[subject.source], missing[subject.source]) = (nil, nil)
        unconfirmed.remove(subject.source)
    }

    /// Sorts keys, so that the outcome does not depend on the order of a set.
    static func ordered(_ keys: some Sequence<RuleMemory.Key>) -> [RuleMemory.Key] {
        keys.sorted { ($0.rule, $0.slot.rawValue, $0.name) < ($1.rule, $1.slot.rawValue, $1.name) }
    }

    func keys(of source: String) -> [RuleMemory.Key] { RuleEngine.ordered(bySource[source] ?? []) }

    private mutating func takeDueKeys(at now: RuleTime) -> [RuleMemory.Key] {
        var keys: [RuleMemory.Key] = []
        while let next = steadyTimers.least, next.due <= now.steady {
            _ = steadyTimers.popLeast()
            if memories[next.key]?.due == next.due, memories[next.key]?.isCivil == false { keys.append(next.key) }
        }
        while let next = civilTimers.least, next.due <= now.wall {
            _ = civilTimers.popLeast()
            if memories[next.key]?.due == next.due, memories[next.key]?.isCivil == true { keys.append(next.key) }
        }
        var seen = Set<RuleMemory.Key>()
        return keys.filter { seen.insert($0).inserted }
    }

    /// Ends the silences that wait for the state that this event brings. Returns whether there were any.
    mutating func endSilences(_ event: Event) -> Bool {
        let over = silences.filter { silence in
            let sources = silence.rule.flatMap(rules.rule(named:))?.when.sources
            return silence.isEnded(by: event) && sources?.contains(event.source) != false
        }
        silences.removeAll(where: over.contains)
        ended.formUnion(over.map(\.id))
        step.ended += over
        return !over.isEmpty
    }

    mutating func takeStep() -> Step {
        defer { step = Step() }
        return step
    }
}
