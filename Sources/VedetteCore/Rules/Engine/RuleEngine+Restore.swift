// SPDX-License-Identifier: Apache-2.0

/// What a start, a reload and the end of a source do to the rows. They belong to the names of rules: a rule that was edited
/// meanwhile ends or keeps them, and what a rule or source told that is gone is ended.
extension RuleEngine {
    /// Stored items by source and key. A source that is not among them was not read.
    public typealias StoredItems = [String: [String: Item]]

    /// Restores the rows of the journal. Times on the steady clock are clamped to what their rule can have meant.
    /// - Parameters:
    ///   - health: the sources that are failing or down.
    ///   - unconfirmed: sources whose polls were missed meanwhile. Rows about their items wait for a good poll.
    ///   - stored: the items of `sourcesOfEdited`.
    public mutating func restore(
        _ rows: [RuleMemory], silences: [Silence], health: SourceHealth = SourceHealth(),
        unconfirmed: Set<String> = [], stored: StoredItems = [:], at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            for row in rows { engine.put(row) }
            // The journal has them.
            engine.step.clear()
            engine.world.restore(
                silences, health, unconfirmed: unconfirmed.filter { engine.hasRows(of: $0) },
                uncounted: engine.rules.countedSources)
            engine.adopt(stored, after: engine.rules, at: moment)
        }
    }

    /// Puts the rows under the rules in force.
    /// - Parameters:
    ///   - stored: the items of `sourcesOfEdited`.
    ///   - failures: events of sources that fail, for rules that are new or were edited.
    ///   - old: the rules that the rows are under.
    public mutating func adopt(
        _ stored: StoredItems = [:], failures: [Event] = [], after old: RuleSet, at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            engine.adopt(stored, after: old, at: moment)
            engine.find(failures, after: old, at: moment)
        }
    }

    private mutating func adopt(_ stored: StoredItems, after old: RuleSet, at moment: StepContext) {
        adoptRows(stored, of: old, at: moment)
        openSilences(at: moment)
        start(at: moment)
    }

    /// Lets rules that are new or were edited find sources that fail already.
    /// - Parameter old: the rules before.
    public mutating func find(
        _ failures: [Event], after old: RuleSet, at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in engine.find(failures, after: old, at: moment) }
    }

    private mutating func find(_ failures: [Event], after old: RuleSet, at moment: StepContext) {
        // Each source is polled by one watcher, so that one tells it.
        let failures = failures.filter { share.polls($0.source) }
        let asking = rules.rules.filter { rules.asksForHealth($0, after: old) }
        guard !failures.isEmpty, !asking.isEmpty else { return }
        let matching = failures.map { event in
            Set(rules.evaluate(event).filter { $0.result == .matched }.map(\.rule.name))
        }
        for rule in asking {
            for (event, names) in zip(failures, matching)
            where names.contains(rule.name) && table[rule.key(of: Subject(event))] == nil {
                hold(rule, event, at: moment)
            }
        }
    }

    /// Whether some rule of this set is new or was edited, and asks for the health of sources.
    /// - Parameter old: the rules before.
    public func asksForHealth(_ rules: RuleSet, after old: RuleSet) -> Bool {
        rules.rules.contains { rules.asksForHealth($0, after: old) }
    }

    /// Returns the sources with rows of rules that are written differently in this set: their items show what is still true.
    /// - Parameter rows: the rows to read the items for; nil for all rows of the engine.
    public func sourcesOfEdited(in rules: RuleSet, _ rows: [RuleMemory]? = nil) -> Set<String> {
        let edited = (rows ?? table.all).filter { row in
            row.key.slot == .match && row.dependsOnItem
                && rules.heir(of: row.key.rule).map { $0.identity != row.identity } == true
        }
        return Set(edited.compactMap(\.subject?.source))
    }

    /// `depends`, `if` and `unless` may name other sources now, or none, and windows other times; and a new rule has no time
    /// without a match yet.
    private mutating func start(at moment: StepContext) {
        openSourceGates(at: moment)
        for name in table.rules(waitingAt: QuietGate.name) {
            let group = RowTable.Group(rule: name, gate: QuietGate.name)
            if let rule = rule(of: group) { reconcile(rule, group, at: moment) }
        }
        moveQuietLogs(at: moment)
        startAbsences(at: moment)
    }

    /// Ends what was told about sources that are not configured any more, and discards the rest of it where nothing is stored of
    /// the source, which will never be polled again.
    /// - Parameters:
    ///   - known: the sources that are configured or of which something is stored.
    ///   - watched: those that are configured; nil for all of them.
    public mutating func forgetSources(
        except known: Set<String>, watched: Set<String>? = nil, at now: RuleTime, identifier: () -> Identifier
    ) -> Step {
        take(at: now, identifier) { engine, moment in
            engine.world.forgetServers(exceptOf: known)
            for key in engine.table.keys where key.slot == .failed && !known.contains(key.name) { engine.forget(key) }
            for source in engine.sources(exceptIn: watched ?? known) {
                let reason = "the source '\(source)' is gone while it was held back"
                for key in engine.table.keys(of: source) + engine.table.keys(about: Subject(source: source, key: nil)) {
                    guard let row = engine.table[key], let rule = engine.rule(of: key) else { continue }
                    if rule.gates.resolved, row.told != nil {
                        engine.endUnwatched(row, rule, Over(held: false, isWatched: false), reason, at: moment)
                    }
                    guard !known.contains(source), let rest = engine.table[key],
                        !rest.waits.contains(where: { $0.content == .end })
                    else { continue }
                    engine.forget(key)
                    engine.discard(rest, of: rule, reason, at: moment)
                }
            }
        }
    }

    /// Returns the other sources with rows about their items or their health.
    public func sources(exceptIn watched: Set<String>) -> [String] {
        let ofHealth = table.all.lazy.compactMap(\.lastEvent).filter { event in
            event.item == nil && (HealthChange(event) != nil || event.kind == .suspect)
        }
        return rememberedSources.union(ofHealth.map(\.source)).subtracting(watched).sorted()
    }

    /// Suppresses the message that a discarded row was waiting to send, so that `explain` shows the reason.
    private mutating func discard(_ row: RuleMemory, of rule: Rule, _ reason: String, at moment: StepContext) {
        let isWaiting = row.key.slot == .log || row.waits.contains { $0.content != .count }
        guard let event = row.held?.event ?? (isWaiting ? row.event : nil) else { return }
        suppress(rule, event, reason, at: moment)
        noteDiscarded(event, reason, of: row.key.rule)
        releaseValues(row.values, of: row.key.rule, for: row.waits.filter(\.isListed).map(\.sink))
    }

    private mutating func noteDiscarded(_ event: Event, _ reason: String, of rule: String) {
        step.discard("rule '\(rule)' does not send '\(MessageTitle.of(event))': \(reason)")
    }

    // MARK: Rules that were edited, renamed or removed

    /// Puts each row under the rule in force.
    /// - Parameter old: the rules before, as far as they are known.
    private mutating func adoptRows(_ stored: StoredItems, of old: RuleSet, at moment: StepContext) {
        var edited: [RuleMemory.Key] = []
        for key in table.keys {
            guard let row = table[key], let rule = rules.heir(of: key.rule) else { continue }
            if key.slot == .reference, let sink = row.sinks.first, !rule.names(sink) {
                forget(key)
                continue
            }
            var new = row.clamped(by: rule, at: moment.now)
            new.key.rule = rule.name
            guard new.key == key || table[new.key] == nil else {
                forget(key)
                continue
            }
            let identity = key.slot == .log ? rule.logIdentity : rule.identity
            // A log for all sinks is sent to those that its matches were for.
            let isForOthers = key.slot == .log && !key.name.contains("\u{1F}") && row.sinks != rule.notify.map(\.sink)
            if new.identity != identity || isForOthers { edited.append(new.key) }
            new.identity = identity
            new.leaveRemovedSinks(rule) {
                suppress(rule, $1, "the rule no longer names this sink", for: $0, at: moment)
            }
            // The rows of values come later, so that a renamed rule has them under the old name still.
            releaseValues(row.values, of: key.rule, for: row.waits.map(\.sink).filter { !rule.names($0) })
            if new != row { put(new) }
            // Afterwards only: a source without rows counts as confirmed.
            if new.key != key { forget(key) }
        }
        var groups = Set<RowTable.Group>()
        for key in edited {
            guard let row = table[key], let rule = rule(of: key) else { continue }
            recompute(row, rule, stored, at: moment)
            for wait in table[key]?.waits ?? [] where wait.gate != ServerGate.name {
                groups.insert(RowTable.Group(rule: key.rule, gate: wait.gate, name: wait.group))
            }
        }
        for group in groups.sorted(by: { ($0.rule, $0.gate ?? "", $0.name) < ($1.rule, $1.gate ?? "", $1.name) }) {
            if let rule = rule(of: group) { reconcile(rule, group, at: moment) }
        }
        for key in table.keys where rules.rule(named: key.rule) == nil {
            if let row = table[key] { retire(row, Rule(gone: row, old.rule(named: key.rule)), at: moment) }
        }
    }

    /// Asks an edited rule about what one of its rows remembers.
    private mutating func recompute(_ row: RuleMemory, _ rule: Rule, _ stored: StoredItems, at moment: StepContext) {
        switch row.key.slot {
        case .match: recomputeMatch(row, rule, stored, at: moment)
        case .log: closeLog(row, rule, at: moment)
        case .limit where rule.gates.limit == nil, .tally where rule.gates.atLeast == nil,
            .absence where rule.gates.nothing == .zero, .reference where rule.announcedFields.isEmpty,
            .once where rule.gates.oncePer == nil, .failed:
            forget(row.key)
        case .tally: slideTally(row, rule, at: moment.now)
        case .absence where row.due != nil:
            var row = row
            row.due = row.since.advanced(by: rule.gates.nothing)
            put(row)
        case .limit, .absence, .reference, .server, .once: break
        }
    }

    private mutating func recomputeMatch(_ row: RuleMemory, _ rule: Rule, _ stored: StoredItems, at moment: StepContext)
    {
        var row = row
        /// Takes over the stored item. Returns whether the match of the event is over under the rule.
        func isOver(_ event: inout Event?, isHeld: Bool = false) -> Bool {
            guard let past = event, past.kind != .resolved, past.kind != .digest else { return false }
            if let key = past.item?.key, past.kind != .disappeared, let items = stored[past.source] {
                guard let item = items[key] else { return true }
                event?.item = item
            }
            guard let latest = event, rule.remainsTrue(latest) else { return true }
            // 'older': it is no longer old enough.
            return !isHeld && rule.timeOfAge(of: latest, at: moment.now).map { $0 > moment.now.steady } ?? false
        }
        // An item's state beyond its limit is no match.
        let isMatch = row.isStanding || !row.group.isEmpty || row.waits.contains { $0.content == .firing }
        var (held, told) = (row.held?.event, row.told?.ended == nil ? row.told?.event : nil)
        let over = Over(
            held: isOver(&held, isHeld: true), match: isMatch && isOver(&row.event), told: isOver(&told),
            isWatched: false)
        if let held { row.held?.event = held }
        if let told { row.told?.event = told }
        if let held = row.held, rule.when.age == nil {
            row.held?.due = held.since.advanced(by: rule.gates.pendingFor)
        }
        // A restart is not to find again what sinks know or wait for.
        let isKnown = row.told?.ended == nil && row.told != nil || row.waits.contains { $0.content == .firing }
        row.isStanding = rule.matchesExisting && (row.isStanding || isKnown) || rule.when.count != nil && row.isStanding
        if var told = row.told, told.ended == nil {
            told.tellsEnd = rule.gates.resolved
            if told.lastMessages.isEmpty {
                // 'remind' was added: a sink that still waits for the match counts from its message.
                let waiting = row.waits.map(\.sink)
                let since = told.since
                for target in rule.notify where !waiting.contains(target.sink) {
                    told.noteMessage(to: target.sink, rule, at: since)
                }
            }
            let isFollowed = rule.hasFollowUps && !rule.endsReminders(told.event)
            told.follow(at: isFollowed ? rule.nextFollowUp(told) : nil)
            if told.due == nil, row.told?.isFollowed == true { row.group = "" }
            row.told = rule.needs(told) ? told : nil
        }
        row.dropEventIfUnused()
        put(row)
        if !over.isEmpty { end(row, rule, over, reason: "the rule was changed", at: moment) }
    }

    /// Ends what a rule told that is gone, and sends its logs.
    private mutating func retire(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        let reason = "its rule was removed while it was held back"
        switch row.key.slot {
        case .log: closeLog(row, rule, at: moment)
        case .match where row.waits.contains(where: \.isListed): endUnwatched(row, rule, nil, reason, at: moment)
        case .match:
            if let event = row.held?.event ?? (row.waits.contains { $0.content == .firing } ? row.event : nil) {
                noteDiscarded(event, reason, of: row.key.rule)
            }
            for wait in row.waits where wait.content == .firing && Gates.named(wait.gate)?.leavesRecord != false {
                if let event = row.event { suppress(rule, event, reason, for: wait.sink, at: moment) }
            }
            endUnwatched(row, rule, Over(isWatched: false), reason, at: moment)
            guard var rest = table[row.key] else { return }
            rest.waits.removeAll { $0.content != .end }
            put(rest)
        default: forget(row.key)
        }
    }

    /// Ends parts of a row whose rule or source is gone. No poll confirms the end, and of the gates of a rule that is gone none
    /// withholds it.
    private mutating func endUnwatched(
        _ row: RuleMemory, _ rule: Rule, _ over: Over?, _ reason: String, at moment: StepContext
    ) {
        if let over { end(row, rule, over, reason: reason, at: moment) }
        guard var rest = table[row.key] else { return }
        for i in rest.waits.indices where over == nil || rest.waits[i].content == .end { rest.waits[i].isListed = true }
        put(rest)
        for wait in rest.waits where wait.isListed {
            reconcile(rule, RowTable.Group(rule: rule.name, gate: wait.gate, name: wait.group), at: moment)
        }
    }
}

