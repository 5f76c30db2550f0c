// SPDX-License-Identifier: Apache-2.0

/// What is sent when a quiet time is over.
extension RuleEngine {
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
}
