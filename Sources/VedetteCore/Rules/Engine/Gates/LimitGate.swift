// SPDX-License-Identifier: Apache-2.0

/// `limit`: at most so many messages to a sink in a sliding window.
enum LimitGate: Gate {
    static let name = "limited"
    static let waitingText = "told when the limit allows it"
    static let noun = "messages beyond its limit"
    /// How long the count of messages about what is over is kept for the next message.
    static let countSpan = Duration.seconds(7 * 86_400)

    static func concerns(_ candidate: Candidate, _ world: RuleWorld) -> Bool {
        // A late message has passed with those to the other sinks.
        candidate.rule.gates.limit != nil && candidate.content == .firing && !candidate.isLate
    }

    static func verdict(_ candidate: Candidate, _ engine: RuleEngine, at now: RuleTime) -> Verdict {
        guard let limit = candidate.rule.gates.limit else { return .pass }
        let key = key(candidate.rule, candidate.event)
        let row = engine.table[key] ?? RuleMemory(key: key, identity: candidate.rule.identity, since: now.steady)
        let made = row.times.count {
            $0.sinks.contains(candidate.sink) && $0.time.advanced(by: limit.per) > now.steady
        }
        let group = RowTable.Group(rule: candidate.rule.name, gate: name, name: key.name)
        let isJoining = candidate.gate != name && !engine.table.isEmpty(group)
        guard made >= limit.count || isJoining else {
            guard !engine.table.hasRoom(for: row) else { return .pass }
            return .drop("the rule has no room for more than \(RuleMemory.maximum) groups of a limit")
        }
        let window = DurationText.long(seconds: limit.per.inSeconds)
        return .wait(
            Verdict.Waiting(
                reason: "limit of \(limit.count) per \(window); the last one follows", group: key.name,
                opensGroup: made < limit.count))
    }

    static func charge(_ message: MadeMessage, _ engine: inout RuleEngine, at now: RuleTime) {
        guard let limit = message.rule.gates.limit, message.content == .firing else { return }
        for key in Set(message.events.map { key(message.rule, $0) }).sorted(by: { $0.name < $1.name }) {
            var row = engine.table[key] ?? RuleMemory(key: key, identity: message.rule.identity, since: now.steady)
            row.times.removeAll { $0.time.advanced(by: limit.per) <= now.steady }
            // A message to several sinks is one.
            let same = row.times.firstIndex { $0.time == now.steady && !$0.sinks.contains(message.sink) }
            if let same {
                row.times[same].sinks.insert(message.sink)
            } else {
                row.times.append(RuleMemory.Sent(time: now.steady, sinks: [message.sink]))
            }
            row.due = row.times.first?.time.advanced(by: limit.per)
            engine.put(row)
        }
    }

    static func key(_ rule: Rule, _ event: Event) -> RuleMemory.Key {
        RuleMemory.Key(rule: rule.name, slot: .limit, name: rule.gates.limit?.by.value(of: event) ?? "")
    }
}

extension RuleEngine {
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
        let isKept = !row.uncounted.isEmpty && table.roomLeft(for: row) > RuleMemory.maximum / 2
        guard !row.times.isEmpty || isKept || !table.isEmpty(group) else { return forget(row.key) }
        row.due = row.times.first?.time.advanced(by: limit.per) ?? now.steady.advanced(by: LimitGate.countSpan)
        put(row)
    }
}