extension RuleSet {
    /// Whether a rule is another one than before, and asks for the health of sources.
    fileprivate func asksForHealth(_ rule: Rule, after old: RuleSet) -> Bool {
        let before = old.rule(named: rule.name) ?? rule.formerName.flatMap(old.rule(named:))
        return before?.identity != rule.identity && rule.when.concernsHealth
    }
}

extension Condition {
    fileprivate var concernsHealth: Bool {
        switch self {
        case .sourceState(let kinds): !kinds.isDisjoint(with: [.failing, .stale])
        case .all(let parts), .any(let parts): parts.contains(where: \.concernsHealth)
        default: false
        }
    }
}

extension Rule {
    /// A rule that is gone, with no gate of its own.
    /// - Parameter old: the rule as it was; nil for as far as its row knows it.
    init(gone row: RuleMemory, _ old: Rule? = nil) {
        let sinks = Set(row.sinks + row.waits.map(\.sink) + (row.told?.sinks ?? [])).sorted()
        self =
            old
            ?? Rule(
                name: row.key.rule, when: .any([]),
                notify: (sinks.isEmpty ? ["nobody"] : sinks).map { NotificationTarget(sink: $0) })
        gates = Gates()
        gates.resolved = row.told?.tellsEnd ?? false
    }

    /// Whether it still sends to the sink.
    func names(_ sink: String) -> Bool { allTargets.contains { $0.sink == sink } }

