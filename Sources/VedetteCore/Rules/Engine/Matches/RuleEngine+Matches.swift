// SPDX-License-Identifier: Apache-2.0

/// The beginning of a match: `for`, `at_least`, and what each sink is to be told.
extension RuleEngine {
    /// `for`: holds a match until its time, or goes on at once.
    mutating func hold(_ rule: Rule, _ event: Event, at moment: StepContext) {
        let now = moment.now.steady
        let key = rule.key(of: Subject(event))
        if var row = table[key], row.told?.isEndReleased == true, rule.gates.resolved {
            // It is true again: its end will have to be told once more.
            row.told?.isEndReleased = false
            put(row)
        }
        guard rule.gates.nothing == .zero else { return noteMatch(rule, event, at: moment) }
        if rule.when.age != nil, event.item != nil { return holdUntilOld(rule, event, at: moment) }
        guard rule.gates.pendingFor > .zero else { return count(rule, event, at: moment) }
        let held = table[key]?.held
        var due = now.advanced(by: rule.gates.pendingFor)
        // A match that is held already keeps its time, unless the rule waits until changes stop.
        if let held, !rule.when.restartsWait { due = held.due }
        hold(rule, RuleMemory.Held(event: event, due: due, since: held?.since ?? now), at: moment)
    }

    private mutating func hold(_ rule: Rule, _ held: RuleMemory.Held, at moment: StepContext) {
        let key = rule.key(of: Subject(held.event))
        var row = table[key] ?? RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
        row.held = held
        if !put(row) { suppress(rule, held.event, noRoom("pending matches"), at: moment) }
    }

    /// `stays`: returns whether the item is held or was released before.
    func isHeldOrReleased(_ event: Event, _ rule: Rule) -> Bool {
        table[rule.key(of: Subject(event))].map { $0.held != nil || $0.isTold } ?? false
    }

    /// `stays`: holds an item that already has the value.
    /// - Parameter since: when it got the value, on the wall clock.
    mutating func holdExisting(_ rule: Rule, _ event: Event, since: Timestamp, at moment: StepContext) {
        guard rule.when.age == nil else { return holdUntilOld(rule, event, at: moment) }
        let now = moment.now
        let age = max(0, now.wall.milliseconds - since.milliseconds)
        let began = Timestamp(milliseconds: now.steady.milliseconds.addingClamped(-age))
        let due = began.advanced(by: rule.gates.pendingFor)
        hold(rule, RuleMemory.Held(event: event, due: due, since: began), at: moment)
    }

    /// `older`: holds an item until the time in its field is as long ago as the rule says.
    private mutating func holdUntilOld(_ rule: Rule, _ event: Event, at moment: StepContext) {
        let row = table[rule.key(of: Subject(event))]
        // The end of an earlier match may be withheld still.
        let goesOn = row?.isStanding == true || row?.told.map { $0.ended == nil } == true
        guard let due = rule.timeOfAge(of: event, at: moment.now), !goesOn else { return }
        let held = RuleMemory.Held(
            event: event, due: due, since: moment.now.steady, wallDue: rule.wallTimeOfAge(of: event))
        hold(rule, held, at: moment)
    }

    /// `at_least`: counts a match, and begins it when it is the last one that is needed.
    mutating func count(_ rule: Rule, _ event: Event, at moment: StepContext) {
        guard let needed = rule.gates.atLeast else { return begin(rule, event, at: moment) }
        let now = moment.now.steady
        let key = RuleMemory.Key(rule: rule.name, slot: .tally, name: needed.by.value(of: event))
        var row = table[key] ?? RuleMemory(key: key, identity: rule.identity, since: now)
        row.times.removeAll { $0.time.advanced(by: needed.per) <= now }
        row.times.countMatch(at: now)
        let matches = row.times.total
        guard matches < needed.count else {
            forget(key)
            return begin(rule, event, count: needed.count - 1, at: moment)
        }
        row.due = row.times.first?.time.advanced(by: needed.per)
        guard put(row) else { return suppress(rule, event, noRoom(row.noun), at: moment) }
        let window = DurationText.long(seconds: needed.per.inSeconds)
        suppress(rule, event, "\(matches) of \(needed.count) within \(window)", at: moment)
    }

