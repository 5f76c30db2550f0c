// SPDX-License-Identifier: Apache-2.0

/// `nothing`: a message when nothing matched for a time.
extension RuleEngine {
    /// Starts the time without a match of each rule that has none yet.
    mutating func startAbsences(at moment: StepContext) {
        for rule in rules.rules where rule.gates.nothing > .zero {
            let key = rule.absenceKey
            guard table[key] == nil else { continue }
            var row = RuleMemory(key: key, identity: rule.identity, since: moment.now.steady)
            row.event = Event(
                id: moment.identifier(), kind: .elapsed, time: moment.now.wall,
                source: rule.when.sources?.min() ?? Event.watcher, sourceKind: Event.watcher, poll: "")
            row.due = moment.now.steady.advanced(by: rule.gates.nothing)
            put(row)
        }
    }

    /// A match starts the time again, and ends what was announced.
    mutating func noteMatch(_ rule: Rule, _ event: Event, at moment: StepContext) {
        let now = moment.now.steady
        let old = table[rule.absenceKey]
        var row = RuleMemory(key: rule.absenceKey, identity: rule.identity, since: now)
        row.event = old?.event ?? event
        row.event?.item = nil
        row.event?.changes = []
        row.due = now.advanced(by: rule.gates.nothing)
        put(row)
        guard let absence = row.event, var match = table[rule.key(of: Subject(absence))] else { return }
        // What waits to announce the absence is no longer so, and counts for nothing.
        for wait in match.waits where wait.content == .firing && wait.gate == QuietGate.name {
            guard let event = match.event else { continue }
            suppress(rule, event, "no longer so after \(match.age(at: moment.now))", for: wait.sink, at: moment)
        }
        match.waits.removeAll { $0.content != .end }
        // It lasted from the last match.
        if let old { match.told?.since = old.since }
        put(match)
        if table[match.key] != nil { end(match, rule, by: event, at: moment) }
    }

    /// The time is over without a match.
    mutating func sendAbsence(_ row: RuleMemory, _ rule: Rule, at moment: StepContext) {
        guard row.due.map({ $0 <= moment.now.steady }) ?? false else { return }
        var row = row
        row.due = nil
        put(row)
        guard var event = row.event else { return }
        (event.id, event.kind, event.time) = (moment.identifier(), .elapsed, moment.now.wall)
        let seconds = row.seconds(at: moment.now)
        event.summary = Event.Summary(count: 0, stood: seconds)
        event.summary?.title = MessageTitle.ofAbsence(rule, after: seconds)
        begin(rule, event, at: moment)
    }
}

extension Rule {
    fileprivate var absenceKey: RuleMemory.Key { RuleMemory.Key(rule: name, slot: .absence, name: "") }
}
