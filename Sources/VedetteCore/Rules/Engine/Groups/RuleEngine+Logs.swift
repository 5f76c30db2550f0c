// SPDX-License-Identifier: Apache-2.0

/// Logs: `digest`, and `quiet` with a digest, list what happened, and are sent in one message to all sinks of the rule.
extension RuleEngine {
    /// Lists the matches that the gates put into a log.
    mutating func list(_ release: inout Release, at moment: StepContext) {
        let rule = release.rule
        var over = release.lists.isEmpty ? 0 : release.counts.values.max() ?? 0
        for (i, target) in release.lists.sorted(by: { $0.key < $1.key }) {
            guard let event = release.rows[i].event else { continue }
            let listed = release.rows[i].waits.filter { $0.isIn(release.group) && $0.content != .count }
            let replaced = (listed.map(\.count).max() ?? 0) + over
            over = 0
            release.rows[i].waits.removeAll(where: listed.contains)
            for sink in listed.filter({ $0.content == .end }).map(\.sink) { release.rows[i].forgetTold(sink) }
            list(event, rule, target, replaced: replaced, &release.rows[i], at: moment)
        }
    }

    private mutating func list(
        _ event: Event, _ rule: Rule, _ target: Verdict.ListTarget, replaced: Int, _ row: inout RuleMemory,
        at moment: StepContext
    ) {
        let key = RuleMemory.Key(rule: rule.name, slot: .log, name: target.name)
        var log = table[key] ?? RuleMemory(key: key, identity: rule.logIdentity, since: moment.now.steady)
        log.sinks = rule.notify.map(\.sink)
        if log.due == nil { (log.due, log.isCivil) = (target.due, target.isCivil) }
        if log.lines.count < MessageLimits.lines {
            // Links that are all empty are not stored.
            log.links += Array(repeating: "", count: max(0, log.lines.count - log.links.count))
            log.lines.append(rule.title(of: event))
            log.links.append(event.item?.url ?? "")
            log.events.append(event.id.description)
        }
        if log.parts.count < MessageLimits.parts { log.parts += event.parts }
        log.count += 1
        log.replaced += replaced
        log.event = event
        guard put(log) else { return suppress(rule, event, RuleEngine.noRoom(log.noun), at: moment) }
        // A match that is reminded of already stays as it is.
        if rule.gates.remind != nil, row.told?.due == nil { row.group = key.listingGroup }
        let time = log.isCivil ? log.due?.rfc3339 : nil
        suppress(rule, event, "goes into the digest of \(time ?? "the rule")", at: moment)
    }

    /// Sends a log that is due: as its event where it has one, else as an event of its own.
    mutating func closeLog(_ log: RuleMemory, _ rule: Rule, at moment: StepContext) {
        let now = moment.now
        if let (_, _, end) = world.quietTime(of: rule, at: now) {
            var log = log
            (log.due, log.isCivil) = (end, true)
            put(log)
            return
        }
        forget(log.key)
        guard var event = log.event else { return }
        var key = rule.key(of: Subject(event))
        if log.count > 1 {
            event = event.digest(of: log, rule, id: moment.identifier(), at: now.wall)
            key = RuleMemory.Key(rule: rule.name, slot: .match, name: event.id.description)
            moveListed(of: rule, from: log.key.listingGroup, to: event.id.description)
        }
        var row = table[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        if row.event != nil, let later = row.waits.first(where: { $0.content == .firing && !$0.isListed }) {
            // The item's message that is withheld already is later than the only one of this log.
            for i in row.waits.indices { row.waits[i].count += 1 + log.replaced }
            suppress(rule, event, later.reason, at: moment)
            put(row)
            return
        }
        (row.event, row.audience) = (event, rule.notify.count)
        for target in rule.notify {
            var wait = RuleMemory.Wait(.firing, target.sink)
            wait.count = log.replaced + (row.waits.first { $0.sink == target.sink }?.count ?? 0)
            wait.isListed = true
            row.waits.removeAll { $0.sink == target.sink }
            row.waits.append(wait)
        }
        reconcile(rule, row, at: moment)
    }

    /// Moves the matches of a log to the message that announces them.
    private mutating func moveListed(of rule: Rule, from group: String, to message: String) {
        for key in table.keys(in: RowTable.Group(rule: rule.name, name: group)) {
            guard var row = table[key] else { continue }
            row.group = message
            put(row)
        }
    }
}

extension RuleMemory.Key {
    /// The group of the matches that a log lists and that are still true.
    fileprivate var listingGroup: String { "digest " + name }
}

extension Event {
    /// Returns the event of a log. It is in the lane of this event's source, the latest one that was listed.
    fileprivate func digest(of log: RuleMemory, _ rule: Rule, id: Identifier, at now: Timestamp) -> Event {
        var digest = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        digest.summary = Summary(events: log.events, count: log.count, lines: log.lines)
        digest.summary?.links = log.links
        digest.summary?.parts = log.parts
        digest.summary?.title = MessageTitle.ofDigest(log, of: rule)
        return digest
    }
}