    /// The oldest match left the span of `at_least`.
    mutating func slideTally(_ row: RuleMemory, _ rule: Rule, at now: RuleTime) {
        guard let needed = rule.gates.atLeast else { return forget(row.key) }
        var row = row
        row.times.removeAll { $0.time.advanced(by: needed.per) <= now.steady }
        guard let first = row.times.first else { return forget(row.key) }
        row.due = first.time.advanced(by: needed.per)
        put(row)
    }

    /// Begins a match: no sink of the rule knows it. What a sink did not get of an earlier one is counted.
    /// - Parameter count: earlier matches that were withheld.
    mutating func begin(_ rule: Rule, _ event: Event, count: Int = 0, at moment: StepContext) {
        let key = rule.key(of: Subject(event))
        var targets = targets(of: event, rule)
        if table[key] == nil, needsNoRow(rule, event) {
            for target in targets { deliver(rule, event, to: target, withheld: count, at: moment) }
            return rememberReference(rule, event, for: targets.map(\.sink), at: moment)
        }
        var row = table[key] ?? RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
        if rule.matchesExisting {
            // A restart is not to begin it again.
            (row.isStanding, row.event) = (true, row.event ?? event)
            guard table.hasRoom(for: row) else {
                put(row)
                return suppress(rule, event, noRoom(row.noun), at: moment)
            }
        }
        if row.waits.isEmpty { row.since = moment.now.steady }
        let ends = row.waits.filter { $0.content == .end }.map(\.sink)
        targets = rule.notify.filter { target in
            ends.contains(target.sink) || targets.contains { $0.sink == target.sink }
        }
        replaceWaits(of: &row, rule, by: event, for: targets.map(\.sink), count: count, at: moment)
        // Nobody has acknowledged another match. What is over is followed by nothing until the sink is told this one.
        if let told = row.told, told.ended == nil, let match = told.acknowledgement?.match,
            match != event.id.description, !rule.isEnd(event)
        {
            row.told?.follow(at: rule.endsReminders(event) ? nil : rule.nextFollowUp(told))
        }
        (row.event, row.audience) = (event, targets.count)
        reconcile(rule, row, at: moment)
    }

    /// Whether a new match can be told at once, and nothing asks later which sinks were told it.
    private func needsNoRow(_ rule: Rule, _ event: Event) -> Bool {
        guard !rule.matchesExisting, !rule.hasFollowUps, !rule.remembersSinks(event) else { return false }
        let candidate = Candidate(rule: rule, event: event, sink: "", content: .firing)
        return !Gates.all.contains { $0.concerns(candidate, world) }
    }

