// SPDX-License-Identifier: Apache-2.0

/// Rules, and what they remember between an event and a message: (memory, event or time) → (memory, deliveries). It asks
/// no clock and writes nothing; what it changed is committed with the poll that made it (I1).
public struct RuleEngine: Sendable {
    /// What one step changed.
    public struct Step: Sendable {
        /// Owed, or suppressed with their reason.
        public var deliveries: [Delivery] = []
        /// Rows to write, by key; nil deletes.
        public var changes: [RuleMemory.Key: RuleMemory?] = [:]
        /// What they were before, for a commit that fails.
        var before: [RuleMemory.Key: RuleMemory?] = [:]
        /// Silences that a state ended.
        var ended: [Silence] = []
        /// Whether sources were failing before it, and which were uncertain, for a commit that fails.
        var wereFailing: [String: Bool] = [:]
        var wereUnsure = Set<String>()
        /// What rules remembered and will not say, since they are gone or changed: sentences for the log.
        public var abandoned: [String] = []
        /// Rules that could not be judged, with the reason.
        public var broken: [(rule: String, detail: String)] = []

        public var endedSilences: [Int64] { ended.map(\.id) }

        /// Makes one of two that follow each other.
        public mutating func add(_ later: Step) {
            deliveries += later.deliveries
            for (key, change) in later.changes { changes[key] = .some(change) }
            before.merge(later.before) { first, _ in first }
            ended += later.ended
            wereFailing.merge(later.wereFailing) { first, _ in first }
            wereUnsure.formUnion(later.wereUnsure)
            abandoned += later.abandoned
            broken += later.broken
        }

        public var isEmpty: Bool { deliveries.isEmpty && changes.isEmpty && ended.isEmpty }
    }

    /// Titles and ids that a digest keeps; the rest is counted.
    static let mostLines = 20
    /// Subjects that one rule remembers (I8): beyond, a match is said at once instead of being held.
    static let mostMemories = 10_000

    public internal(set) var rules: RuleSet
    public internal(set) var silences: [Silence] = []
    /// Silences that a state ended: a reader of the journal may still bring them.
    private var ended = Set<Int64>()
    let civil: any CivilTime
    var memories: [RuleMemory.Key: RuleMemory] = [:]
    /// What is remembered of a subject.
    var bySubject: [Subject: Set<RuleMemory.Key>] = [:]
    /// Sources that are failing, for `depends`.
    var failing = Set<String>()
    /// Sources of which no good poll has told how their items are: the last ones failed, or the program was down.
    var unsure = Set<String>()
    /// Items that the last good poll of their source did not show, so the next one tells whether they are gone.
    var missing: [String: Set<String>] = [:]
    var step = Step()
    private var counts: [String: Int] = [:]
    /// What is said only while an item is still so, by its source.
    var bySource: [String: Set<RuleMemory.Key>] = [:]
    private var steadyTimers = Heap<Timer>()
    private var civilTimers = Heap<Timer>()

    private struct Timer: Comparable, Sendable {
        var due: Timestamp
        var key: RuleMemory.Key

        /// One order for what is due at the same time, whatever order it was remembered in.
        static func < (a: Timer, b: Timer) -> Bool {
            a.due != b.due ? a.due < b.due : (a.key.rule, a.key.name) < (b.key.rule, b.key.name)
        }
    }

    public init(_ rules: RuleSet, civil: any CivilTime) { (self.rules, self.civil) = (rules, civil) }

    // MARK: What happens

    /// All that one poll brings: its events in the order in which they are committed, and what it saw besides.
    public mutating func polled(
        _ source: String, _ events: [Event] = [], _ seen: PollObservation = PollObservation(), at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        if let baseline = seen.baseline { beginAnew(source, baseline, at: now, identifier) }
        for event in events { consider(event, at: now, identifier) }
        forgetItems(seen.forgotten, of: source, at: now, identifier)
        if seen.isGood {
            confirm(source, missing: seen.missing, events, at: now, identifier)
        } else {
            missed(source)
        }
        return taken()
    }

