// SPDX-License-Identifier: Apache-2.0

/// Compares what is true with what each sink was told: each sink that does not know it is told, waits, or is never told it.
extension RuleEngine {
    /// Asks the gates again about the rows of a rule that wait in a group, and tells together what passes.
    /// - Parameter isIncluded: whether a row of the group is to be asked about.
    mutating func reconcile(
        _ rule: Rule, _ group: RowTable.Group, at moment: StepContext,
        where isIncluded: (RuleEngine, RuleMemory) -> Bool = { _, _ in true }
    ) {
        let rows = table.keys(in: group).compactMap { table[$0] }.filter { isIncluded(self, $0) }
        // What a log lists of a subject was before what waits of it.
        func rank(_ row: RuleMemory) -> (Int, Timestamp, String) { (row.isLogMessage ? 0 : 1, row.since, row.key.name) }
        reconcile(rule, rows.sorted { rank($0) < rank($1) }, group, at: moment)
        askForFollowUps(of: rows.map(\.key), rule, group, at: moment)
    }

    /// Asks the gates about what sinks are newly to be told of a row.
    mutating func reconcile(_ rule: Rule, _ row: RuleMemory, at moment: StepContext) {
        reconcile(rule, [row], RowTable.Group(rule: rule.name, gate: ""), at: moment)
    }

    private mutating func reconcile(_ rule: Rule, _ rows: [RuleMemory], _ group: RowTable.Group, at moment: StepContext)
    {
        var release = Release(rule: rule, group: group, rows: rows)
        for i in release.rows.indices { ask(about: i, &release, at: moment) }
        release.countWhatIsOver(at: moment.now) { sink, count in self.keepCount(count, sink, rule, group) }
        // Before anything is told: a group in which rows wait does not end.
        for row in release.rows where row.waits.contains(where: { !$0.gate.isEmpty }) && row != table[row.key] {
            put(row)
        }
        tellEnds(&release, at: moment)
        tellMatches(&release, at: moment)
        list(&release, at: moment)
        for var row in release.rows {
            row.noteReplacement()
            if row.told == nil, let told = table[row.key]?.told {
                // Its match does not go on, so that nothing is left of an escalation whose silence is over.
                var past = row
                past.told = told
                row.waits.removeAll { wait in
                    wait.content == .count && rule.isEscalated(to: wait.sink)
                        && !isClosed(wait, past, rule, at: moment.now)
                }
            }
            row.dropEventIfUnused()
            if row.isSettled ? table[row.key] != nil : row != table[row.key], !put(row) {
                // Beyond the room for matches that were told nothing is remembered of them.
                row.told = nil
                put(row)
            }
        }
        // Afterwards only: a row that a log listed can be among these rows.
        for log in release.logs { takeListed(in: log.message, rule, for: log.sink, isTold: log.isTold, at: moment) }
        for group in release.opened { reconcile(rule, group, at: moment) }
    }

    /// Tells together what waits for the end of the step.
    mutating func tellJoined(at moment: StepContext) {
        for group in step.takeJoined() {
            if let rule = rule(of: group) { reconcile(rule, group, at: moment) }
        }
    }

