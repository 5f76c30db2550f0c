// SPDX-License-Identifier: Apache-2.0

/// What polls and time change in the rows: a good poll confirms what is remembered of its items, and a deadline is reached.
extension RuleEngine {
    /// Updates what is remembered of a source's items from a new baseline, since no event shows what changed or is gone.
    /// - Parameter isWhole: whether an item that is not in it is gone.
    mutating func rebaseline(
        _ source: String, _ items: [StoredItem], isWhole: Bool = true, at moment: StepContext
    ) {
        let keys = table.keys(of: source)
        guard !keys.isEmpty else { return }
        let stored = Dictionary(items.map { ($0.key, $0) }) { _, last in last }
        for key in keys {
            guard let row = table[key], let rule = rule(of: key), var event = row.lastEvent, let name = event.item?.key
            else { continue }
            let wasGone = event.kind == .disappeared
            if var item = stored[name]?.item {
                // Another address or kind may show no title.
                item.title = item.title ?? event.item?.title
                let (from, to) = (event.item?.state, item.state)
                let change = FieldChange(field: "state", from: from.map(Value.text), to: to.map(Value.text))
                (event.item, event.kind) = (item, wasGone ? .appeared : .changed)
                event.changes = from == to || wasGone ? [] : [change]
                update(row, rule, with: event, at: moment)
            } else if isWhole, !wasGone {
                end(row, rule, reason: "it is not in the new baseline of its source", at: moment)
            }
        }
    }

    /// Ends the matches of items that left without an event.
    mutating func forgetItems(_ names: Set<String>, of source: String, at moment: StepContext) {
        guard !names.isEmpty else { return }
        for name in names { forgetReferences(of: Subject(source: source, key: name)) }
        for key in table.keys(of: source) {
            guard let row = table[key], let rule = rule(of: key), let event = row.lastEvent,
                let name = event.item?.key, names.contains(name), event.kind != .disappeared
            else { continue }
            end(row, rule, reason: "its source no longer shows it", at: moment)
        }
    }

    /// Tells what waited for a good poll of this source. Called after the poll's events.
    /// - Parameter events: the poll's events.
    mutating func confirm(_ source: String, missing absent: Set<String>, _ events: [Event], at moment: StepContext) {
        world.confirm(source, &step.world)
        setMissing(table.hasRows(of: source) ? absent : [], of: source)
        let keys = RowTable.ordered(Set(table.keysToConfirm(by: source) + absences(confirmedBy: source)))
        // What is a match again by now is not to be told over with the ends of other items.
        for key in keys {
            guard let row = table[key], row.waits.contains(where: { $0.content == .end }), !world.isUncertain(row),
                let rule = rule(of: key)
            else { continue }
            leaveHold(row, rule, at: moment)
        }
        for key in keys {
            guard let row = table[key], !world.isUncertain(row) else { continue }
            expire(row, byPoll: true, at: moment)
        }
        // No event says that a source is no longer stale or suspect; a good poll does.
        for key in table.keys(about: Subject(source: source, key: nil)) {
            guard let row = table[key], let event = row.lastEvent, [.stale, .suspect].contains(event.kind),
                !events.contains(where: { $0.id == event.id }), let rule = rule(of: key)
            else { continue }
            end(row, rule, at: moment)
        }
    }

    /// Records that a poll failed, or that the source is no longer polled. Messages about its items wait for the next
    /// good poll.
    public mutating func pollFailed(_ source: String) {
        if hasRows(of: source) { world.doubt(source) }
    }

    /// Does what a row that is due waits for.
    /// - Parameter byPoll: whether a good poll showed its item.
    mutating func expire(_ row: RuleMemory, byPoll: Bool = false, at moment: StepContext) {
        guard let rule = rule(of: row.key) else { return }
        switch row.key.slot {
        case .match: expireMatch(row, rule, isConfirmed: byPoll || !row.dependsOnItem, at: moment)
        case .limit: slideWindow(row, rule, at: moment)
        case .log: closeLog(row, rule, at: moment)
        case .server: closeServerGroup(row, rule, at: moment)
        case .tally: slideTally(row, rule, at: moment.now)
        case .absence: sendAbsence(row, rule, at: moment)
        case .reference, .once, .failed: break
        }
    }

    /// Counts the match that a row holds until now.
    private mutating func leaveHold(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        guard let held = row.held else { return }
        var row = row
        let now = moment.now.steady
        let due = rule.timeOfAge(of: held.event, at: moment.now) ?? held.due
        guard due <= now else {
            // 'older': the wall clock was set back.
            guard held.due <= now else { return }
            row.held?.due = due
            put(row)
            return table.renewTimers(of: row.key)
        }
        row.held = nil
        put(row)
        count(rule, held.event, at: moment)
        // Where `at_least` waits for more, the earlier match goes on.
        if var row = table[row.key], row.leaveFor(at: moment.now) { reconcile(rule, row, at: moment) }
    }

    /// `older`: lets the next good poll confirm what is old enough by now, since the wall clock was set forward.
    private mutating func hastenHold(_ row: RuleMemory, _ rule: Rule, at now: RuleTime) {
        guard let held = row.held, held.due > now.steady, let due = rule.timeOfAge(of: held.event, at: now),
            due <= now.steady
        else { return }
        var row = row
        row.held?.due = due
        put(row)
    }

    /// - Parameter isConfirmed: whether more than time alone shows that a match holds, or is over, as long as the rule asks.
    private mutating func expireMatch(
        _ row: RuleMemory, _ rule: Rule, isConfirmed: Bool, at moment: StepContext
    ) {
        if isConfirmed { leaveHold(row, rule, at: moment) } else { hastenHold(row, rule, at: moment.now) }
        let due = row.waits.filter { wait in
            (wait.isDue(at: moment.now) || wait.awaitsPoll) && (isConfirmed || !row.isConfirmed(wait))
        }
        for wait in due {
            reconcile(rule, RowTable.Group(rule: rule.name, gate: wait.gate, name: wait.group), at: moment)
        }
        if let row = table[row.key], row.told?.isDue(at: moment.now) == true { sendFollowUps(row, rule, at: moment) }
    }
}

extension RuleMemory {
    /// An event of its subject.
    var lastEvent: Event? { event ?? held?.event ?? told?.event }

    /// What rows of this kind are, in the plural.
    var noun: String {
        switch key.slot {
        case .match:
            waits.lazy.compactMap { Gates.named($0.gate)?.noun }.first
                ?? (isTold ? "active matches" : "pending matches")
        case .limit: "groups of a limit"
        case .log: "digests"
        case .server: "servers"
        case .tally: "groups of 'at_least'"
        case .absence: "times without a match"
        case .reference, .once: "values"
        case .failed: "failures"
        }
    }
}
