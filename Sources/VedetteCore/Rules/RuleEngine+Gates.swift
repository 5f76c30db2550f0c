// SPDX-License-Identifier: Apache-2.0

/// The gates, in their order.
extension RuleEngine {
    /// An event that a rule matched.
    mutating func matched(_ rule: Rule, _ event: Event, at now: RuleTime, _ identifier: () -> Identifier) {
        guard rule.gates.hold > .zero else { return release(rule, event, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .held, name: Subject(event).text)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        // It was true already: the wait goes on, unless the rule waits for changes to come to rest.
        if memory.due == nil || rule.when.waitsForRest {
            memory.due = now.steady.advanced(by: rule.gates.hold)
        }
        memory.event = event
        if !put(memory) { release(rule, event, at: now, identifier) }
    }

    /// An item that is in the value a `stays` rule waits for, although nothing told of it: seen first, or the rule is new.
    /// - Parameter since: when it came into it, on the wall clock.
    mutating func found(_ rule: Rule, _ event: Event, since: Timestamp, at now: RuleTime) {
        let key = RuleMemory.Key(rule: rule.name, slot: .held, name: Subject(event).text)
        let said = RuleMemory.Key(rule: rule.name, slot: .standing, name: key.name)
        if memories[key] == nil, memories[said] == nil, rule.when.isMet(by: event) {
            var memory = RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady)
            let age = max(0, now.wall.milliseconds - since.milliseconds)
            memory.due = Timestamp(
                milliseconds: now.steady.advanced(by: rule.gates.hold).milliseconds.addingClamped(-age))
            put(memory)
        }
    }

    /// A match that was true for long enough.
    mutating func release(
        _ rule: Rule, _ event: Event, count: Int = 0, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        rememberFound(rule, event, at: now)
        if let reason = whySilent(rule, event, at: now) { return suppress(rule, event, reason, at: now, identifier) }
        if let (quiet, name, end) = quietTime(of: rule, at: now) {
            return keepQuiet(rule, event, quiet, name, until: end, count: count, at: now, identifier)
        }
        pass(rule, event, count: count, at: now, identifier)
    }

    /// Of a rule that seeks what is so it is remembered that it was released: found again, by a restart, it is no news.
    private mutating func rememberFound(_ rule: Rule, _ event: Event, at now: RuleTime) {
        let key = RuleMemory.Key(rule: rule.name, slot: .standing, name: Subject(event).text)
        guard rule.matchesExisting, memories[key] == nil else { return }
        put(RuleMemory(key: key, identity: rule.identity, event: event, since: now.steady))
    }

    /// Why the rule may say nothing of it now.
    func whySilent(_ rule: Rule, _ event: Event, at now: RuleTime) -> String? {
        if let source = rule.gates.depends.first(where: failing.contains), source != event.source {
            return "it depends on '\(source)', which is failing"
        }
        let silence = silences.first { $0.covers(rule: rule.name, event, at: now.wall) }
        return silence.map { "silenced: \($0.description)" }
    }

    func quietTime(of rule: Rule, at now: RuleTime) -> (Quiet, String, Timestamp)? {
        guard let quiet = rule.gates.quiet else { return nil }
        // Windows that meet are one, over a week at most: such as never end would never let anything be said.
        var end: (String, Timestamp)?
        let week = now.wall.advanced(by: .seconds(7 * 86_400))
        while end.map({ $0.1 < week }) ?? true {
            let at = end?.1 ?? now.wall
            let ends = quiet.windows.compactMap { window in window.end(of: at, civil).map { (window.name, $0) } }
            guard let latest = ends.max(by: { $0.1 < $1.1 }) else { break }
            end = (end?.0 ?? latest.0, latest.1)
        }
        return end.map { (quiet, $0.0, $0.1) }
    }

    private mutating func keepQuiet(
        _ rule: Rule, _ event: Event, _ quiet: Quiet, _ name: String, until end: Timestamp, count: Int,
        at now: RuleTime, _ identifier: () -> Identifier
    ) {
        let clock = "quiet during '\(name)' until \(end.rfc3339)"
        switch quiet.then {
        case .drop: suppress(rule, event, clock, at: now, identifier)
        case .defer:
            let key = RuleMemory.Key(rule: rule.name, slot: .deferred, name: Subject(event).text)
            var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
            memory.count += count
            if let earlier = memory.event {
                memory.count += 1
                suppress(rule, earlier, "\(clock); a later one follows", at: now, identifier)
            }
            (memory.event, memory.due, memory.isCivil) = (event, end, true)
            if !put(memory) { suppress(rule, event, "\(clock); too much waits already", at: now, identifier) }
        case .digest: gather(rule, event, group: "quiet", due: end, isCivil: true, at: now, identifier)
        }
    }

