// SPDX-License-Identifier: Apache-2.0

/// `limit`: at most so many messages to a sink in a sliding window. The ends of a group that several subjects share do not
/// count: the first one since the group's last message is told at once, and further ones are told together.
enum LimitGate: Gate {
    static let name = "limited"
    static let waitingText = "told when the limit allows it"
    static let noun = "messages beyond its limit"
    /// How long the count of messages about what is over is kept for the next message.
    static let countSpan = Duration.seconds(7 * 86_400)

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        // A late message has passed with those to the other sinks.
        guard let limit = candidate.rule.gates.limit else { return false }
        switch candidate.content {
        case .firing: return !candidate.isLate
        case .end: return limit.by != .item && candidate.event.item != nil
        case .followUp: return false
        }
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let limit = candidate.rule.gates.limit else { return .pass }
        let key = key(candidate.rule, candidate.event, engine)
        let row = engine.table[key] ?? RuleMemory(key: key, identity: candidate.rule.identity, since: now.steady)
        let recent = row.times.filter {
            $0.sinks.contains(candidate.sink) && $0.time.advanced(by: limit.per) > now.steady
        }
        guard candidate.content != .end else {
            // What ends in one step is told together.
            guard candidate.gate == name else { return .wait(Verdict.Waiting(group: key.name, joinsStep: true)) }
            guard let last = recent.last, last.isEnd else { return .pass }
            let window = DurationText.long(seconds: limit.per.inSeconds)
            return .wait(Verdict.Waiting(reason: "an end was told within \(window)", group: key.name))
        }
        let made = recent.filter { !$0.isEnd }.total
        let group = RowTable.Group(rule: candidate.rule.name, gate: name, name: key.name)
        let isJoining = candidate.gate != name && !engine.table.isEmpty(group)
        guard made >= limit.count || isJoining else {
            guard !engine.table.hasRoom(for: row) else { return .pass }
            return .drop("the rule has no room for more than \(engine.table.maximum) groups of a limit")
        }
        let window = DurationText.long(seconds: limit.per.inSeconds)
        return .wait(
            Verdict.Waiting(
                reason: "limit of \(limit.count) per \(window); the last one follows", group: key.name,
                opensGroup: made < limit.count))
    }

    static func charge(_ message: MadeMessage, _ engine: inout RuleEngine, at now: RuleTime) {
        guard let limit = message.rule.gates.limit, message.content != .followUp else { return }
        let isEnd = message.content == .end
        guard !isEnd || limit.by != .item && message.events.allSatisfy({ $0.item != nil }) else { return }
        for key in Set(message.events.map { key(message.rule, $0, engine) }).sorted(by: { $0.name < $1.name }) {
            var row = engine.table[key] ?? RuleMemory(key: key, identity: message.rule.identity, since: now.steady)
            row.times.removeAll { $0.time.advanced(by: limit.per) <= now.steady }
            row.times.countMessage(to: message.sink, isEnd: isEnd, at: now.steady)
            row.due = row.times.first?.time.advanced(by: limit.per)
            engine.put(row)
        }
    }

    /// The row that counts a message.
    static func key(_ rule: Rule, _ event: Event, _ engine: RuleEngine) -> RuleMemory.Key {
        let name = rule.gates.limit.map { engine.group(of: event, rule, by: $0.by) } ?? ""
        return RuleMemory.Key(rule: rule.name, slot: .limit, name: name)
    }
}

extension RuleEngine {
    /// Returns the group that a message is in: an end is in the group of the match that was told, also where its item has another
    /// value of the field by then.
    func group(of event: Event, _ rule: Rule, by grouping: Grouping) -> String {
        let told = event.kind == .resolved ? table[rule.key(of: Subject(event))]?.told : nil
        if case .field(let name) = grouping, let group = told?.groups[name] { return group }
        return grouping.value(of: told?.event ?? event)
    }

    /// The oldest message left the window of a limit: tells what was withheld. When all of it is over, the next message has the
    /// count.
    mutating func slideWindow(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        let now = moment.now
        guard let limit = rule.gates.limit else { return forget(row.key) }
        let isCountAlone = row.times.isEmpty
        let group = RowTable.Group(rule: rule.name, gate: LimitGate.name, name: row.key.name)
        let isWaiting = !table.isEmpty(group)
        if isWaiting { reconcile(rule, group, at: moment) }
        guard var row = table[row.key], isWaiting || !isCountAlone else { return forget(row.key) }
        row.times.removeAll { $0.time.advanced(by: limit.per) <= now.steady }
        // A count gives its room to the groups of further messages.
        let isKept = !row.uncounted.isEmpty && table.roomLeft(for: row) > table.maximum / 2
        guard !row.times.isEmpty || isKept || !table.isEmpty(group) else { return forget(row.key) }
        row.due = row.times.first?.time.advanced(by: limit.per) ?? now.steady.advanced(by: LimitGate.countSpan)
        put(row)
    }
}
