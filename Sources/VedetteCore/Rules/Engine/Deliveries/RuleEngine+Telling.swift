// SPDX-License-Identifier: Apache-2.0

/// Makes the messages that the gates let through, and remembers what each sink was told.
extension RuleEngine {
    /// Tells the ends of matches, each in a message of its own, so that a receiver can tell what has ended.
    mutating func tellEnds(_ release: inout Release, at moment: StepContext) {
        let rule = release.rule
        for (i, sinks) in release.ends {
            guard let event = release.rows[i].event else { continue }
            let targets = rule.allTargets.filter { sinks.contains($0.sink) }
            let removed = sinks.filter { sink in !targets.contains { $0.sink == sink } }
            for target in targets + removed.map(rule.target) {
                let hasMatch = release.matches.contains { $0.audience.sink == target.sink }
                let over = hasMatch || !release.lists.isEmpty ? 0 : release.takeCount(target.sink)
                let withheld = release.rows[i].waits.first { $0.sink == target.sink }?.count ?? 0
                deliver(rule, event, to: target, withheld: withheld + over, at: moment)
                charge(MadeMessage(rule: rule, events: [event], sink: target.sink, content: .end), at: moment)
            }
            for sink in sinks {
                release.rows[i].waits.removeAll { $0.sink == sink }
                release.rows[i].forgetTold(sink)
            }
        }
    }

    /// Tells each sink the matches, in one message where there are several.
    mutating func tellMatches(_ release: inout Release, at moment: StepContext) {
        guard !release.matches.isEmpty else { return }
        let rule = release.rule
        if release.matches.count > 1 {
            let order = rule.allTargets.map(\.sink)
            // What a log lists was before the others. A message about fewer rows is for a sink that knows the others.
            func rank(_ match: (audience: Release.Audience, rows: [Int])) -> (Int, Int, Int, Int) {
                let isLog = match.rows.contains { release.rows[$0].isLogMessage }
                let place = order.firstIndex(of: match.audience.sink) ?? 0
                return (isLog ? 0 : 1, match.rows.count, place, match.audience.isLate ? 1 : 0)
            }
            release.matches.sort { rank($0) < rank($1) }
        }
        var made: [SeveralRows<Int>: Event] = [:]
        var told: [Int: (event: Event, sinks: [String])] = [:]
        // What waited for a limit is one message to every sink, and what another gate held before it counts as one.
        let isLimited = release.group.gate == LimitGate.name || rule.gates.limit.map { $0.by != .item } ?? false
        let messages: [(Release.Audience, [Int])] = release.matches.flatMap { audience, indices in
            isLimited || !rule.target(audience.sink).tellsEach
                ? [(audience, indices)] : indices.map { (audience, [$0]) }
        }
        for (audience, indices) in messages {
            let events = indices.compactMap { release.rows[$0].event }
            guard let last = events.last else { continue }
            let target = rule.target(audience.sink)
            var message = last
            if events.count > 1 {
                let shown = events.map { self.shown($0, rule, to: audience.sink) }
                let several = SeveralRows(indices, shown, of: rule)
                message =
                    made[several] ?? last.message(about: shown, of: rule, id: moment.identifier(), at: moment.now.wall)
                made[several] = message
            }
            var withheld = release.takeCount(audience.sink)
            for i in indices {
                guard let wait = release.rows[i].waits.first(where: { $0.sink == audience.sink }) else { continue }
                withheld += wait.count
                noteJoining(wait, events[indices.firstIndex(of: i) ?? 0], of: events.count, rule, at: moment)
            }
            let gates = indices.compactMap { i in release.rows[i].waits.first { $0.sink == audience.sink }?.gate }
            if gates.allSatisfy({ ["", LimitGate.name, QuietGate.name].contains($0) }) {
                withheld += takeLimitCount(rule, last, audience.sink)
            }
            deliver(rule, message, to: target, withheld: withheld, at: moment)
            for i in indices {
                // What a log lists was announced by it.
                if let event = release.rows[i].event, !release.rows[i].isLogMessage {
                    told[i, default: (event, [])].sinks.append(audience.sink)
                }
                let own = target.tellsEach && !isLimited ? release.rows[i].group : ""
                let group = events.count > 1 ? message.id.description : own
                noteTold(i, &release, audience.sink, in: group, at: moment)
            }
            if last.kind == .resolved || !rule.isEscalated(to: audience.sink) {
                let content: Candidate.Content = last.kind == .resolved ? .end : .firing
                charge(MadeMessage(rule: rule, events: events, sink: audience.sink, content: content), at: moment)
            }
        }
        // Afterwards only: each sink's message shows the change since the last one.
        for (_, (event, sinks)) in told.sorted(by: { $0.key < $1.key }) {
            rememberReference(rule, event, for: sinks, at: moment)
        }
    }

    /// A match that waited without a record, and that is told beside others, leaves one.
    private mutating func noteJoining(
        _ wait: RuleMemory.Wait, _ event: Event, of count: Int, _ rule: Rule, at moment: StepContext
    ) {
        guard count > 1, wait.gate == QuietGate.name else { return }
        let reason = "told after the quiet time in one message with \(counted(count - 1, "other"))"
        suppress(rule, event, reason, for: wait.sink, at: moment)
    }

