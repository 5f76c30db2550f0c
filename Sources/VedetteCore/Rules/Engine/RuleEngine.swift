// SPDX-License-Identifier: Apache-2.0

/// Evaluates rules, and keeps what is true of each subject and what each sink was told of it: (rows, event or time) →
/// (rows, deliveries). It reads no clock and writes nothing; what a step changed is committed with the poll that caused it
/// (I1).
public struct RuleEngine: Sendable {
    /// The rules in force.
    public private(set) var rules: RuleSet
    /// What gates may ask besides the rows.
    var world: RuleWorld
    /// The rows.
    var table: RowTable
    var step = Step()
    /// The part of the rules that this engine evaluates beside other watchers.
    var share = Share()

    /// Creates an engine that remembers nothing.
    public init(_ rules: RuleSet, civil: any CivilTime) {
        self.init(rules, civil: civil, maximumRows: RuleMemory.maximum)
    }

    /// - Parameters:
    ///   - maximumRows: the rows that one rule keeps for one purpose at most.
    ///   - maximumVersions: the versions of deleted rows that are kept at most.
    init(_ rules: RuleSet, civil: any CivilTime, maximumRows: Int, maximumVersions: Int = 100_000) {
        (self.rules, world) = (rules, RuleWorld(rules, civil))
        table = RowTable(maximum: maximumRows, maximumVersions: maximumVersions)
    }

    // MARK: Events, polls, time

    /// Evaluates a poll in one piece: its events in the order in which they are committed, and what it observed besides.
    public mutating func evaluatePoll(
        of source: String, events: [Event] = [], _ observation: PollObservation = PollObservation(), at now: RuleTime,
        identifier: () -> Identifier
    ) -> Step {
        var evaluation = PollEvaluation(of: source, events: events, observation, at: now)
        resume(&evaluation, elapsed: { .zero }, identifier: identifier)
        return evaluation.step
    }

    /// Evaluates the next piece of a poll. Call it until `isFinished`.
    /// - Parameter elapsed: reads a clock that never goes back.
    public mutating func resume(
        _ evaluation: inout PollEvaluation, elapsed: () -> Duration, identifier: () -> Identifier
    ) {
        swap(&step, &evaluation.step)
        defer { swap(&step, &evaluation.step) }
        withoutActuallyEscaping(identifier) { identifier in
            resume(&evaluation, elapsed, StepContext(now: evaluation.now, identifier: identifier))
        }
    }

    /// Evaluates an event that does not come from a poll.
    public mutating func evaluate(_ event: Event, at now: RuleTime, identifier: () -> Identifier) -> Step {
        take(at: now, identifier) { engine, moment in
            var evaluation = PollEvaluation(of: event.source, events: [event], at: now)
            engine.process(event, &evaluation, { .zero }, moment)
            engine.openConditions(on: event.source, at: moment)
            engine.reportFailures(evaluation, moment)
        }
    }

    /// Does everything that is due and needs no poll to confirm it.
    public mutating func fireTimers(at now: RuleTime, identifier: () -> Identifier) -> Step {
        take(at: now, identifier) { engine, moment in
            for key in engine.logsByAge(engine.table.takeDueKeys(at: now)) {
                guard engine.fires(key.rule), let row = engine.table[key] else { continue }
                // The next good poll of an uncertain item's source confirms it.
                if engine.world.isUncertain(row) {
                    engine.table.awaitPoll(key)
                } else {
                    engine.expire(row, at: moment)
                }
            }
        }
    }

    /// Returns when the next timer is due, on the steady clock.
    public func nextTimer(at now: RuleTime) -> Timestamp? { table.nextTimer(at: now) }

    /// Returns when the source should be polled to confirm a pending match, on the steady clock.
    public func nextConfirmation(of source: String) -> Timestamp? {
        [table.nextConfirmation(of: source), absenceToConfirm(in: source)].compactMap { $0 }.min()
    }

    /// Returns the `stays` rules that can match this source.
    public func rulesMatchingExisting(in source: String) -> [Rule] {
        rules.matchingExisting.filter { $0.when.sources?.contains(source) != false }
    }

    /// Replaces the rules. The rows are under the old ones until `adopt`, which can be repeated.
    public mutating func replaceRules(_ rules: RuleSet) {
        self.rules = rules
        world.replaceRules(rules)
    }

    // MARK: Silences

    /// The silences in force.
    public var silences: [Silence] { world.silences.all }

    /// Replaces the silences by the journal's.
    public mutating func setSilences(_ silences: [Silence]) { world.silences.replace(by: silences) }

    /// Tells what silences withheld and no silence covers any more.
    public mutating func releaseSilenced(at now: RuleTime, identifier: () -> Identifier) -> Step {
        take(at: now, identifier) { engine, moment in engine.openSilences(at: moment) }
    }

    // MARK: Rows

    /// All rows, in no order.
    public var remembered: [RuleMemory] { table.all }
    /// The sources with rows about their items.
    public var rememberedSources: Set<String> { table.sources }

    /// The versions of rows, for tests of their bound.
    var versions: RowVersions { table.versions }

    /// Returns the rule of a row. Of a rule that is gone, rows remain whose ends wait.
    func rule(of key: RuleMemory.Key) -> Rule? {
        rules.rule(named: key.rule) ?? table[key].map { Rule(gone: $0) }
    }

    func rule(of group: RowTable.Group) -> Rule? { table.keys(in: group).first.flatMap(rule) }

    /// Writes a row; one of a match that says nothing any more is deleted. Returns false when the rule has no room for it.
    @discardableResult
    mutating func put(_ row: RuleMemory) -> Bool {
        guard !row.isSettled else {
            forget(row.key)
            return true
        }
        guard table.hasRoom(for: row) else {
            if row.key.slot != .once, row.key.slot != .reference, table.reportsLack(of: row) {
                step.warn(
                    "rule '\(row.key.rule)' has no room for more than \(table.maximum) \(row.noun); "
                        + "further ones are suppressed, or get no reminders")
            }
            return false
        }
        record(table.set(row.key, row), row)
        return true
    }

    /// Deletes a row.
    mutating func forget(_ key: RuleMemory.Key) { record(table.set(key, nil), nil) }

    private mutating func record(_ write: Step.Write?, _ row: RuleMemory?) {
        guard let write else { return }
        step.record(write, row)
        if let source = write.before?.subject?.source, !hasRows(of: source) {
            world.confirm(source, &step.world)
            setMissing([], of: source)
        }
    }

    /// Sets the items that the last good poll of a source did not show.
    public mutating func setMissing(_ missing: Set<String>, of source: String) {
        world.setMissing(missing, of: source, &step.world)
    }

    /// Undoes a step whose commit failed; its poll will be repeated. Steps that fail together can be undone in any order: a
    /// row that a later step changed keeps that change, and if the later step fails, too, it gets the value before both.
    public mutating func undo(_ failed: Step) {
        for change in failed.writes.reversed() { table.undo(change) }
        table.endUndo()
        world.undo(failed.world)
        step.clear()
    }

    /// Runs a step, and returns what it changed.
    mutating func take(
        at now: RuleTime, _ identifier: () -> Identifier, _ body: (inout RuleEngine, StepContext) -> Void
    ) -> Step {
        withoutActuallyEscaping(identifier) {
            let moment = StepContext(now: now, identifier: $0)
            body(&self, moment)
            tellJoined(at: moment)
        }
        defer { step.clear() }
        return step
    }
}

/// The time of a step, and what makes its ids.
struct StepContext {
    let now: RuleTime
    let identifier: () -> Identifier
}