    /// Items that no event told of, since they were there already when the source was first seen or the rule was new.
    public mutating func found(
        _ items: [StoredItem], of source: Source, at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        let seekers = seekers(of: source.name)
        guard !seekers.isEmpty else { return Step() }
        for stored in items where stored.absentSince == nil {
            guard let item = stored.item else { continue }
            for rule in seekers {
                let event = DraftEvent(.elapsed, item: item)
                    .event(id: identifier(), source: source, poll: "", at: now.wall)
                found(rule, event, since: rule.field == "state" ? stored.stateSince : now.wall, at: now)
            }
        }
        return taken()
    }

    /// The rules that seek what is so already in a source.
    public func seekers(of source: String) -> [Rule] {
        rules.seeking.filter { $0.when.sources?.contains(source) != false }
    }

    /// An event that no poll brings.
    public mutating func happened(_ event: Event, at now: RuleTime, identifier: () -> Identifier) -> Step {
        consider(event, at: now, identifier)
        return taken()
    }

    private mutating func consider(_ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        note(event)
        reconsider(event, at: now, identifier)
        for verdict in rules.verdicts(on: event) {
            if case .broken(let detail) = verdict.answer { step.broken.append((verdict.rule.name, detail)) }
            guard verdict.answer == .matched else { continue }
            matched(verdict.rule, event, at: now, identifier)
        }
    }

    /// Time passed: everything that is due and waits for no poll.
    public mutating func ticked(at now: RuleTime, identifier: () -> Identifier) -> Step {
        for key in dueKeys(at: now) {
            // The next good poll of its source asks again.
            guard let memory = memories[key], !isUncertain(memory), let rule = rule(of: key) else { continue }
            elapsed(memory, rule, at: now, identifier)
        }
        return taken()
    }

    /// When the next tick is due, on the steady clock.
    public func nextTick(at now: RuleTime) -> Timestamp? {
        let shift = now.steady.milliseconds - now.wall.milliseconds
        let civil = civilTimers.least.map { Timestamp(milliseconds: $0.due.milliseconds.addingClamped(shift)) }
        return [steadyTimers.least?.due, civil].compactMap { $0 }.min()
    }

    /// When the source should be polled, so that what is held can be confirmed in time.
    public func nextPull(of source: String) -> Timestamp? {
        (bySource[source] ?? []).lazy.filter { $0.slot == .held }.compactMap { memories[$0]?.due }.min()
    }

    // MARK: Restart, reload, failure

    /// What the journal kept. Times on the steady clock are clamped to what their rule can have meant.
    /// - Parameter unsure: sources that were to be polled meanwhile: what is remembered of their items waits for that.
    public mutating func restore(
        _ kept: [RuleMemory], silences: [Silence], failing: Set<String>, unsure: Set<String> = [], at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        (self.silences, self.failing) = (silences, failing)
        for memory in kept {
            let rule = rule(of: memory.key)
            guard let rule, rule.identity == memory.identity else {
                step.changes[memory.key] = .some(nil)
                abandon(memory, of: rule, RuleEngine.changed, at: now, identifier)
                continue
            }
            let clamped = memory.clamped(by: rule, at: now)
            put(clamped)
            if clamped == memory {
                step.changes.removeValue(forKey: memory.key)
                step.before.removeValue(forKey: memory.key)
            }
        }
        self.unsure = unsure.filter { bySource[$0] != nil }
        return taken()
    }

    /// Another set of rules; what rules remember that say the same as before is kept.
    public mutating func reload(_ rules: RuleSet, at now: RuleTime, identifier: () -> Identifier) -> Step {
        let old = self.rules
        self.rules = rules
        for key in RuleEngine.ordered(memories.keys) {
            guard let memory = memories[key], rule(of: key)?.identity != memory.identity else { continue }
            forget(key)
            abandon(memory, of: old.rule(named: key.rule), RuleEngine.changed, at: now, identifier)
        }
        return taken()
    }

    /// Sources of whose items something is remembered.
    public var sources: Set<String> { Set(bySource.keys) }

    /// What is remembered of items of other sources is forgotten: nobody will ever hear of them again.
    public mutating func keep(sources known: Set<String>, at now: RuleTime, identifier: () -> Identifier) -> Step {
        for source in sources.subtracting(known).sorted() {
            for key in keys(of: source) {
                guard let memory = memories[key] else { continue }
                forget(key)
                abandon(memory, of: rule(of: key), "the source '\(source)' is gone", at: now, identifier)
            }
        }
        return taken()
    }

