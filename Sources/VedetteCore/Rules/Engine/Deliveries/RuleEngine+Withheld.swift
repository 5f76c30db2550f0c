// SPDX-License-Identifier: Apache-2.0

/// What `depends`, silences and `limit` withhold, and announcing what is still so when they end.
extension RuleEngine {
    /// How long a limit keeps the count of messages about what is over, for its next message.
    static let countSpan = Duration.seconds(7 * 86_400)

    /// Suppresses a message, and keeps it to announce what is still so when the obstacle ends.
    /// - Parameters:
    ///   - sink: the only sink that it is for; nil for all.
    ///   - count: earlier messages that were withheld.
    mutating func withhold(
        _ rule: Rule, _ event: Event, by obstacle: Obstacle, sink: String? = nil, count: Int, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        suppress(rule, event, obstacle.reason, at: now, identifier)
        guard !obstacle.drops else { return forgetReminders(of: rule, event) }
        var count = count
        if sink == nil {
            // What another gate withheld of the same subject is older, and would be told after this.
            let others: [RuleMemory.Slot] = [.silenced, .blocked, .deferred, .limited, .grouped]
            count += takeEarlier(rule, event, from: others.filter { $0 != obstacle.slot }, at: now, identifier)
        }
        let group = RowGroup(rule: rule.name, slot: obstacle.slot, name: obstacle.slot == .silenced ? sink ?? "" : "")
        keepWithheld(rule, event, in: group, sink: sink, count: count, due: obstacle.end, isCivil: true, at: now)
    }

