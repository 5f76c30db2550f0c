// SPDX-License-Identifier: Apache-2.0

/// What later events do to a match: it ends, or its item changes.
extension RuleEngine {
    /// The parts of a row that are about a match which is over.
    struct Over {
        var held = true
        var match = true
        var told = true
        /// Whether its rule and source still watch it.
        var isWatched = true

        var isEmpty: Bool { !held && !match && !told }
    }

    /// Updates what is remembered of the event's subject.
    /// - Returns: the rules for which the event only takes back what they never announced.
    mutating func updateRows(with event: Event, at moment: StepContext) -> Set<String> {
        var retracting = Set<String>()
        for key in table.keys(about: Subject(event)) {
            // What a rule that is gone still tells is not asked again.
            guard let row = table[key], row.key.slot == .match, let rule = rules.rule(named: key.rule) else { continue }
            if takesBack(event, row, rule) {
                retracting.insert(key.rule)
                let isGrouped = row.waits.contains { $0.gate == ServerGate.name }
                if isGrouped, let past = row.event.flatMap(HealthChange.init), rule.when.matches(event) {
                    let reason = "the message that it is \(past.rawValue) was not sent yet"
                    suppress(rule, event, reason, at: moment)
                }
            }
            update(row, rule, with: event, at: moment)
        }
        return retracting
    }

    /// Returns whether the event takes back a match that no sink was told, so that each sink knows already what it says.
    private func takesBack(_ event: Event, _ row: RuleMemory, _ rule: Rule) -> Bool {
        let isWaiting = row.waits.contains { $0.content == .firing }
        guard let past = isWaiting ? row.event : row.held?.event, event.takesBack(past) else { return false }
        return rule.notify.allSatisfy { target in
            switch HealthChange(event) {
            case .recovered: row.told?.sinks.contains(target.sink) != true
            case .failing, .stale: row.told?.sinks.contains(target.sink) == true
            case nil: !isWaiting || row.waits.contains { $0.sink == target.sink && $0.content == .firing }
            }
        }
    }

    /// Ends the parts of a row that the event ends, and takes the item's new values over into the others.
    mutating func update(_ row: RuleMemory, _ rule: Rule, with event: Event, at moment: StepContext) {
        // Only a match ends an absence, and what a log listed is told as it was.
        guard rule.gates.nothing == .zero, row.event?.kind != .digest else { return }
        // 'older': another time that is as old goes on.
        let isAsOld = event.kind == .changed && rule.isOldEnough(event, at: moment.now)
        let later = isAsOld ? event.withoutChange(of: rule.when.age?.field) : event
        func isOver(_ past: Event?) -> Bool {
            guard let past, past.kind != .resolved else { return false }
            return !rule.when.remainsTrue(since: past, after: later)
        }
        func isTakenBack(_ past: Event?) -> Bool { past.map { takesBackChange(event, of: $0, rule) } ?? false }
        let isWaiting = row.waits.contains { $0.content == .firing && !$0.isListed }
        let over = Over(
            held: isOver(row.held?.event) || isTakenBack(row.held?.event),
            match: isOver(row.event) || isWaiting && isTakenBack(row.event), told: isOver(row.told?.event))
        var row = row
        if !over.told, row.told != nil, rule.endsReminders(event) { endReminders(&row) }
        if event.kind != .disappeared, let item = event.item {
            if !over.held { row.held?.event.item = item }
            if !over.match { row.event?.item = item }
            // What a sink was told of a match that is over stays, to be compared with the next one.
            if !over.told, row.told?.ended == nil {
                row.told?.event.item = item
                row.told?.latest?.item = item
            }
        }
        if !isAsOld || over.match { showLatest(event, in: &row, rule) }
        guard over.isEmpty else { return end(row, rule, over, by: event, at: moment) }
        if row != table[row.key] { put(row) }
    }

    /// A limit of one item ends in the latest state, also when the rule does not match that: the message before the limit
    /// announced another one.
    private func showLatest(_ event: Event, in row: inout RuleMemory, _ rule: Rule) {
        guard rule.gates.limit?.by == .item, !rule.gates.resolved, rule.isRelevant(event) else { return }
        for i in row.waits.indices where row.waits[i].gate == LimitGate.name && !row.waits[i].isListed {
            if row.waits[i].content == .firing { row.waits[i].count += 1 }
            guard row.waits[i].content != .count else { continue }
            row.waits[i].content = .latest
            row.event = event
        }
    }

    private func endReminders(_ row: inout RuleMemory) {
        row.told?.follow(at: nil)
        row.group = ""
        if row.told?.sinks.isEmpty == true { row.told = nil }
    }

