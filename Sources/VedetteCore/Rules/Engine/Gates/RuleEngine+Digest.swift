// SPDX-License-Identifier: Apache-2.0

/// `digest`, and `quiet` with a digest: messages that gather several events.
extension RuleEngine {
    /// Adds an event to the digest of a group, and says so in the reason of its suppressed message.
    /// - Parameter replaced: earlier messages that were withheld.
    mutating func addToDigest(
        _ rule: Rule, _ event: Event, group: String, due: Timestamp, isCivil: Bool = false, replaced: Int,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let key = RuleMemory.Key(rule: rule.name, slot: .digest, name: group)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        if memory.due == nil { (memory.due, memory.isCivil) = (due, isCivil) }
        if memory.lines.count < MessageLimits.lines {
            // Links that are all empty are not stored.
            memory.links += Array(repeating: "", count: max(0, memory.lines.count - memory.links.count))
            memory.lines.append(rule.title(of: event))
            memory.links.append(event.item?.url ?? "")
            memory.events.append(event.id.description)
        }
        memory.count += 1
        memory.replaced += replaced
        memory.event = event
        guard put(memory) else { return suppressForRoom(rule, event, .digest, at: now, identifier) }
        prepareReminder(rule, event, in: memory.key.reminderGroup, at: now)
        let time = memory.isCivil ? memory.due?.rfc3339 : nil
        suppress(rule, event, "goes into the digest of \(time ?? "the rule")", at: now, identifier)
    }

    /// Sends a digest that is due: as its event where it has one, else as an event of its own.
    mutating func sendDigest(
        _ memory: RuleMemory, _ rule: Rule, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard !deferInQuietTime(memory, rule, at: now) else { return }
        forget(memory.key)
        guard var event = memory.event else { return }
        if memory.count > 1 {
            event = event.digest(of: memory, id: identifier(), at: now.wall)
            moveReminders(of: rule, from: memory.key.reminderGroup, to: event.id.description)
        }
        if let obstacle = obstacle(rule, event, at: now) {
            let key = RuleMemory.Key(rule: rule.name, slot: obstacle.slot, name: event.withheldName(sink: nil))
            if var later = memories[key], later.event != nil, !obstacle.drops {
                // The item's message that is withheld already is later than the only one of this digest.
                later.count += 1 + memory.replaced
                put(later)
                return suppress(rule, event, obstacle.reason, at: now, identifier)
            }
            return withhold(rule, event, by: obstacle, count: memory.replaced, at: now, identifier)
        }
        applyLimit(rule, event, count: memory.replaced, at: now, identifier)
    }
}

extension Event {
    /// Returns the event of a digest. It is in the lane of this event's source, the latest one that was gathered.
    fileprivate func digest(of memory: RuleMemory, id: Identifier, at now: Timestamp) -> Event {
        var digest = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        digest.summary = Summary(events: memory.events, count: memory.count, lines: memory.lines)
        digest.summary?.links = memory.links
        return digest
    }
}