    /// Keeps a withheld message in the place of an earlier one about the same subject. Returns false without room.
    /// - Parameters:
    ///   - count: further messages that were withheld before.
    ///   - due: when it may be announced; nil when something else shows it.
    @discardableResult
    mutating func keepWithheld(
        _ rule: Rule, _ event: Event, in group: RowGroup, sink: String? = nil, count: Int, due: Timestamp? = nil,
        isCivil: Bool = false, at now: RuleTime
    ) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: group.slot, name: event.withheldName(sink: sink))
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.count += 1 + count
        (memory.event, memory.isAfter, memory.group, memory.sink) = (event, false, group.name, sink)
        (memory.due, memory.isCivil) = (due, due != nil && isCivil)
        return put(memory)
    }

    /// Takes the messages of a group, in the order in which they were withheld. Those that a good poll must confirm stay.
    mutating func takeWithheld(_ group: RowGroup, at now: RuleTime) -> [RuleMemory] {
        var rows: [RuleMemory] = []
        for var memory in RuleEngine.ordered(groups[group] ?? []).compactMap({ memories[$0] }) {
            guard isUncertain(memory) else {
                rows.append(memory)
                continue
            }
            (memory.due, memory.isCivil) = (now.steady, false)
            put(memory)
        }
        for row in rows { forget(row.key) }
        return rows.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
    }

    // MARK: Announcing

    /// Tells what a silence or `depends` withheld, as far as nothing withholds it any more.
    mutating func open(_ group: RowGroup, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        let quiet = quietTime(of: rule, at: now)
        var ready: [RuleMemory] = []
        for key in RuleEngine.ordered(groups[group] ?? []) {
            guard var memory = memories[key] else { continue }
            guard let event = memory.event else { continue }
            if let obstacle = obstacle(rule, event, sink: memory.sink, at: now) {
                guard obstacle.slot == group.slot else {
                    forget(key)
                    let other = RowGroup(rule: rule.name, slot: obstacle.slot)
                    keepWithheld(
                        rule, event, in: other, sink: memory.sink, count: memory.count - 1, due: obstacle.end,
                        isCivil: true, at: now)
                    continue
                }
                (memory.due, memory.isCivil) = (obstacle.end, obstacle.end != nil)
                put(memory)
            } else if isUncertain(memory) {
                (memory.due, memory.isCivil) = (now.steady, false)
                put(memory)
            } else if let (quiet, name, end) = quiet {
                if quiet.action == .drop {
                    forget(key)
                    forgetReminders(of: rule, event)
                    suppress(
                        rule, event, "quiet \(name) until \(end.rfc3339)", at: now, identifier)
                } else {
                    (memory.due, memory.isCivil) = (end, true)
                    put(memory)
                }
            } else {
                forget(key)
                ready.append(memory)
            }
        }
        ready += takeCounts(of: group, areTold: !ready.isEmpty, at: now)
        let announced = ready.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        var over = 0
        if rule.gates.digest != nil {
            over = announced.filter { $0.event == nil && $0.sink == nil }.reduce(0) { $0 + $1.count }
        }
        for memory in announced where rule.gates.digest != nil && memory.sink == nil {
            guard let event = memory.event, event.kind != .digest, event.kind != .resolved else { continue }
            passQuiet(rule, event, count: memory.count - 1 + over, at: now, identifier)
            over = 0
        }
        // The end of a match stays a message of its own, so that a receiver can tell what has ended.
        let direct = announced.filter { memory in
            memory.event?.kind != .resolved
                && (rule.gates.digest == nil || memory.sink != nil || memory.event?.kind == .digest)
        }
        var counted = over + (direct.contains { $0.event != nil } ? 0 : direct.reduce(0) { $0 + $1.count })
        for memory in announced {
            guard let event = memory.event, event.kind == .resolved else { continue }
            releaseEnd(
                rule, event, sink: memory.sink, count: memory.count - 1 + counted, at: now, identifier)
            counted = 0
        }
        // Before `once_per`, of which a suppressed message uses up no value.
        guard !suppressUnmet(rule, direct, at: now, identifier) else { return }
        // What one sink did not get has passed the gates with the message to the others.
        let new = direct.filter { $0.sink != nil || passesOncePer(rule, $0.event, at: now) }
        for sink in Set(new.map { $0.sink ?? "" }).sorted() {
            let rows = new.filter { ($0.sink ?? "") == sink }
            if announce(rule, rows, at: now, identifier), sink.isEmpty {
                countInLimit(rule, rows.compactMap(\.event), at: now)
            }
        }
    }

    /// Takes the rows of a group that only count messages about what is over. While nothing is announced, they wait for the
    /// other rows of the group, or for their own time.
    private mutating func takeCounts(of group: RowGroup, areTold: Bool, at now: RuleTime) -> [RuleMemory] {
        let rows = RuleEngine.ordered(groups[group] ?? []).compactMap { memories[$0] }
        let othersWait = rows.contains { $0.event != nil }
        var taken: [RuleMemory] = []
        for var memory in rows where memory.event == nil {
            let isDue = memory.isDue(at: now)
            if areTold || !othersWait && (isDue || memory.due == nil) {
                forget(memory.key)
                taken.append(memory)
            } else if isDue {
                memory.due = nil
                put(memory)
            }
        }
        return taken
    }

    /// Suppresses what `if` or `unless` does not let through now. Returns whether it did.
    mutating func suppressUnmet(
        _ rule: Rule, _ rows: [RuleMemory], at now: RuleTime, _ identifier: () -> Identifier
    ) -> Bool {
        guard let reason = unmetCondition(of: rule) else { return false }
        for event in rows.compactMap(\.event) {
            forgetReminders(of: rule, event)
            suppress(rule, event, reason, at: now, identifier)
        }
        return true
    }

    /// Sends one message about everything in the rows that is still so, and counts what was withheld. Returns whether it
    /// did; a message that is withheld again, or that `if` or `unless` suppresses now, counts for no gate.
    /// - Parameter rows: of all sinks, or of the same sink.
    mutating func announce(
        _ rule: Rule, _ rows: [RuleMemory], at now: RuleTime, _ identifier: () -> Identifier
    ) -> Bool {
        guard !suppressUnmet(rule, rows, at: now, identifier) else {
            for memory in rows { forgetOncePer(rule, memory) }
            return false
        }
        var announced: [RuleMemory] = []
        var count = 0
        for memory in rows {
            if let event = memory.event, let obstacle = obstacle(rule, event, sink: memory.sink, at: now) {
                forgetOncePer(rule, memory)
                withhold(rule, event, by: obstacle, count: memory.count - 1, at: now, identifier)
            } else {
                count += memory.count
                if memory.event != nil { announced.append(memory) }
            }
        }
        let events = announced.compactMap(\.event)
        guard let first = announced.first, let event = events.last else { return false }
        let later = announced.count { $0.isAfter }
        let withheld = max(0, count - announced.count + later)
        guard events.count > 1 else {
            send(rule, event, withheld: withheld, sink: first.sink, at: now, identifier)
            return true
        }
        let message = event.message(about: events, of: rule, id: identifier(), at: now.wall)
        for event in events {
            if event.kind == .digest {
                activateDigest(rule, event, at: now)
            } else {
                activate(rule, event, group: message.id.description, at: now)
            }
        }
        let targets = first.sink.map(rule.targets) ?? rule.notify
        deliverTogether(rule, events, as: message, to: targets, withheld: withheld, at: now, identifier)
        return true
    }

    /// Counts a message that passed `limit` without waiting for room, since it announces what was withheld: once under each
    /// value that its events have.
    mutating func countInLimit(_ rule: Rule, _ events: [Event], at now: RuleTime) {
        guard let limit = rule.gates.limit else { return }
        for name in Set(events.map { limit.by.value(of: $0) }).sorted() {
            let key = RuleMemory.Key(rule: rule.name, slot: .limit, name: name)
            var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
            memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
            memory.times = memory.times.suffix(limit.count - 1) + [now.steady]
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            put(memory)
        }
    }
}

extension Event {
    /// Returns the name of the row of a withheld message about this event. Digests have no subject of their own, so each has
    /// a row.
    /// - Parameter sink: the only sink that it is withheld from; nil for all.
    func withheldName(sink: String?) -> String {
        let subject = kind == .digest ? id.description : Subject(self).text
        return sink.map { subject + "\u{1E}" + $0 } ?? subject
    }
}
