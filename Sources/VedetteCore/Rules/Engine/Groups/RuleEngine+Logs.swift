// SPDX-License-Identifier: Apache-2.0

/// Logs: `digest`, and `quiet` with a digest, list what happened, and are sent in one message. What is for some sinks of the
/// rule only, as an end can be, has a log of its own.
extension RuleEngine {
    /// Lists the matches and ends that the gates put into a log.
    mutating func list(_ release: inout Release, at moment: StepContext) {
        let rule = release.rule
        var over = release.lists.isEmpty ? 0 : release.counts.values.max() ?? 0
        for (i, target) in release.lists.sorted(by: { $0.key < $1.key }) {
            guard let event = release.rows[i].event else { continue }
            let listed = release.rows[i].waits.filter { $0.isIn(release.group) && $0.content != .count }
            guard !listed.isEmpty else { continue }
            let replaced = (listed.map(\.count).max() ?? 0) + over
            over = 0
            release.rows[i].waits.removeAll(where: listed.contains)
            for sink in listed.filter({ $0.content == .end }).map(\.sink) { release.rows[i].forgetTold(sink) }
            list(event, rule, target, for: listed.map(\.sink), replaced: replaced, &release.rows[i], at: moment)
        }
    }

    private mutating func list(
        _ event: Event, _ rule: Rule, _ target: Verdict.ListTarget, for sinks: [String], replaced: Int,
        _ row: inout RuleMemory, at moment: StepContext
    ) {
        let isForAll = Set(sinks) == Set(rule.notify.map(\.sink))
        let name = ([target.name] + (isForAll ? [] : sinks.sorted())).joined(separator: "\u{1F}")
        let key = RuleMemory.Key(rule: rule.name, slot: .log, name: name)
        var log = table[key] ?? RuleMemory(key: key, identity: rule.logIdentity, since: moment.now.steady)
        log.sinks = isForAll ? rule.notify.map(\.sink) : sinks.sorted()
        if log.due == nil { (log.due, log.isCivil) = (target.due, target.isCivil) }
        if log.lines.count < MessageLimits.lines {
            // Links that are all empty are not stored.
            log.links += Array(repeating: "", count: max(0, log.lines.count - log.links.count))
            log.lines.append(rule.title(of: shown(event, rule, to: sinks.first ?? "")))
            log.links.append(event.item?.url ?? "")
            log.events.append(event.id.description)
        }
        if log.parts.count < MessageLimits.parts { log.parts += event.parts }
        log.count += 1
        log.replaced += replaced
        log.event = event
        let value = OncePerGate.value(rule, event).map { [$0] } ?? []
        if log.values.count < MessageLimits.parts { log.values += value }
        guard put(log) else {
            releaseValues(value, of: rule.name, for: sinks)
            return suppress(rule, event, noRoom(log.noun), to: sinks, at: moment)
        }
        if event.kind != .resolved { rememberReference(rule, event, for: sinks, isListed: true, at: moment) }
        for sink in sinks where rule.remembersListed(event) {
            row.listings.removeAll { $0.sink == sink && $0.group == key.name }
            row.listings.append(
                RuleMemory.Listing(
                    sink: sink, group: key.name, match: event.id.description, value: rule.announcedValue(event),
                    groups: rule.groups(of: event)))
        }
        let time = log.isCivil ? log.due?.rfc3339 : nil
        suppress(rule, event, "goes into the digest of \(time ?? "the rule")", to: sinks, at: moment)
    }

    /// Marks the match in the logs and messages that list it and are not sent yet: it is over. Their sinks need no other end.
    mutating func markOver(_ row: inout RuleMemory, _ rule: Rule, by ending: Event?, at moment: StepContext) {
        let listings = Dictionary(grouping: row.listings) { [$0.group, $0.match] }.values
        row.listings = []
        for same in listings.sorted(by: { $0[0].group < $1[0].group }) {
            guard markOver(same[0], rule, by: ending, at: moment) else { continue }
            for listing in same { row.forgetTold(listing.sink) }
        }
    }

    private mutating func markOver(
        _ listing: RuleMemory.Listing, _ rule: Rule, by ending: Event?, at moment: StepContext
    ) -> Bool {
        if var log = table[RuleMemory.Key(rule: rule.name, slot: .log, name: listing.group)] {
            if let i = log.events.firstIndex(of: listing.match) { log.lines[i] += Event.Summary.overMark }
            let isMarked = log.parts.markOver(listing.match, by: ending)
            put(log)
            return isMarked
        }
        guard var row = table[rule.key(ofMessage: listing.group)], var message = row.event else { return false }
        if message.kind != .digest {
            message = message.message(about: [message], of: rule, id: message.id, at: moment.now.wall)
        }
        let isMarked = message.summary?.markOver(listing.match, by: ending) ?? false
        row.event = message
        put(row)
        return isMarked
    }

    /// Puts logs that are due together in the order of their latest events: one item can be in several of them.
    func logsByAge(_ keys: [RuleMemory.Key]) -> [RuleMemory.Key] {
        let places = keys.indices.filter { keys[$0].slot == .log }
        guard places.count > 1 else { return keys }
        let sorted = places.map { keys[$0] }.sorted { one, other in
            (table[one]?.event?.id.description ?? "") < (table[other]?.event?.id.description ?? "")
        }
        var keys = keys
        for (place, key) in zip(places, sorted) { keys[place] = key }
        return keys
    }

    /// Lets the log of a quiet time be due at its end as the windows are now, and sends it where they have none.
    mutating func moveQuietLogs(at moment: StepContext) {
        for key in logsByAge(table.keys.filter(\.isQuietLog)) where fires(key.rule) {
            guard let log = table[key], let rule = rule(of: key) else { continue }
            if log.due != world.quietTime(of: rule, at: moment.now)?.2 { closeLog(log, rule, at: moment) }
        }
    }

