// SPDX-License-Identifier: Apache-2.0

/// The way of a match to its messages: the gates in their order, then a delivery for each sink.
extension RuleEngine {
    /// `for`: holds a match until its time, or releases it at once.
    mutating func hold(_ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        guard rule.gates.nothing == .zero else { return noteMatch(rule, event, at: now, identifier) }
        if rule.when.age != nil, event.item != nil { return holdUntilOld(rule, event, at: now, identifier) }
        guard rule.gates.pendingFor > .zero else { return count(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        // A match that is already pending keeps its time, unless the rule waits until changes stop.
        if memory.due == nil || rule.when.restartsWait {
            memory.due = now.steady.advanced(by: rule.gates.pendingFor)
        }
        memory.event = event
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }

    /// `stays`: returns whether the item is pending or was released before.
    func isHeldOrReleased(_ event: Event, _ rule: Rule) -> Bool {
        let name = Subject(event).text
        return [RuleMemory.Slot.pending, .active].contains { slot in
            memories[RuleMemory.Key(rule: rule.name, slot: slot, name: name)] != nil
        }
    }

    /// `older`: holds an item until the time in its field is as long ago as the rule says.
    private mutating func holdUntilOld(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let (field, least) = rule.when.age, let time = event.item?[field].flatMap(Timestamp.init(written:)) else {
            return
        }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        let released = RuleMemory.Key(rule: rule.name, slot: .active, name: key.name)
        guard memories[released] == nil else { return }
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        let left = time.advanced(by: least).milliseconds.addingClamped(-now.wall.milliseconds)
        memory.due = Timestamp(milliseconds: now.steady.milliseconds.addingClamped(max(0, left)))
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }

    /// `stays`: holds an item that already has the value.
    /// - Parameter since: when it got the value, on the wall clock.
    mutating func holdExisting(
        _ rule: Rule, _ event: Event, since: Timestamp, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard rule.when.age == nil else { return holdUntilOld(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .pending, name: Subject(event).text)
        var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        let age = max(0, now.wall.milliseconds - since.milliseconds)
        memory.due = Timestamp(
            milliseconds: now.steady.advanced(by: rule.gates.pendingFor).milliseconds.addingClamped(-age))
        if !put(memory) { suppressForRoom(rule, event, .pending, at: now, identifier) }
    }

    /// Suppresses a match that a gate has no room to count. To send it uncounted would break the promise of the gate.
    mutating func suppressForRoom(
        _ rule: Rule, _ event: Event, _ slot: RuleMemory.Slot, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let room = "\(RuleEngine.maximumMemories) \(slot.noun)"
        suppress(rule, event, "the rule has no room for more than \(room)", at: now, identifier)
    }

    /// Passes a match that was true for long enough to `depends`, silences and `quiet`.
    /// - Parameter count: earlier matches that were withheld.
    mutating func release(
        _ rule: Rule, _ event: Event, count: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        if let reason = unmetCondition(of: rule) { return suppress(rule, event, reason, at: now, identifier) }
        guard rememberRelease(rule, event, at: now) else {
            return suppressForRoom(rule, event, .active, at: now, identifier)
        }
        if let obstacle = obstacle(rule, event, at: now) {
            return withhold(rule, event, by: obstacle, count: count, at: now, identifier)
        }
        let withheld = count + takeEarlier(rule, event)
        if let (quiet, name, end) = quietTime(of: rule, at: now) {
            return applyQuiet(rule, event, quiet, name, until: end, count: withheld, at: now, identifier)
        }
        passQuiet(rule, event, count: withheld, at: now, identifier)
    }

    /// Forgets what a silence or `depends` held of the same subject, since this message is later. Returns the number.
    /// - Parameter sink: the only sink for which it was held; nil for all sinks.
    mutating func takeEarlier(_ rule: Rule, _ event: Event, sink: String? = nil) -> Int {
        var earlier = 0
        for slot in [RuleMemory.Slot.silenced, .blocked] {
            let key = RuleMemory.Key(rule: rule.name, slot: slot, name: event.withheldName(sink: sink))
            earlier += memories[key]?.count ?? 0
            forget(key)
        }
        return earlier
    }

    /// `stays`: remembers a released item, so that a restart does not release it again. Returns false without room.
    mutating func rememberRelease(_ rule: Rule, _ event: Event, at now: RuleTime) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: .active, name: Subject(event).text)
        guard rule.matchesExisting, memories[key] == nil else { return true }
        return put(RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady))
    }

    /// Returns the quiet time that `now` is in, with what it is called and its end.
    func quietTime(of rule: Rule, at now: RuleTime) -> (Quiet, String, Timestamp)? {
        guard let quiet = rule.gates.quiet else { return nil }
        // Windows that meet are one quiet time. It is cut after a week: windows that cover everything never end.
        var end: (String, Timestamp)?
        let week = now.wall.advanced(by: .seconds(7 * 86_400))
        while end.map({ $0.1 < week }) ?? true {
            guard let span = quiet.span(at: end?.1 ?? now.wall, civil) else { break }
            end = (end?.0 ?? span.name, span.end)
        }
        return end.map { (quiet, $0.0, $0.1) }
    }