    /// Whether the event, with its item as it is now, is a match of the rule as it is written now. Values that the item had
    /// before are not asked for.
    func remainsTrue(_ event: Event) -> Bool {
        guard gates.nothing == .zero else { return event.item == nil && event.kind == .elapsed }
        var latest = event
        latest.changes = []
        if event.kind != .disappeared { latest.kind = event.item == nil ? .elapsed : .changed }
        return when.concerns(event) && when.remainsTrue(since: event, after: latest)
    }
}

extension RuleMemory {
    /// Returns a copy without times that its rule cannot have meant: the wall clock may have been set while the program
    /// was down. Nothing began in the future, and nothing is due later than the rule waits.
    func clamped(by rule: Rule, at now: RuleTime) -> RuleMemory {
        func clamp(_ due: Timestamp?, within span: Duration) -> Timestamp? {
            due.map { min($0, now.steady.advanced(by: span)) }
        }
        var row = self
        row.since = min(since, now.steady)
        for i in row.times.indices { row.times[i].time = min(row.times[i].time, now.steady) }
        if !isCivil { row.due = clamp(due, within: longestDelay(rule)) }
        if let held = row.held {
            row.held?.since = min(held.since, now.steady)
            row.held?.due =
                rule.timeOfAge(of: held.event, at: now) ?? min(held.due, now.steady.advanced(by: rule.gates.pendingFor))
            row.held?.wallDue = rule.wallTimeOfAge(of: held.event)
        }
        for i in row.waits.indices where !row.waits[i].isCivil {
            row.waits[i].until = clamp(
                row.waits[i].until, within: Gates.named(row.waits[i].gate)?.longestWait(rule) ?? .zero)
        }
        if let told = row.told {
            row.told?.since = min(told.since, now.steady)
            row.told?.ended = told.ended.map { min($0, now.steady) }
            row.told?.lastMessages = told.lastMessages.mapValues { min($0, now.steady) }
            let longest = max(rule.gates.remind?.every ?? .zero, rule.gates.escalate.last?.after ?? .zero)
            if !told.isCivil { row.told?.due = clamp(told.due, within: longest) }
        }
        return row
    }

    private func longestDelay(_ rule: Rule) -> Duration {
        switch key.slot {
        case .limit: times.isEmpty ? LimitGate.countSpan : rule.gates.limit?.per ?? .zero
        case .log: if case .every(let interval) = rule.gates.digest?.release { interval } else { .zero }
        case .server: ServerGate.span
        case .tally: rule.gates.atLeast?.per ?? .zero
        case .absence: rule.gates.nothing
        case .match, .reference, .once, .failed: .zero
        }
    }
}

extension RuleMemory {
    /// The rule of a row that only tells what is left of one that is gone; nil for any other row.
    var ofGoneRule: Rule? {
        !waits.isEmpty && waits.allSatisfy { $0.content == .end || $0.isListed } ? Rule(gone: self) : nil
    }
}