    /// Beyond the quiet time.
    mutating func pass(
        _ rule: Rule, _ event: Event, count: Int, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        if let field = rule.gates.oncePer, let value = event.item?[field]?.description {
            let key = RuleMemory.Key(rule: rule.name, slot: .once, name: value)
            guard memories[key] == nil else {
                return suppress(rule, event, "said once already for \(field) '\(value)'", at: now, identifier)
            }
            rememberOnce(RuleMemory(key: key, identity: rule.identity, since: now.steady))
        }
        guard let digest = rule.gates.digest else { return limit(rule, event, count: count, at: now, identifier) }
        let group = digest.by.value(of: event)
        switch digest.release {
        case .every(let interval):
            gather(rule, event, group: group, due: now.steady.advanced(by: interval), at: now, identifier)
        case .at(let time):
            let due = time.next(after: now.wall, civil)
            gather(rule, event, group: group, due: due, isCivil: true, at: now, identifier)
        }
    }

    /// When there is no more room, the oldest values make some.
    private mutating func rememberOnce(_ memory: RuleMemory) {
        guard !put(memory) else { return }
        let values = memories.values.filter { $0.key.rule == memory.key.rule && $0.key.slot == .once }
        let oldest = values.sorted { ($0.since, $0.key.name) < ($1.since, $1.key.name) }
        for value in oldest.prefix(RuleEngine.mostMemories / 10) { forget(value.key) }
        put(memory)
    }

    private mutating func gather(
        _ rule: Rule, _ event: Event, group: String, due: Timestamp, isCivil: Bool = false, at now: RuleTime,
        _ identifier: () -> Identifier
    ) {
        let key = RuleMemory.Key(rule: rule.name, slot: .digest, name: group)
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        if memory.due == nil { (memory.due, memory.isCivil) = (due, isCivil) }
        if memory.lines.count < RuleEngine.mostLines {
            memory.lines.append(MessageFormatter.title(of: event))
            memory.events.append(event.id.description)
        }
        memory.count += 1
        memory.event = event
        guard put(memory) else { return limit(rule, event, count: 0, at: now, identifier) }
        let time = memory.isCivil ? memory.due?.rfc3339 : nil
        suppress(rule, event, "goes into the digest of \(time ?? "the rule")", at: now, identifier)
    }

    mutating func limit(
        _ rule: Rule, _ event: Event, count: Int, at now: RuleTime, _ identifier: () -> Identifier
    ) {
        guard let limit = rule.gates.limit else { return send(rule, event, held: count, at: now, identifier) }
        let key = RuleMemory.Key(rule: rule.name, slot: .limit, name: limit.by.value(of: event))
        var memory = memories[key] ?? RuleMemory(key: key, identity: rule.identity, since: now.steady)
        memory.times.removeAll { $0.advanced(by: limit.per) <= now.steady }
        if memory.times.count < limit.count {
            let held = memory.count + count
            memory.times.append(now.steady)
            (memory.count, memory.event, memory.isAfter) = (0, nil, false)
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            put(memory)
            send(rule, event, held: held, at: now, identifier)
        } else {
            memory.count += 1 + count
            (memory.event, memory.isAfter) = (event, false)
            (memory.due, memory.isCivil) = (memory.times.first?.advanced(by: limit.per), false)
            put(memory)
            suppress(
                rule, event,
                "limit of \(limit.count) per \(MessageFormatter.duration(seconds: limit.per.inSeconds)); the last one follows",
                at: now, identifier)
        }
    }
}

extension Grouping {
    /// What an event counts under.
    func value(of event: Event) -> String {
        switch self {
        case .rule: ""
        case .item: Subject(event).text
        case .field(let name): event.item?[name]?.description ?? ""
        }
    }
}

extension Condition {
    /// A rule about changes as such has no state that could stay: its wait begins anew with each one.
    var waitsForRest: Bool {
        switch self {
        case .changes, .by: true
        case .all(let parts), .any(let parts): parts.contains(where: \.waitsForRest)
        default: false
        }
    }
}