    mutating func applyQuiet(
        _ rule: Rule, _ event: Event, _ quiet: Quiet, _ name: String, until end: Timestamp, step: Int = 0, count: Int,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let reason = "quiet \(name) until \(end.rfc3339)"
        switch quiet.action {
        case .drop: suppress(rule, event, reason, at: now, identifier)
        case .defer:
            let key = RuleMemory.Key(rule: rule.name, slot: .deferred, name: Subject(event).text)
            var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
            memory.count += count
            if let earlier = memory.event {
                memory.count += 1
                suppress(rule, earlier, "\(reason); a later one follows", at: now, identifier)
            }
            (memory.event, memory.step, memory.due, memory.isCivil) = (event, step, end, true)
            if !put(memory) { suppressForRoom(rule, event, .deferred, at: now, identifier) }
        case .digest:
            addToDigest(
                rule, event, group: "quiet", due: end, isCivil: true, replaced: count, at: now, identifier)
        }
    }

    /// Passes a match outside a quiet time to `once_per`, `digest` and `limit`.
    mutating func passQuiet(
        _ rule: Rule, _ event: Event, count: Int, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard passesOncePer(rule, event, at: now) else {
            return suppressRepetition(rule, event, at: now, identifier)
        }
        guard let digest = rule.gates.digest else { return applyLimit(rule, event, count: count, at: now, identifier) }
        let group = digest.by.value(of: event)
        switch digest.release {
        case .every(let interval):
            let due = now.steady.advanced(by: interval)
            addToDigest(rule, event, group: group, due: due, replaced: count, at: now, identifier)
        case .at(let time, let days):
            let due = time.next(after: now.wall, days: days, civil)
            addToDigest(
                rule, event, group: group, due: due, isCivil: true, replaced: count, at: now, identifier)
        }
    }

    /// `once_per`: returns whether the value is new, and remembers it.
    mutating func passesOncePer(_ rule: Rule, _ event: Event?, at now: RuleTime) -> Bool {
        guard let field = rule.gates.oncePer, let value = event?.item?[field]?.description else { return true }
        let key = RuleMemory.Key(rule: rule.name, slot: .once, name: value)
        guard memories[key] == nil else { return false }
        rememberValue(RuleMemory(key: key, identity: rule.identity, since: now.steady))
        return true
    }

    /// Forgets the value of `once_per` of a message that is not sent now.
    mutating func forgetOncePer(_ rule: Rule, _ event: Event?) {
        guard let field = rule.gates.oncePer, let value = event?.item?[field]?.description else { return }
        forget(RuleMemory.Key(rule: rule.name, slot: .once, name: value))
    }

    mutating func suppressRepetition(
        _ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let field = rule.gates.oncePer ?? ""
        let value = event.item?[field]?.description ?? ""
        suppress(rule, event, "already sent for \(field) '\(value)'", at: now, identifier)
    }

    /// Remembers a value of `once_per` or `by`. When there is no room, the oldest tenth of the values is evicted.
    mutating func rememberValue(_ memory: RuleMemory) {
        guard !put(memory) else { return }
        let values = memories.values.filter { $0.key.rule == memory.key.rule && $0.key.slot == memory.key.slot }
        let oldest = values.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        for value in oldest.prefix(RuleEngine.maximumMemories / 10) { forget(value.key) }
        put(memory)
    }

    /// `limit`: sends the message, or withholds it until the window has moved.
    mutating func applyLimit(
        _ rule: Rule, _ event: Event, count: Int, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit, event.kind != .resolved else {
            return send(rule, event, withheld: count, at: now, identifier)
        }
        let key = RuleMemory.Key(rule: rule.name, slot: .limit, name: limit.by.value(of: event))
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        let group = RowGroup(rule: rule.name, slot: .limited, name: key.name)
        let hasRoom = memory.times.count < limit.count
        if hasRoom, groups[group] == nil {
            let count = count + memory.count
            memory.count = 0
            memory.times.append(now.steady)
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            forgetCountsForRoom(memory.key, at: now)
            guard put(memory) else { return suppressForRoom(rule, event, .limit, at: now, identifier) }
            return send(rule, event, withheld: count, at: now, identifier)
        }
        guard keepWithheld(rule, event, in: group, count: count, at: now) else {
            return suppressForRoom(rule, event, .limited, at: now, identifier)
        }
        let window = DurationText.long(seconds: limit.per.inSeconds)
        suppress(rule, event, "limit of \(limit.count) per \(window); the last one follows", at: now, identifier)
        if hasRoom {
            slideWindow(memory, rule, at: now, identifier)
        } else {
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            put(memory)
        }
    }