    /// Ends a match that is no longer true: what a sink was not told is only counted, and what it was told is to be told over.
    /// - Parameters:
    ///   - reason: why, for what waited without a record; nil for how long it was true.
    ///   - ending: the event that ended it; nil when no event shows it.
    mutating func end(
        _ row: RuleMemory, _ rule: Rule, _ over: Over = Over(), reason: String? = nil, by ending: Event? = nil,
        at moment: StepContext
    ) {
        var row = row
        let now = moment.now
        if over.held, let held = row.held {
            row.held = nil
            let age = DurationText.long(seconds: max(0, now.steady.seconds(since: held.since)))
            suppress(rule, held.event, reason ?? "no longer so after \(age)", at: moment)
        }
        if over.match {
            let reason = reason ?? "no longer so after \(row.age(at: now))"
            if ending == nil {
                for i in row.waits.indices where row.waits[i].content == .latest { row.waits[i].content = .count }
            }
            for i in row.waits.indices where row.waits[i].content == .firing && !row.waits[i].isListed {
                row.waits[i].content = .count
                row.waits[i].count += 1
                if let event = row.event, Gates.named(row.waits[i].gate)?.leavesRecord == false {
                    suppress(rule, event, reason, for: row.waits[i].sink, at: moment)
                }
            }
            markOver(&row, rule, by: ending, at: moment)
            (row.isStanding, row.group) = (false, "")
        }
        if row.held == nil { row.leaveFor(at: moment.now) }
        if over.told { endTold(&row, rule, over, by: ending, at: moment) }
        row.dropEventIfUnused()
        guard row.waits.contains(where: { $0.gate.isEmpty }) else {
            put(row)
            return
        }
        reconcile(rule, row, at: moment)
    }

    /// Ends a match that sinks were told about. Its end is sent once, and again only when the match was true in between: then
    /// the match's message may have replaced the end's.
    private mutating func endTold(
        _ row: inout RuleMemory, _ rule: Rule, _ over: Over, by ending: Event?, at moment: StepContext
    ) {
        guard var told = row.told else { return }
        told.follow(at: nil)
        row.group = ""
        if rule.gates.resolved { told.sinks = told.sinks.filter { rule.tellsEnd(to: $0) || !rule.names($0) } }
        guard rule.gates.resolved, !told.sinks.isEmpty else {
            // A recovery that is a match of its own goes to the sinks that were told the failure.
            let isMatch = ending.map(rule.when.matches) ?? false
            row.told = !told.sinks.isEmpty && isMatch ? told : nil
            return
        }
        guard !told.isEndReleased else {
            row.told = told
            return
        }
        told.isEndReleased = true
        told.ended = told.ended ?? moment.now.steady
        told.recipients = told.sinks.count
        row.told = told
        let seconds = max(0, (told.ended ?? moment.now.steady).seconds(since: told.since))
        var end = told.event.resolved(by: ending, id: moment.identifier(), at: moment.now.wall, after: seconds)
        end.summary?.acknowledgement = told.acknowledgement
        if !over.isWatched { end.summary?.title = MessageTitle.ofUnwatched(told.event) }
        row.event = end
        for sink in told.sinks {
            var wait = RuleMemory.Wait(.end, sink)
            wait.count = row.waits.first { $0.sink == sink }?.count ?? 0
            row.waits.removeAll { $0.sink == sink }
            row.waits.append(wait)
        }
        for target in rule.notify where !told.sinks.contains(target.sink) {
            let reason =
                rule.tellsEnd(to: target.sink)
                ? "this sink was not told what has ended" : "'resolved' names other sinks"
            suppress(rule, end, reason, for: target.sink, at: moment)
        }
    }
}

extension Event {
    /// Returns whether all is as it was before the other event, so that a sink that was not told it needs no message.
    fileprivate func takesBack(_ other: Event) -> Bool {
        switch (other.kind, kind) {
        case (.disappeared, .appeared), (.appeared, .disappeared), (.failing, .recovered), (.recovered, .failing),
            (.offline, .online), (.online, .offline), (.unequal, .equal), (.equal, .unequal):
            true
        default: false
        }
    }

    /// Returns a copy that changes another field, or none.
    fileprivate func withoutChange(of field: String?) -> Event {
        var copy = self
        copy.changes.removeAll { $0.field == field }
        return copy
    }

    /// Returns the event that announces the end of the match that this event made.
    /// - Parameters:
    ///   - ending: the event that ended it; nil when no event shows it.
    ///   - seconds: how long the match was true.
    fileprivate func resolved(by ending: Event?, id: Identifier, at now: Timestamp, after seconds: Double) -> Event {
        var copy = ending ?? self
        (copy.id, copy.seq, copy.kind, copy.time) = (id, 0, .resolved, now)
        if ending == nil { copy.changes = [] }
        copy.error = copy.error ?? error
        copy.summary = Summary(
            events: [self.id.description], stood: seconds, cause: ending?.kind == .disappeared ? .disappeared : nil)
        copy.summary?.title = MessageTitle.ofEnd(self, by: ending)
        return copy
    }
}

extension Rule {
    /// `older`: returns whether the time in the item's field is as long ago as the rule says.
    fileprivate func isOldEnough(_ event: Event, at now: RuleTime) -> Bool {
        wallTimeOfAge(of: event).map { $0 <= now.wall } ?? false
    }

    /// Returns whether an event of the same subject changes what the rule is about.
    fileprivate func isRelevant(_ event: Event) -> Bool {
        event.kind != .changed || field.map { event.change(of: $0) != nil } ?? false
    }
}