    /// Asks the gates for each sink that waits in the group.
    private mutating func ask(about i: Int, _ release: inout Release, at moment: StepContext) {
        let (rule, group) = (release.rule, release.group)
        let event = release.rows[i].event ?? release.rows[i].told?.event
        guard let event else { return }
        // Asked before the loop, in which a sink that is never told leaves the row.
        let (isLateMatch, isLateEnd) = (release.rows[i].isLate(.firing, rule), release.rows[i].isLate(.end, rule))
        for wait in release.rows[i].waits where wait.isIn(group) {
            if wait.content == .count {
                if isClosed(wait, release.rows[i], rule, at: moment.now) { release.closed.insert(wait.sink) }
                continue
            }
            let isLate = wait.content == .end ? isLateEnd : isLateMatch
            let candidate = Candidate(rule, event, wait, isLate: isLate)
            let (verdict, gate) = verdict(of: candidate, at: moment.now)
            switch verdict {
            case .pass:
                admit(candidate, at: moment.now)
                release.pass(i, wait, isLate: isLate)
            case .list(let target):
                // What has no room could not be told over.
                if rule.gates.resolved, event.kind != .resolved, !table.hasRoom(for: release.rows[i]) {
                    drop(wait, i, &release, noRoom(release.rows[i].noun), at: moment)
                } else {
                    admit(candidate, at: moment.now)
                    release.lists[i] = target
                }
            case .drop(let reason): drop(wait, i, &release, reason, at: moment)
            case .wait(let waiting):
                let isKept = table.hasRoom(for: release.rows[i])
                guard isKept || !gate.tellsWithoutRoom else {
                    release.pass(i, wait, isLate: isLate)
                    continue
                }
                guard isKept else {
                    drop(wait, i, &release, noRoom(gate.noun), at: moment)
                    continue
                }
                let isFirst = gate.name != wait.gate || wait.reason.isEmpty
                if gate.leavesRecord, isFirst, !waiting.awaitsPoll, !waiting.joinsStep {
                    suppress(rule, event, waiting.reason, for: wait.sink, at: moment)
                }
                release.rows[i].wait(wait.sink, at: gate.name, waiting)
                let group = RowTable.Group(rule: rule.name, gate: gate.name, name: waiting.group)
                // What joins the step opens the group at its end.
                if waiting.opensGroup, !step.hasJoined(group) { release.opened.insert(group) }
                if waiting.joinsStep { step.join(group) }
            }
        }
    }

    private mutating func admit(_ candidate: Candidate, at now: RuleTime) {
        for gate in Gates.all { gate.admit(candidate, &self, at: now) }
    }

    /// Whether the gate still withholds the end of a match that began again meanwhile, and so what that end counts.
    private func isClosed(_ wait: RuleMemory.Wait, _ row: RuleMemory, _ rule: Rule, at now: RuleTime) -> Bool {
        guard let event = row.told?.event else { return false }
        // Until its end is told the match can go on, and with it the escalation that a silence withheld.
        if rule.isEscalated(to: wait.sink), row.waits.contains(where: { $0.content == .end }) { return true }
        let end = Candidate(rule: rule, event: event, sink: wait.sink, content: .end, gate: wait.gate)
        guard case .wait(let waiting) = verdict(of: end, at: now).verdict else { return false }
        return !waiting.joinsStep
    }

    /// Ends the waiting of a sink that is never told.
    private mutating func drop(
        _ wait: RuleMemory.Wait, _ i: Int, _ release: inout Release, _ reason: String, at moment: StepContext
    ) {
        guard let event = release.rows[i].event else { return }
        suppress(release.rule, event, reason, for: wait.sink, at: moment)
        release.rows[i].waits.removeAll { $0.sink == wait.sink }
        if wait.content == .end { release.rows[i].forgetTold(wait.sink) }
        guard wait.isListed else { return }
        release.logs.append((event, wait.sink, isTold: false))
        // Nobody was told what it lists, so that no value is used up.
        releaseValues(release.rows[i].values, of: release.rule.name, for: [wait.sink])
        takeBackReferences(release.rule, in: event, for: wait.sink, at: moment)
    }

    /// Keeps the count of what is over before its limit allowed it, for the next message of the group.
    private mutating func keepCount(_ count: Int, _ sink: String, _ rule: Rule, _ group: RowTable.Group) -> Bool {
        let key = RuleMemory.Key(rule: rule.name, slot: .limit, name: group.name)
        guard group.gate == LimitGate.name, var row = table[key] else { return false }
        row.uncounted[sink, default: 0] += count
        put(row)
        return true
    }

    func noRoom(_ noun: String) -> String { "the rule has no room for more than \(table.maximum) \(noun)" }
}

/// The rows that are reconciled together, and what the gates let through.
struct Release {
    /// A sink, and whether others were told before it.
    struct Audience: Hashable {
        var sink: String
        var isLate: Bool
        var isEnd = false
    }