    /// Takes the count of what a limit withheld until it was over.
    private mutating func takeLimitCount(_ rule: Rule, _ event: Event, _ sink: String) -> Int {
        guard rule.gates.limit != nil, var row = table[LimitGate.key(rule, event, self)],
            let count = row.uncounted.removeValue(forKey: sink)
        else { return 0 }
        put(row)
        return count
    }

    mutating func charge(_ message: MadeMessage, at moment: StepContext) {
        for gate in Gates.all { gate.charge(message, &self, at: moment.now) }
    }

    // MARK: What sinks were told

    /// Remembers that a sink was told the row's event.
    private mutating func noteTold(
        _ i: Int, _ release: inout Release, _ sink: String, in group: String, at moment: StepContext
    ) {
        let isListed = release.rows[i].waits.contains { $0.sink == sink && $0.isListed }
        release.rows[i].waits.removeAll { $0.sink == sink }
        guard let event = release.rows[i].event else { return }
        if isListed {
            release.logs.append((event, sink, isTold: true))
        } else {
            note(&release.rows[i], release.rule, event, sink, in: group, at: moment)
        }
    }

    mutating func note(
        _ row: inout RuleMemory, _ rule: Rule, _ event: Event, _ sink: String, in group: String,
        isListed: Bool = false, at moment: StepContext
    ) {
        guard !rule.isEnd(event) else { return row.forgetTold(sink) }
        let now = moment.now.steady
        let isAbsence = rule.gates.nothing > .zero && event.kind == .elapsed
        // A log lists matches alone, and announces their values before its message is sent.
        let hasFollowUps =
            rule.hasFollowUps && (isAbsence || isListed || rule.when.matches(referenced(event, rule, for: sink)))
        let knowsSinks = rule.remembersSinks(event)
        guard hasFollowUps || knowsSinks else { return }
        var told = row.told ?? RuleMemory.Told(event: event, since: now)
        // The reminders of what is over count for no other match, also to a sink that is told this one later.
        if told.ended != nil { told.lastMessages = [:] }
        if told.ended != nil || rule.when.restartsWait && told.event.id != event.id {
            (told.since, told.ended, told.isEndReleased, told.step) = (now, nil, false, 0)
        }
        if told.event.id != event.id || row.told == nil { told.groups = rule.groups(of: event) }
        told.noteMessage(to: sink, rule, at: now)
        told.noteValue(rule.announcedValue(event), of: sink)
        (told.event, told.latest) = (event, nil)
        if told.acknowledgement?.match != event.id.description { told.acknowledgement = nil }
        told.tellsEnd = rule.gates.resolved
        if knowsSinks { told.sinks = Set(told.sinks).union([sink]).sorted() }
        told.follow(at: hasFollowUps && !rule.endsReminders(event) ? rule.nextFollowUp(told) : nil)
        row.told = rule.needs(told) ? told : nil
        row.group = row.told?.due == nil ? "" : group
    }
}

extension Rule {
    /// The targets of the rule and of its escalations, one for each sink.
    public var allTargets: [NotificationTarget] {
        var seen = Set<String>()
        return (notify + gates.escalate.flatMap(\.notify)).filter { seen.insert($0.sink).inserted }
    }

    /// The values of the fields by which `digest` and `limit` group the rule's matches.
    func groups(of event: Event) -> [String: String] {
        let fields = [gates.digest?.by, gates.limit?.by].compactMap { grouping in
            if case .field(let name) = grouping { name } else { nil }
        }
        return Dictionary(fields.map { ($0, Grouping.field($0).value(of: event)) }) { first, _ in first }
    }

    /// Whether only escalations go to the sink.
    func isEscalated(to sink: String) -> Bool {
        !notify.contains { $0.sink == sink } && gates.escalate.contains { $0.notify.contains { $0.sink == sink } }
    }

    /// Returns the target of that name, also one of `escalate`, or of a sink that the rule no longer names.
    func target(_ sink: String) -> NotificationTarget {
        allTargets.first { $0.sink == sink } ?? NotificationTarget(sink: sink)
    }

    /// The row of a subject.
    func key(of subject: Subject) -> RuleMemory.Key { RuleMemory.Key(rule: name, slot: .match, name: subject.text) }

    /// Whether a match that was told is followed by reminders or escalations.
    var hasFollowUps: Bool { gates.remind != nil || !gates.escalate.isEmpty }

    /// Whether something asks what sinks were told. Escalations that are done are not done again while the match is true.
    func needs(_ told: RuleMemory.Told) -> Bool { told.isFollowed || !told.sinks.isEmpty || told.step > 0 }

    /// Whether the sinks that were told the event are to be told its end: by `resolved`, or by a rule that matches failures and
    /// recoveries.
    func remembersSinks(_ event: Event) -> Bool { gates.resolved || HealthChange(event) != nil }

    /// Whether the event is the end of what was told, and no match of its own.
    func isEnd(_ event: Event) -> Bool {
        event.kind == .resolved || !gates.resolved && HealthChange(event) == .recovered
    }
}