    /// Lets sinks of the rule wait for a new match in the place of what they waited for. For the others what they waited for is
    /// over.
    private mutating func replaceWaits(
        of row: inout RuleMemory, _ rule: Rule, by event: Event, for sinks: [String], count: Int,
        at moment: StepContext
    ) {
        var waits: [RuleMemory.Wait] = []
        let value = rule.announcedValue(event)
        let ended = row.told.flatMap { $0.ended != nil && rule.gates.resolved ? $0 : nil }
        let isSame = ended.map { ($0.value ?? rule.announcedValue($0.event)) == value } ?? false
        // Not every sink was told the last value.
        func knows(_ sink: String) -> Bool { ended?.earlierValues[sink].map { $0 == value } ?? isSame }
        let goesOn = isSame || row.waits.contains { $0.content == .end && knows($0.sink) }
        for target in rule.notify {
            guard sinks.contains(target.sink) else {
                guard var past = row.waits.first(where: { $0.sink == target.sink }) else { continue }
                if past.content == .firing {
                    if let event = row.event, Gates.named(past.gate)?.leavesRecord == false {
                        let reason = "no longer so after \(row.age(at: moment.now))"
                        suppress(rule, event, reason, for: target.sink, at: moment)
                    }
                    (past.content, past.count) = (.count, past.count + 1)
                }
                waits.append(past)
                continue
            }
            if knows(target.sink), var end = row.waits.first(where: { $0.sink == target.sink && $0.content == .end }) {
                suppress(rule, event, "told before, and its end was withheld", for: target.sink, at: moment)
                (end.content, end.count) = (.count, end.count + 2)
                waits.append(end)
                continue
            }
            var wait = RuleMemory.Wait(.firing, target.sink)
            wait.count = count
            if let earlier = row.waits.first(where: { $0.sink == target.sink }) {
                let isReplaced = earlier.content == .firing || earlier.content == .end
                wait.count += earlier.count + (isReplaced ? 1 : 0)
                // A log goes to all sinks, so also to those that were told the value.
                let hasLog = rule.gates.digest != nil || rule.gates.quiet?.action == .digest
                if rule.gates.oncePer != nil, !hasLog, earlier.content == .firing {
                    wait.claim = earlier.claim.isEmpty ? row.event?.id.description ?? "" : earlier.claim
                }
                if isReplaced, let event = row.event, Gates.named(earlier.gate)?.leavesRecord == false {
                    suppress(rule, event, "\(earlier.reason); a later one follows", for: target.sink, at: moment)
                }
            }
            waits.append(wait)
        }
        // A sink that is told it anew needs its reminders and escalations anew.
        let isAnew = waits.contains { $0.content == .firing }
        // The sinks of an escalation get the end of this match. One that was withheld when the match ended goes on with it.
        let notified = Set(rule.notify.map(\.sink))
        for var wait in row.waits where !notified.contains(wait.sink) && wait.content != .end {
            if goesOn, !isAnew, wait.content == .count, row.told?.sinks.contains(wait.sink) == false {
                // The silence may be over: it is asked anew.
                (wait.content, wait.count, wait.gate) = (.firing, max(0, wait.count - 1), "")
            }
            waits.append(wait)
        }
        row.waits = waits
        row.leaveFor(at: moment.now)
        guard goesOn, var told = row.told else { return }
        // Who works on the match that goes on works on this one.
        let isAcknowledged =
            isSame && told.acknowledgement?.match == (told.latest ?? told.event).id.description
        if isAcknowledged { told.acknowledgement?.match = event.id.description }
        (told.ended, told.isEndReleased) = (nil, false)
        if isAnew {
            (told.since, told.step) = (moment.now.steady, 0)
            for wait in waits where wait.content == .firing { told.noteMessage(to: wait.sink, rule, at: told.since) }
        }
        let isFollowed = rule.hasFollowUps && !isAcknowledged
        told.follow(
            at: isFollowed ? rule.nextFollowUp(told) : nil,
            gate: rule.hasFollowUps && isAcknowledged ? AcknowledgedGate.name : "")
        row.told = told
    }
}

extension Rule {
    /// The value that a match announces, or the health of a source. A title shows the change of its event, also where the item has
    /// another value by then: `at_least` does not count each change.
    func announcedValue(_ event: Event) -> String? {
        guard let item = event.item else { return HealthChange(event)?.rawValue }
        let field = field ?? "state"
        return event.change(of: field).map { $0.to?.description } ?? item[field]?.description
    }

    /// `older`: returns when the time in the item's field is as long ago as the rule says, on the wall clock; nil when the rule
    /// has no such condition or the item no such time.
    func wallTimeOfAge(of event: Event) -> Timestamp? {
        guard let (field, least) = when.age else { return nil }
        return event.item?[field].flatMap(Timestamp.init(written:))?.advanced(by: least)
    }

    /// `older`: returns when that is on the steady clock, while the wall clock is not set; now when it is past.
    func timeOfAge(of event: Event, at now: RuleTime) -> Timestamp? {
        wallTimeOfAge(of: event).map { time in
            let left = time.milliseconds.addingClamped(-now.wall.milliseconds)
            return Timestamp(milliseconds: now.steady.milliseconds.addingClamped(max(0, left)))
        }
    }
}

extension Condition {
    /// Whether each match restarts `for`: a rule about changes as such has no state that could last.
    var restartsWait: Bool {
        switch self {
        case .changes, .by: true
        case .all(let parts), .any(let parts): parts.contains(where: \.restartsWait)
        default: false
        }
    }
}