    let rule: Rule
    let group: RowTable.Group
    var rows: [RuleMemory]
    /// The rows whose match each audience is told, in their order.
    var matches: [(audience: Audience, rows: [Int])] = []
    /// The rows whose end is told, in their order, and to which sinks.
    var ends: [(row: Int, sinks: [String])] = []
    /// The rows that a log lists.
    var lists: [Int: Verdict.ListTarget] = [:]
    /// What is over before its gate opened, for the first message to each sink.
    var counts: [String: Int] = [:]
    /// Sinks to which a gate is still closed, so that what it counts goes on waiting.
    var closed = Set<String>()
    /// Messages of logs that a sink was told, or is never told.
    var logs: [(message: Event, sink: String, isTold: Bool)] = []
    /// Groups that are to be told now.
    var opened = Set<RowTable.Group>()

    init(rule: Rule, group: RowTable.Group, rows: [RuleMemory]) {
        (self.rule, self.group, self.rows) = (rule, group, rows)
    }

    mutating func pass(_ row: Int, _ wait: RuleMemory.Wait, isLate: Bool) {
        // The ends of failures of one server are told together, and those in one group of a limit.
        if wait.content != .end || group.gate == ServerGate.name || group.gate == LimitGate.name {
            let audience = Audience(sink: wait.sink, isLate: isLate, isEnd: wait.content == .end)
            if let i = matches.firstIndex(where: { $0.audience == audience }) {
                matches[i].rows.append(row)
            } else {
                matches.append((audience, [row]))
            }
        } else if ends.last?.row == row {
            ends[ends.count - 1].sinks.append(wait.sink)
        } else {
            ends.append((row, [wait.sink]))
        }
    }

    /// Takes the count for a message to the sink.
    mutating func takeCount(_ sink: String) -> Int { counts.removeValue(forKey: sink) ?? 0 }

    /// Lets what is over be counted by what is told now. While the group tells the sink nothing, it waits for the rows that
    /// still wait, or for its own time.
    /// - Parameter keep: keeps a count elsewhere; returns false when there is no such place.
    mutating func countWhatIsOver(at now: RuleTime, _ keep: (String, Int) -> Bool) {
        guard rows.contains(where: { $0.waits.contains { $0.content == .count } }) else { return }
        let countsOver = group.gate.flatMap(Gates.named)?.countsOver ?? true
        let over = rows.flatMap(\.waits).filter { wait in
            wait.isIn(group) && wait.content == .count && !closed.contains(wait.sink)
        }
        for sink in Set(over.map(\.sink)).sorted() {
            let total = over.filter { $0.sink == sink }.reduce(0) { $0 + $1.count }
            let tells = matches.contains { $0.audience.sink == sink } || ends.contains { $0.sinks.contains(sink) }
            let next = rows.lazy.flatMap(\.waits).first { $0.sink == sink && $0.content != .count }
            if countsOver, tells || !lists.isEmpty {
                counts[sink] = total
            } else if countsOver, keep(sink, total) {
                // The next message of the group has it.
            } else if countsOver, let next {
                move(sink, to: next)
                continue
            } else if over.contains(where: { $0.sink == sink && $0.until != nil && !$0.isDue(at: now) }) {
                continue
            }
            for i in rows.indices {
                let group = group
                rows[i].waits.removeAll { $0.sink == sink && $0.isIn(group) && $0.content == .count }
            }
        }
    }

    private mutating func move(_ sink: String, to next: RuleMemory.Wait) {
        for i in rows.indices {
            for j in rows[i].waits.indices where rows[i].waits[j].sink == sink && rows[i].waits[j].content == .count {
                guard rows[i].waits[j].isIn(group) else { continue }
                (rows[i].waits[j].gate, rows[i].waits[j].group, rows[i].waits[j].until) = (next.gate, next.group, nil)
            }
        }
    }
}

extension RuleMemory.Wait {
    func isIn(_ place: RowTable.Group) -> Bool { gate == place.gate && group == place.name }
}

extension RuleMemory {
    /// Whether some sink was told already what others wait for.
    func isLate(_ content: Wait.Content, _ rule: Rule) -> Bool {
        guard content == .end else {
            // A sink that was added to the rule since is told later matches alone.
            let waiting = waits.filter { $0.content != .count }.map(\.sink)
            return rule.notify.count { waiting.contains($0.sink) } < max(1, audience)
        }
        return waits.count { $0.content == .end } < told?.recipients ?? 0
    }
}