    private static let changed = "its rule was changed or removed"

    /// Takes a step back whose commit failed: its poll will be made again.
    public mutating func undo(_ failed: Step) {
        for (key, before) in failed.before {
            // Another step may have changed it since.
            guard memories[key] == failed.changes[key].flatMap({ $0 }) else { continue }
            if let before { put(before) } else { forget(key) }
        }
        for (source, was) in failed.wereFailing {
            if was { failing.insert(source) } else { failing.remove(source) }
        }
        unsure.formUnion(failed.wereUnsure)
        ended.subtract(failed.endedSilences)
        silences += failed.ended.filter { ended in !silences.contains { $0.id == ended.id } }
        step = Step()
    }

    public mutating func silence(_ silences: [Silence]) { self.silences = silences.filter { !ended.contains($0.id) } }

    /// What is remembered, for `explain` and `status`.
    public var remembered: [RuleMemory] { Array(memories.values) }

    // MARK: Memory

    func rule(of key: RuleMemory.Key) -> Rule? { rules.rule(named: key.rule) }

    /// False when the rule remembers too much already.
    @discardableResult
    mutating func put(_ memory: RuleMemory) -> Bool {
        let key = memory.key
        let old = memories[key]
        guard old != nil || counts[key.rule, default: 0] < RuleEngine.mostMemories else { return false }
        if step.before[key] == nil { step.before[key] = .some(old) }
        step.changes[key] = .some(memory)
        if let subject = old?.subject, subject != memory.subject { unlink(subject, key) }
        if old == nil { counts[key.rule, default: 0] += 1 }
        memories[key] = memory
        if let subject = memory.subject {
            bySubject[subject, default: []].insert(key)
            if memory.waitsForItem { bySource[subject.source, default: []].insert(key) }
        }
        guard let due = memory.due, old?.due != due || old?.isCivil != memory.isCivil else { return true }
        if memory.isCivil {
            civilTimers.push(Timer(due: due, key: key))
        } else if key.slot != .held || !memory.waitsForItem {
            steadyTimers.push(Timer(due: due, key: key))
        }
        return true
    }

    mutating func forget(_ key: RuleMemory.Key) {
        guard let old = memories.removeValue(forKey: key) else { return }
        if step.before[key] == nil { step.before[key] = .some(old) }
        step.changes[key] = .some(nil)
        counts[key.rule, default: 1] -= 1
        if let subject = old.subject { unlink(subject, key) }
    }

    private mutating func unlink(_ subject: Subject, _ key: RuleMemory.Key) {
        bySubject[subject]?.remove(key)
        if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
        bySource[subject.source]?.remove(key)
        guard bySource[subject.source]?.isEmpty == true else { return }
        (bySource[subject.source], missing[subject.source]) = (nil, nil)
        unsure.remove(subject.source)
    }

    /// In one order, whatever order they were remembered in.
    static func ordered(_ keys: some Sequence<RuleMemory.Key>) -> [RuleMemory.Key] {
        keys.sorted { ($0.rule, $0.slot.rawValue, $0.name) < ($1.rule, $1.slot.rawValue, $1.name) }
    }

    func keys(of source: String) -> [RuleMemory.Key] { RuleEngine.ordered(bySource[source] ?? []) }

    private mutating func dueKeys(at now: RuleTime) -> [RuleMemory.Key] {
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

    private mutating func note(_ event: Event) {
        let wasFailing = failing.contains(event.source)
        switch event.kind {
        case .failing: failing.insert(event.source)
        case .recovered: failing.remove(event.source)
        default: break
        }
        if failing.contains(event.source) != wasFailing, step.wereFailing[event.source] == nil {
            step.wereFailing[event.source] = wasFailing
        }
        let over = silences.filter { silence in
            let sources = silence.rule.flatMap(rules.rule(named:))?.when.sources
            return silence.isEnded(by: event) && sources?.contains(event.source) != false
        }
        guard !over.isEmpty else { return }
        silences.removeAll(where: over.contains)
        ended.formUnion(over.map(\.id))
        step.ended += over
    }

    private mutating func taken() -> Step {
        defer { step = Step() }
        return step
    }
}
