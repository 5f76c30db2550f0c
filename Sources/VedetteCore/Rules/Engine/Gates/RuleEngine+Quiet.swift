// SPDX-License-Identifier: Apache-2.0

/// `quiet`: what happens to a match in a quiet time, and what is sent when that is over.
extension RuleEngine {
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
        _ rule: Rule, _ event: Event, _ quiet: Quiet, _ name: String, until end: Timestamp, count: Int,
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
            (memory.event, memory.due, memory.isCivil) = (event, end, true)
            if !put(memory) { suppressForRoom(rule, event, .deferred, at: now, identifier) }
        case .digest:
            guard event.kind == .resolved || passesOncePer(rule, event, at: now) else {
                return suppressRepetition(rule, event, at: now, identifier)
            }
            addToDigest(
                rule, event, group: "quiet", due: end, isCivil: true, replaced: count, at: now, identifier)
        }
    }

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
                releaseEnd(rule, event, count: memory.count, at: now, identifier)
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
            memory.count += 1 + takeEarlier(rule, event, from: [.silenced, .blocked], at: now, identifier)
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
}