    /// Sends a log that is due: as its event where it has one that is not over, else as an event of its own.
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
        if log.count > 1 || log.parts.first?.isOver == true {
            event = event.digest(of: log, rule, id: moment.identifier(), at: now.wall)
        }
        let key = rule.key(ofMessage: event.id.description)
        moveListed(from: RowTable.Group(listing: log.key), to: key.name)
        var row = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
        // A journal from before the sinks were stored has none.
        let sinks = log.sinks.isEmpty ? rule.notify.map(\.sink) : log.sinks
        (row.audience, row.values) = (sinks.count, log.values)
        for sink in sinks {
            var wait = RuleMemory.Wait(.firing, sink)
            (wait.count, wait.isListed) = (log.replaced, true)
            row.waits.append(wait)
        }
        reconcile(rule, row, at: moment)
    }

    /// Moves the matches of a log to the message that announces them.
    private mutating func moveListed(from group: RowTable.Group, to message: String) {
        for key in table.keys(in: group) {
            guard var row = table[key] else { continue }
            for i in row.listings.indices where row.listings[i].group == group.name { row.listings[i].group = message }
            put(row)
        }
    }

    /// Ends the listing of matches in a message that a sink was told, or is never told.
    mutating func takeListed(
        in message: Event, _ rule: Rule, for sink: String, isTold: Bool, at moment: StepContext
    ) {
        let id = message.id.description
        for key in table.keys(in: RowTable.Group(listing: rule.key(ofMessage: id))) {
            guard var row = table[key],
                let i = row.listings.firstIndex(where: { $0.sink == sink && $0.group == id })
            else { continue }
            let listing = row.listings.remove(at: i)
            if isTold, let event = row.event {
                if !row.isKnown(to: sink, rule) {
                    note(&row, rule, event, sink, in: message.kind == .digest ? id : "", isListed: true, at: moment)
                }
                // A later match, which was dropped, can be in its place; and the sink can know an earlier one.
                row.told?.noteValue(listing.value, of: sink)
                // The fields by which ends are grouped may have changed since it was listed.
                if !listing.groups.isEmpty { row.told?.groups = listing.groups }
            }
            row.dropEventIfUnused()
            guard !put(row) else { continue }
            // Beyond the room for matches that were told nothing is remembered of them.
            row.told = nil
            put(row)
        }
    }
}

extension RuleMemory {
    /// A log, or the message that it became, which is to tell a sink a match.
    struct Listing: Sendable, Hashable {
        var sink: String
        /// The name of the log's row or of the message's row.
        var group: String
        /// The id of the event.
        var match: String
        /// The value that it announces.
        var value: String?
        /// `digest` and `limit` by a field: its value when the match was listed, by the field's name.
        var groups: [String: String] = [:]
    }

    /// Whether it is the message of a log that is closed.
    var isLogMessage: Bool { waits.contains(where: \.isListed) }

    /// Whether the sink was told the match, or an earlier one in whose place it is.
    fileprivate func isKnown(to sink: String, _ rule: Rule) -> Bool {
        guard let told, told.ended == nil else { return false }
        if rule.gates.resolved, !told.sinks.contains(sink) { return false }
        guard rule.gates.remind == nil else { return told.lastMessages[sink] != nil }
        return rule.gates.resolved || told.isFollowed
    }
}

extension RuleMemory.Key {
    /// Whether it is the log of a quiet time, and not of `digest`.
    fileprivate var isQuietLog: Bool {
        slot == .log && name.prefix { $0 != "\u{1F}" } == QuietGate.logName
    }
}

extension RowTable.Group {
    /// The matches that a log lists, or the message that it became.
    init(listing key: RuleMemory.Key) { self.init(rule: key.rule, gate: "listed", name: key.name) }
}

extension Rule {
    /// Whether something is remembered of a match that a log lists.
    func remembersListed(_ event: Event) -> Bool { event.kind != .resolved && (hasFollowUps || remembersSinks(event)) }

    /// The row of the message that a log became.
    fileprivate func key(ofMessage id: String) -> RuleMemory.Key { RuleMemory.Key(rule: name, slot: .match, name: id) }
}

extension Event.Summary {
    /// The end of a line about a match that was over before it was told.
    fileprivate static let overMark = " (over)"

    fileprivate mutating func markOver(_ event: String, by ending: Event?) -> Bool {
        if let i = events.firstIndex(of: event), lines.indices.contains(i) { lines[i] += Event.Summary.overMark }
        return parts.markOver(event, by: ending)
    }
}

extension [Event.Summary.Part] {
    /// Returns whether the match is among them.
    fileprivate mutating func markOver(_ event: String, by ending: Event?) -> Bool {
        guard let i = lastIndex(where: { $0.event == event }) else { return false }
        self[i].isOver = true
        self[i].state = ending?.presentState
        return true
    }
}

extension Event {
    /// Returns the event of a log. It is in the lane of this event's source, the latest one that was listed.
    fileprivate func digest(of log: RuleMemory, _ rule: Rule, id: Identifier, at now: Timestamp) -> Event {
        var digest = Event(
            id: id, kind: .digest, time: now, source: source, sourceKind: sourceKind, poll: poll)
        digest.summary = Summary(events: log.events, count: log.count, lines: log.lines)
        digest.summary?.links = log.links
        digest.summary?.parts = log.parts
        digest.summary?.group = MessageTitle.group(of: log, rule)
        digest.summary?.title = MessageTitle.ofDigest(log, of: rule)
        return digest
    }
}