    /// Forgets what waits only to be counted by the next message of its value, when a message of another value needs the room.
    private mutating func forgetCountsForRoom(_ key: RuleMemory.Key, at now: RuleTime) {
        guard memories[key] == nil, isFull(key) else { return }
        // All rows are searched: not for each message of a poll.
        let last = countsForgottenAt[key.rule]
        guard last.map({ $0.advanced(by: .seconds(60)) <= now.steady }) ?? true else { return }
        countsForgottenAt[key.rule] = now.steady
        for row in memories.values where row.key.rule == key.rule && row.key.slot == .limit && row.times.isEmpty {
            forget(row.key)
        }
    }

    /// The oldest message left the window of a limit: announces what was withheld, with its latest state. When all of it is
    /// over, the next message has the count.
    mutating func slideWindow(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit else { return forget(memory.key) }
        var memory = memory
        let isCountAlone = memory.times.isEmpty
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        let group = RowGroup(rule: rule.name, slot: .limited, name: memory.key.name)
        if memory.times.count < limit.count, groups[group] != nil {
            guard !deferInQuietTime(memory, rule, at: now) else { return }
            let rows = takeWithheld(group)
            if rows.contains(where: { $0.event != nil }), announce(rule, rows + [memory], at: now, identifier) {
                memory.count = 0
                memory.times.append(now.steady)
            } else {
                memory.count += rows.filter { $0.event == nil }.reduce(0) { $0 + $1.count }
            }
        } else if isCountAlone {
            return forget(memory.key)
        }
        guard !memory.times.isEmpty || memory.count > 0 else { return forget(memory.key) }
        let due = memory.times.first?.advanced(by: limit.per) ?? now.steady.advanced(by: RuleEngine.countSpan)
        (memory.due, memory.isCivil) = (due, false)
        put(memory)
    }

    // MARK: Deliveries

    /// Makes a pending delivery for each of the rule's sinks.
    /// - Parameters:
    ///   - withheld: earlier messages that were withheld.
    ///   - sink: the only sink to send it to; nil for all.
    mutating func send(
        _ rule: Rule, _ event: Event, withheld: Int, sink: String? = nil, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        // The other sinks got a message for one sink already, so it joins no group.
        guard sink != nil || !joinsGroup(rule, event, at: now, identifier) else { return }
        let targets = sink.map(rule.targets) ?? rule.notify
        // Before the delivery, which changes the value that `by` compares with.
        if event.kind == .digest { activateDigest(rule, event, at: now) } else { activate(rule, event, at: now) }
        deliver(rule, event, to: targets, suppressedBy: nil, withheld: withheld, at: now, identifier)
    }

    /// Makes a suppressed delivery for each of the rule's sinks.
    mutating func suppress(
        _ rule: Rule, _ event: Event, _ reason: String, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        deliver(rule, event, to: rule.notify, suppressedBy: reason, at: now, identifier)
    }

    /// - Parameter reason: why the messages are suppressed; nil when they are sent.
    mutating func deliver(
        _ rule: Rule, _ event: Event, to targets: [Rule.NotificationTarget], suppressedBy reason: String?,
        withheld: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let shown = announcedValues(in: event, rule)
        let stillFailing = reason == nil ? othersThatFail(rule, event) : nil
        for target in targets {
            let silence = reason == nil ? silence(of: rule, event, sink: target.sink, at: now) : nil
            let isSent = reason == nil && silence == nil
            let withheld = withheld + (isSent ? takeEarlier(rule, event, sink: target.sink) : 0)
            var delivery = rule.delivery(of: shown, to: target, withheld: withheld, at: now.wall, identifier())
            // The event itself has the values of the poll.
            delivery.message.event = event
            if target.text == nil, let stillFailing {
                delivery.message.text += (delivery.message.text.isEmpty ? "" : " · ") + stillFailing
            }
            if let reason {
                (delivery.state, delivery.reason) = (.suppressed, reason)
            } else if let silence {
                (delivery.state, delivery.reason) = (.suppressed, "silenced: \(silence.description)")
                if event.kind != .reminder, !silence.drops {
                    let group = RowGroup(rule: rule.name, slot: .silenced, name: target.sink)
                    let end = silenceEnd(of: rule, event, sink: target.sink, at: now)
                    keepWithheld(
                        rule, event, in: group, sink: target.sink, count: withheld, due: end, isCivil: true, at: now)
                }
            }
            step.deliveries.append(delivery)
        }
        if reason == nil { rememberAnnounced(rule, event, at: now) }
    }
}

extension Rule {
    /// Returns the target of that name, also one of `escalate`.
    func targets(_ sink: String) -> [NotificationTarget] {
        (notify + gates.escalate.flatMap(\.notify)).first { $0.sink == sink }.map { [$0] } ?? []
    }
}

extension Grouping {
    /// Returns the value that the event is counted under.
    func value(of event: Event) -> String {
        switch self {
        case .rule: ""
        case .item: Subject(event).text
        case .field(let name): event.item?[name]?.description ?? ""
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
