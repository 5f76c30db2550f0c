// SPDX-License-Identifier: Apache-2.0

/// The rows of one rule that are announced in one message: what a gate withheld, or what a message announced and
/// reminders repeat.
struct RowGroup: Hashable, Sendable {
    var rule: String
    var slot: RuleMemory.Slot
    /// `limited`: the value that the limit counts under; `silenced`: the only sink, or empty; `grouped`: the server;
    /// `active`: the message.
    var name: String

    init(rule: String, slot: RuleMemory.Slot, name: String = "") {
        (self.rule, self.slot, self.name) = (rule, slot, name)
    }

    init(_ memory: RuleMemory) { (rule, slot, name) = (memory.key.rule, memory.key.slot, memory.group) }
}

/// Why `depends` or a silence withholds a message.
struct Obstacle: Sendable {
    var reason: String
    var slot: RuleMemory.Slot
    /// The end as wall time; nil when it is unknown.
    var end: Timestamp?
    /// Whether the message is not announced later.
    var drops = false
}

/// What `depends`, silences and `limit` withhold, and announcing what is still so when they end.
extension RuleEngine {
    /// Subjects that a message names in its lines.
    static let maximumNamed = 10
    /// Subjects that the data of a message holds.
    static let maximumParts = 1000

    // MARK: Obstacles

    /// Returns why `depends` or a silence withholds the message; nil when neither does.
    /// - Parameter sink: the only sink that it is for; nil for every sink of the rule.
    func obstacle(_ rule: Rule, _ event: Event, sink: String? = nil, at now: RuleTime) -> Obstacle? {
        if let source = unavailableSource(of: rule, for: event.source) {
            let state = failing.contains(source) ? "failing" : "down"
            return Obstacle(reason: "it depends on '\(source)', which is \(state)", slot: .blocked)
        }
        guard
            let silence = silence(of: rule, event, sink: nil, at: now)
                ?? sink.flatMap({ silence(of: rule, event, sink: $0, at: now) })
        else { return nil }
        return Obstacle(
            reason: "silenced: \(silence.description)", slot: .silenced,
            end: silenceEnd(of: rule, event, sink: sink, at: now), drops: silence.drops)
    }

    /// Returns a source of `depends` that is failing or down. Messages about a source do not depend on that source itself.
    private func unavailableSource(of rule: Rule, for source: String?) -> String? {
        rule.gates.depends.first { $0 != source && (failing.contains($0) || down.contains($0)) }
    }

