// SPDX-License-Identifier: Apache-2.0

/// `nothing`: a message when nothing matched for a time.
extension RuleEngine {
    /// Whether a poll of the source can confirm something: a row about its items, or an absence.
    func hasRows(of source: String) -> Bool { table.hasRows(of: source) || rules.awaitingMatch[source] != nil }

    /// The rows of the absences that a good poll of the source confirms.
    func absences(confirmedBy source: String) -> [RuleMemory.Key] {
        (rules.awaitingMatch[source] ?? []).map { RuleMemory.Key(absenceOf: $0.rule) }
    }

    /// Returns the source that is polled to confirm an absence: the first that can show a match which nobody saw, else the first
    /// whose last poll did not fail. A good poll of any other one that is evaluated confirms it, too, once no source can show one.
    func confirmer(of awaited: RuleSet.AwaitedMatch) -> String? {
        awaited.sources.first(where: world.isUnread)
            ?? awaited.sources.first { !world.isUnconfirmed($0) } ?? awaited.sources.first
    }

    /// Returns when the absence is to be confirmed, on the steady clock.
    func due(_ awaited: RuleSet.AwaitedMatch) -> Timestamp? { table[RuleMemory.Key(absenceOf: awaited.rule)]?.due }

    /// Returns when an absence is due for which the source is polled, on the steady clock.
    func absenceToConfirm(in source: String) -> Timestamp? {
        (rules.awaitingMatch[source] ?? []).filter { confirmer(of: $0) == source }.compactMap(due).min()
    }

    /// When absences are due, on the steady clock, by the source that is polled for them. Each rule is asked once.
    var absencesToConfirm: [String: Timestamp] {
        rules.awaited.reduce(into: [:]) { absences, awaited in
            guard let due = due(awaited), let source = confirmer(of: awaited) else { return }
            absences[source] = min(absences[source] ?? due, due)
        }
    }

    /// Returns when an absence is due that a good poll of the source confirms, on the steady clock.
    func nextAbsence(in source: String) -> Timestamp? { (rules.awaitingMatch[source] ?? []).compactMap(due).min() }

    /// Whether a match of a rule with `nothing` may have come unseen: a source of the rule is to be read again, or none can be
    /// read. One that fails says nothing as long as another one can be read.
    func isAbsenceUnknown(_ rule: Rule) -> Bool {
        let sources = rule.when.sources ?? []
        return sources.contains(where: world.isUnread) || !sources.isEmpty && sources.allSatisfy(world.isUnconfirmed)
    }

    /// Starts the time without a match of each rule that has none yet, and puts one under the first source that its rule names
    /// now.
    mutating func startAbsences(at moment: StepContext) {
        for rule in rules.rules where rule.gates.nothing > .zero {
            let key = rule.absenceKey
            let source = rule.when.sources?.min() ?? Event.watcher
            if let row = table[key] {
                move(row, rule, to: source)
                continue
            }
            var row = RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
            row.event = Event(
                id: moment.identifier(), kind: .elapsed, time: moment.now.wall, source: source,
                sourceKind: Event.watcher, poll: "")
            row.due = moment.now.steady.advanced(by: rule.gates.nothing)
            put(row)
        }
    }

    /// Puts an absence, and what sinks were told of it, under another source: the rule does not name the one before any more,
    /// so that no poll and no match would be asked for.
    private mutating func move(_ absence: RuleMemory, _ rule: Rule, to source: String) {
        guard let event = absence.event, event.source != source else { return }
        var absence = absence
        absence.event?.source = source
        put(absence)
        let key = rule.key(of: Subject(event))
        guard var match = table[key] else { return }
        match.key = rule.key(of: Subject(source: source, key: nil))
        // An end is the event of the match that ended the absence.
        if match.event?.kind != .resolved { match.event?.source = source }
        match.told?.event.source = source
        match.told?.latest?.source = source
        put(match)
        forget(key)
    }

    /// A match starts the time again, and ends what was announced.
    mutating func noteMatch(_ rule: Rule, _ event: Event, at moment: StepContext) {
        let now = moment.now.steady
        let old = table[rule.absenceKey]
        var row = RuleMemory(key: rule.absenceKey, identity: rule.identity, since: now)
        row.event = old?.event ?? event
        row.event?.item = nil
        row.event?.changes = []
        row.due = now.advanced(by: rule.gates.nothing)
        put(row)
        guard let absence = row.event, var match = table[rule.key(of: Subject(absence))] else { return }
        // What waits to announce the absence is no longer so, and counts for nothing.
        for wait in match.waits where wait.content == .firing && wait.gate == QuietGate.name {
            guard let event = match.event else { continue }
            suppress(rule, event, "no longer so after \(match.age(at: moment.now))", for: wait.sink, at: moment)
        }
        match.waits.removeAll { $0.content != .end }
        // It lasted from the last match.
        if let old { match.told?.since = old.since }
        put(match)
        if table[match.key] != nil { end(match, rule, by: event, at: moment) }
    }

    /// The time is over without a match. Where one may have come unseen, a later poll asks again.
    mutating func sendAbsence(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        guard row.due.map({ $0 <= moment.now.steady }) ?? false, !isAbsenceUnknown(rule) else { return }
        var row = row
        row.due = nil
        put(row)
        guard var event = row.event else { return }
        (event.id, event.kind, event.time) = (moment.identifier(), .elapsed, moment.now.wall)
        let seconds = row.seconds(at: moment.now)
        event.summary = Event.Summary(count: 0, stood: seconds)
        event.summary?.title = MessageTitle.ofAbsence(rule, after: seconds)
        begin(rule, event, at: moment)
    }
}

extension RuleMemory.Key {
    fileprivate init(absenceOf rule: String) { self.init(rule: rule, slot: .absence, name: "") }
}

extension Rule {
    fileprivate var absenceKey: RuleMemory.Key { RuleMemory.Key(absenceOf: name) }
}
