// SPDX-License-Identifier: Apache-2.0

/// `limit`: at most so many messages in a sliding window.
extension RuleEngine {
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
            // The limit withheld an earlier message of the same item when it had another value.
            let count = count + memory.count + takeEarlier(rule, event, from: [.limited], at: now, identifier)
            memory.count = 0
            memory.times.append(now.steady)
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            forgetCountsForRoom(memory.key, at: now)
            guard put(memory) else { return suppressForRoom(rule, event, .limit, at: now, identifier) }
            return send(rule, event, withheld: count, at: now, identifier)
        }
        guard keepLimited(rule, event, in: group, count: count, at: now) else {
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

    /// Keeps a message that the limit withholds, with the value of `once_per` that it uses up. Returns false without room.
    private mutating func keepLimited(
        _ rule: Rule, _ event: Event, in group: RowGroup, count: Int, at now: RuleTime
    ) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: .limited, name: event.withheldName(sink: nil))
        // The message in whose place it is will not be sent.
        if let earlier = memories[key], earlier.event != nil { forgetOncePer(rule, earlier) }
        guard keepWithheld(rule, event, in: group, count: count, at: now) else { return false }
        guard var memory = memories[key], let value = rule.valueOfOncePer(in: event) else { return true }
        memory.lines = [value]
        return put(memory)
    }

    /// A match whose message is withheld is over: the message only counts.
    mutating func endLimited(_ memory: RuleMemory, _ rule: Rule) {
        forgetOncePer(rule, memory)
        var memory = memory
        (memory.event, memory.lines) = (nil, [])
        put(memory)
    }

    /// A good poll confirmed an item whose message is withheld.
    mutating func releaseLimited(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let key = RuleMemory.Key(rule: rule.name, slot: .limit, name: memory.group)
        let limit = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        slideWindow(limit, rule, at: now, identifier)
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
            let rows = takeWithheld(group, at: now)
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
}