    /// Returns a silence that covers the message for that sink, or for every sink.
    func silence(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Silence? {
        silences.first { $0.sink == sink && $0.covers(rule: rule.name, event, at: now.wall) }
    }

    /// Returns when the last of the silences ends that cover the message; nil when one has no time.
    func silenceEnd(of rule: Rule, _ event: Event, sink: String?, at now: RuleTime) -> Timestamp? {
        let covering = silences.filter {
            ($0.sink == nil || $0.sink == sink) && $0.covers(rule: rule.name, event, at: now.wall)
        }
        let ends = covering.map(\.until)
        return ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
    }

    // MARK: Withholding

    /// Suppresses a message, and keeps it to announce what is still so when the obstacle ends.
    /// - Parameters:
    ///   - step: escalation steps of the match that the event ends.
    ///   - count: earlier messages that were withheld.
    mutating func withhold(
        _ rule: Rule, _ event: Event, by obstacle: Obstacle, step: Int = 0, count: Int, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        suppress(rule, event, obstacle.reason, at: now, identifier)
        guard !obstacle.drops else { return forgetReminders(of: rule, event) }
        let group = RowGroup(rule: rule.name, slot: obstacle.slot)
        keepWithheld(rule, event, in: group, step: step, count: count, due: obstacle.end, isCivil: true, at: now)
    }

    /// Keeps a withheld message in the place of an earlier one about the same subject. Returns false without room.
    /// - Parameters:
    ///   - count: further messages that were withheld before.
    ///   - due: when it may be announced; nil when something else shows it.
    @discardableResult
    mutating func keepWithheld(
        _ rule: Rule, _ event: Event, in group: RowGroup, sink: String? = nil, step: Int = 0, count: Int,
        due: Timestamp? = nil, isCivil: Bool = false, at now: RuleTime
    ) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: group.slot, name: event.withheldName(sink: sink))
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.count += 1 + count
        (memory.event, memory.isAfter, memory.group, memory.sink) = (event, false, group.name, sink)
        (memory.step, memory.due, memory.isCivil) = (step, due, due != nil && isCivil)
        return put(memory)
    }

    /// Takes all messages of a group, in the order in which they were withheld.
    mutating func takeWithheld(_ group: RowGroup) -> [RuleMemory] {
        let rows = (groups[group] ?? []).compactMap { memories[$0] }
        for row in rows { forget(row.key) }
        return rows.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
    }

    // MARK: Telling

    /// Opens the groups of silences.
    mutating func openSilences(at now: RuleTime, _ identifier: () -> Identifier) {
        let silenced = groups.keys.filter { $0.slot == .silenced }
        for group in silenced.sorted(by: { ($0.rule, $0.name) < ($1.rule, $1.name) }) {
            if let rule = rules.rule(named: group.rule) { open(group, rule, at: now, identifier) }
        }
    }

    /// Lets the messages go that `depends` withheld, when no other source of `depends` is unavailable any more. Those about
    /// items wait for a good poll of their own source: its items may have looked gone only because of the outage.
    mutating func openDependencies(of rule: Rule, at now: RuleTime) {
        for key in RuleEngine.ordered(groups[RowGroup(rule: rule.name, slot: .blocked)] ?? []) {
            guard var memory = memories[key], memory.due == nil,
                unavailableSource(of: rule, for: memory.subject?.source) == nil
            else { continue }
            if memory.dependsOnItem, let source = memory.subject?.source, followed?.contains(source) == false {
                continue
            }
            (memory.due, memory.isCivil) = (now.steady, false)
            put(memory)
            if memory.dependsOnItem, let source = memory.subject?.source { unconfirmed.insert(source) }
        }
    }

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
                        rule, event, in: other, sink: memory.sink, step: memory.step, count: memory.count - 1,
                        due: obstacle.end, isCivil: true, at: now)
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
        for memory in announced where rule.gates.digest != nil && memory.sink == nil {
            guard let event = memory.event, event.kind != .digest, event.kind != .resolved else { continue }
            passQuiet(rule, event, count: memory.count - 1, at: now, identifier)
        }
        // The end of a match stays a message of its own, so that a receiver can tell what has ended.
        let direct = announced.filter { memory in
            memory.event?.kind != .resolved
                && (rule.gates.digest == nil || memory.sink != nil || memory.event?.kind == .digest)
        }
        var counted = direct.contains { $0.event != nil } ? 0 : direct.reduce(0) { $0 + $1.count }
        for memory in announced {
            guard let event = memory.event, event.kind == .resolved else { continue }
            releaseEnd(
                rule, event, sink: memory.sink, step: memory.step, count: memory.count - 1 + counted, at: now,
                identifier)
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
    private mutating func suppressUnmet(
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
            for memory in rows { forgetOncePer(rule, memory.event) }
            return false
        }
        var announced: [RuleMemory] = []
        var count = 0
        for memory in rows {
            if let event = memory.event, let obstacle = obstacle(rule, event, sink: memory.sink, at: now) {
                forgetOncePer(rule, event)
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
        let targets = first.sink.map(rule.targets) ?? rule.notify
        let message = event.message(about: events, of: rule, id: identifier(), at: now.wall)
        deliver(rule, message, to: targets, suppressedBy: nil, withheld: withheld, at: now, identifier)
        for event in events {
            if event.kind == .digest {
                activateDigest(rule, event, at: now)
            } else {
                activate(rule, event, group: message.id.description, at: now)
            }
            rememberAnnounced(rule, event, at: now)
        }
        return true
    }

    // MARK: Quiet times

    /// The quiet time is over: the matches that it deferred pass the gates again, since a silence or another quiet time may
    /// have begun. Several that would be sent now are announced in one message.
    mutating func releaseDeferred(_ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier) {
        let keys = RuleEngine.ordered(groups[RowGroup(rule: rule.name, slot: .deferred)] ?? [])
        let due = keys.compactMap { memories[$0] }.filter { $0.isDue(at: now) && !isUncertain($0) }
        for memory in due { forget(memory.key) }
        let ordered = due.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        let together = ordered.filter { $0.event.map { isSentOnRelease(rule, $0, at: now) } ?? false }
        let joined = together.count < 2 ? [] : Set(together.map(\.key))
        for memory in ordered where !joined.contains(memory.key) {
            guard let event = memory.event else { continue }
            if event.kind == .resolved {
                releaseEnd(rule, event, step: memory.step, count: memory.count, at: now, identifier)
            } else {
                release(rule, event, count: memory.count, at: now, identifier)
            }
        }
        if !joined.isEmpty { sendDeferred(rule, together, at: now, identifier) }
    }

    /// Returns whether no gate but `once_per` would hold or suppress the message.
    private func isSentOnRelease(_ rule: Rule, _ event: Event, at now: RuleTime) -> Bool {
        guard event.kind != .resolved, rule.gates.digest == nil, unmetCondition(of: rule) == nil,
            obstacle(rule, event, at: now) == nil,
            quietTime(of: rule, at: now) == nil
        else { return false }
        guard let limit = rule.gates.limit else { return true }
        let name = limit.by.value(of: event)
        let times = memories[RuleMemory.Key(rule: rule.name, slot: .limit, name: name)]?.times ?? []
        return groups[RowGroup(rule: rule.name, slot: .limited, name: name)] == nil
            && times.count { $0.advanced(by: limit.per) > now.steady } < limit.count
    }

    /// Sends one message about matches that a quiet time deferred.
    private mutating func sendDeferred(
        _ rule: Rule, _ rows: [RuleMemory], at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard !suppressUnmet(rule, rows, at: now, identifier) else { return }
        var announced: [RuleMemory] = []
        for var memory in rows {
            guard let event = memory.event else { continue }
            guard passesOncePer(rule, event, at: now) else {
                suppressRepetition(rule, event, at: now, identifier)
                continue
            }
            guard rememberRelease(rule, event, at: now) else {
                suppressForRoom(rule, event, .active, at: now, identifier)
                continue
            }
            // Like a withheld message it counts itself, too.
            memory.count += 1 + takeEarlier(rule, event)
            announced.append(memory)
        }
        if announced.count > 1 {
            for event in announced.compactMap(\.event) {
                let reason = "told after the quiet time in one message with \(counted(announced.count - 1, "other"))"
                suppress(rule, event, reason, at: now, identifier)
            }
        }
        if announce(rule, announced, at: now, identifier) {
            countInLimit(rule, announced.compactMap(\.event), at: now)
        }
    }

    /// Counts a message that passed `limit` without waiting for room, since it announces what was withheld: once under each
    /// value that its events have.
    private mutating func countInLimit(_ rule: Rule, _ events: [Event], at now: RuleTime) {
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

    /// Returns the event of a message about several events, each at its latest state. It is in the lane of this one.
    /// - Parameter rule: the rule, whose field the lines show.
    func message(about events: [Event], of rule: Rule, id: Identifier, at now: Timestamp) -> Event {
        var message = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        message.summary = Summary(
            events: events.prefix(RuleEngine.maximumLines).map(\.id.description), count: events.count,
            lines: events.prefix(RuleEngine.maximumNamed).map { $0.line(of: rule) })
        message.summary?.links = events.prefix(RuleEngine.maximumNamed).map { $0.item?.url ?? "" }
        let names = events.prefix(2).map { $0.line(of: rule) }.joined(separator: ", ")
        let more = events.count - 2
        message.summary?.title = healthTitle(of: events) ?? names + (more > 0 ? ", and \(more) more" : "")
        message.summary?.parts = events.prefix(RuleEngine.maximumParts).map(\.part)
        return message
    }

    /// One line with the latest state.
    private func line(of rule: Rule) -> String {
        let title = rule.title(of: self)
        if let error { return "\(title): \(error.detail)" }
        let announced = changes.first { $0.field == "state" }?.to?.description
        guard let announced, let state = item?.state, state != announced else { return title }
        return "\(title), now \(state)"
    }

    private var part: Summary.Part {
        Summary.Part(
            event: id.description, kind: kind.word, source: source, key: item?.key, title: item?.title,
            state: item?.state ?? error?.detail)
    }
}
