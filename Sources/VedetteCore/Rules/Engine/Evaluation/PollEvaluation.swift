// SPDX-License-Identifier: Apache-2.0

/// A poll whose rules are evaluated in pieces, so that the caller can yield between them. Other calls to the engine may run
/// in between; each keeps its own step.
public struct PollEvaluation: Sendable {
    /// How long evaluation may take.
    public struct Budget: Sendable, Hashable {
        /// The time after which a piece ends. A piece has at least one event.
        public var piece = Duration.milliseconds(10)
        /// The time that one rule may take for all events of a poll. Beyond it the rule has failed for this poll.
        public var rule = Duration.seconds(1)

        /// Creates the usual budget.
        public init() {}
    }

    /// A rule that could not be evaluated against some events.
    struct Failure: Sendable {
        var rule: Rule
        /// The first reason.
        var detail: String
        var count = 0
        /// The first events; those of existing items are not stored.
        var events: [Event] = []

        /// The ids of the stored ones.
        var identifiers: [String] { events.filter { $0.kind != .elapsed }.map(\.id.description) }
    }

    /// The source that was polled.
    public let source: String
    /// The poll's events, in the order in which they are committed.
    public let events: [Event]
    /// The indices of the events that a message can be about: a rule matched them, or remembers their subject.
    public private(set) var matched: [Int] = []
    /// Whether every event is evaluated; then `step` is complete.
    public internal(set) var isFinished = false
    /// What the pieces so far changed.
    public internal(set) var step = RuleEngine.Step()
    /// Nil when there was no poll, only existing items.
    let observation: PollObservation?
    let now: RuleTime
    /// Items that were there before the source was first polled or the rule was written, for rules with `stays`.
    let existing: [StoredItem]
    /// The source of `existing`; nil for none.
    let existingSource: Source?
    /// `RuleEngine.gatherings` when the observation was taken for the facts; nil before the first piece.
    var gatherings: Int?
    /// The index of the next event; nil before the first piece.
    var next: Int?
    /// The index of the next existing item; nil while there are events.
    var nextExisting: Int?
    private let budget: Budget
    private var spent: [String: Duration] = [:]
    private(set) var failures: [String: Failure] = [:]

    /// Prepares the evaluation of a poll.
    /// - Parameter now: the time of the poll, which all pieces use.
    public init(
        of source: String, events: [Event] = [], _ observation: PollObservation = PollObservation(), at now: RuleTime,
        budget: Budget = Budget()
    ) {
        (self.source, self.events, self.observation) = (source, events, observation)
        (existing, existingSource) = ([], nil)
        (self.now, self.budget) = (now, budget)
    }

    /// Prepares the evaluation of rules with `stays` against items that are there already.
    /// - Parameters:
    ///   - existing: the stored items of the source; absent ones do not count.
    ///   - poll: the events and the observation of the poll that found them; nil where they are those of the journal.
    public init(
        existing: [StoredItem], of source: Source, foundBy poll: (events: [Event], observation: PollObservation)? = nil,
        at now: RuleTime, budget: Budget = Budget()
    ) {
        (self.source, events, observation) = (source.name, poll?.events ?? [], poll?.observation)
        (self.existing, existingSource) = (existing, source)
        (self.now, self.budget) = (now, budget)
    }

    /// The rules that were evaluated against at least one event.
    var evaluatedRules: [String] { Array(spent.keys) }

    func isPieceOver(after time: Duration) -> Bool { time >= budget.piece }

    /// Evaluates one rule against an event within the rule's budget.
    mutating func result(
        of rule: Rule, _ event: Event, elapsed: () -> Duration, by evaluate: (Rule, Event) -> RuleSet.Evaluation.Result
    ) -> RuleSet.Evaluation.Result {
        guard spent[rule.name, default: .zero] < budget.rule else {
            let limit = DurationText.long(seconds: budget.rule.inSeconds)
            return fail(rule, event, "it took longer than \(limit)")
        }
        let start = elapsed()
        let result = evaluate(rule, event)
        add(elapsed() - start, to: rule)
        if case .failed(let detail) = result { return fail(rule, event, detail) }
        return result
    }

    /// Adds time that a rule took to make its messages.
    mutating func add(_ time: Duration, to rule: Rule) { spent[rule.name, default: .zero] += time }

    /// Records that a message can be about the event that is being evaluated.
    mutating func recordMatch() {
        if let next, matched.last != next { matched.append(next) }
    }

    private mutating func fail(_ rule: Rule, _ event: Event, _ detail: String) -> RuleSet.Evaluation.Result {
        var failure = failures[rule.name] ?? Failure(rule: rule, detail: detail)
        failure.count += 1
        if failure.events.count < MessageLimits.lines { failure.events.append(event) }
        failures[rule.name] = failure
        return .failed(detail)
    }
}

extension RuleEngine {
    /// Evaluates the next piece of a poll. Call it until `isFinished`.
    /// - Parameter elapsed: reads a clock that never goes back.
    public mutating func resume(
        _ evaluation: inout PollEvaluation, elapsed: () -> Duration, identifier: () -> Identifier
    ) {
        swap(&step, &evaluation.step)
        defer { swap(&step, &evaluation.step) }
        if evaluation.gatherings != gatherings, let observation = evaluation.observation {
            updateFacts(of: evaluation.source, observation)
            evaluation.gatherings = gatherings
        }
        if evaluation.next == nil { begin(evaluation, identifier) }
        let start = elapsed()
        var next = evaluation.next ?? 0
        while next < evaluation.events.count {
            evaluation.next = next
            process(evaluation.events[next], &evaluation, elapsed, identifier)
            next += 1
            evaluation.next = next
            if evaluation.isPieceOver(after: elapsed() - start) { return }
        }
        evaluation.next = next
        if evaluation.nextExisting == nil, let observation = evaluation.observation {
            take(observation, evaluation, identifier)
        }
        guard holdExisting(&evaluation, since: start, elapsed, identifier) else { return }
        reportFailures(evaluation, identifier)
        // A step that ran between two pieces is committed before this one, so this one must write its changes, too.
        for key in step.changes.keys { step.changes[key] = .some(memories[key]) }
        evaluation.isFinished = true
    }

    /// Takes what the poll's events depend on.
    private mutating func begin(_ evaluation: PollEvaluation, _ identifier: () -> Identifier) {
        guard let observation = evaluation.observation else { return }
        let (source, now) = (evaluation.source, evaluation.now)
        if let server = observation.server { servers[source] = server }
        if let isDown = observation.isDown { trackDown(source, isDown, at: now) }
        if let baseline = observation.baseline { rebaseline(source, baseline, at: now, identifier) }
    }

    /// Evaluates one event: what rules remember of its subject, then each rule that could match it.
    mutating func process(
        _ event: Event, _ evaluation: inout PollEvaluation, _ elapsed: () -> Duration,
        _ identifier: () -> Identifier
    ) {
        facts.update(with: event)
        let silencesEnded = endSilences(event)
        trackFailure(event, at: evaluation.now)
        // A later message about the subject can be about this event.
        if bySubject[Subject(event)] != nil { evaluation.recordMatch() }
        let retracting = updateMemories(with: event, at: evaluation.now, identifier)
        let results = rules.evaluate(event) { rule in
            evaluation.result(of: rule, announcedValues(in: event, rule), elapsed: elapsed) { $0.result(for: $1) }
        }
        for result in results {
            keepReference(result.rule, event, at: evaluation.now)
            guard result.result == .matched, !retracting.contains(result.rule.name) else { continue }
            let start = elapsed()
            evaluation.recordMatch()
            hold(result.rule, event, at: evaluation.now, identifier)
            evaluation.add(elapsed() - start, to: result.rule)
        }
        if event.kind == .disappeared { forgetAnnounced(Subject(event)) }
        if silencesEnded { openSilences(at: evaluation.now, identifier) }
    }

    /// Evaluates what the poll observed besides its events.
    private mutating func take(
        _ observation: PollObservation, _ evaluation: PollEvaluation, _ identifier: () -> Identifier
    ) {
        let (source, now) = (evaluation.source, evaluation.now)
        forgetItems(observation.forgotten, of: source, at: now, identifier)
        if observation.isGood {
            evaluateCounts(of: source, at: now, identifier)
            confirm(source, missing: observation.missing, evaluation.events, at: now, identifier)
        } else {
            pollFailed(source)
        }
    }

    /// Evaluates rules with `stays` against existing items until the piece is over.
    /// - Returns: whether every item is evaluated.
    private mutating func holdExisting(
        _ evaluation: inout PollEvaluation, since start: Duration, _ elapsed: () -> Duration,
        _ identifier: () -> Identifier
    ) -> Bool {
        guard let source = evaluation.existingSource else { return true }
        let (rules, now) = (rulesMatchingExisting(in: source.name), evaluation.now)
        var next = evaluation.nextExisting ?? 0
        while !rules.isEmpty, next < evaluation.existing.count {
            let stored = evaluation.existing[next]
            next += 1
            evaluation.nextExisting = next
            guard stored.absentSince == nil, let item = stored.item else { continue }
            let event = DraftEvent(.elapsed, item: item).event(id: identifier(), source: source, poll: "", at: now.wall)
            for rule in rules where !isHeldOrReleased(event, rule) {
                let result = evaluation.result(of: rule, event, elapsed: elapsed) { rule, event in
                    rule.resultOfExisting(event)
                }
                guard result == .matched else { continue }
                let since = rule.field == "state" ? stored.stateSince : now.wall
                holdExisting(rule, event, since: since, at: now, identifier)
            }
            if evaluation.isPieceOver(after: elapsed() - start) { return false }
        }
        return true
    }

    /// Sends one message to the sinks of each rule that could not be evaluated, and remembers the failure for `status` and
    /// `explain` until the rule is evaluated against events of this source again.
    mutating func reportFailures(_ evaluation: PollEvaluation, _ identifier: () -> Identifier) {
        // Existing items alone prove nothing about events.
        let succeeded =
            evaluation.observation == nil ? [] : evaluation.evaluatedRules.filter { evaluation.failures[$0] == nil }
        for name in succeeded {
            forget(RuleMemory.Key(rule: name, slot: .failed, name: evaluation.source))
        }
        for (name, failure) in evaluation.failures.sorted(by: { $0.key < $1.key }) {
            guard let first = failure.events.first else { continue }
            let detail = "\(failure.detail); \(counted(failure.count, "event")) not evaluated"
            step.failures.append((name, detail))
            let event = first.ruleFailure(failure, detail, id: identifier(), at: evaluation.now.wall)
            step.deliveries += failure.rule.notify.map { target in
                failure.rule.delivery(
                    of: event, to: Rule.NotificationTarget(sink: target.sink), at: evaluation.now.wall, identifier())
            }
            let key = RuleMemory.Key(rule: name, slot: .failed, name: evaluation.source)
            var memory =
                memories[key]
                ?? RuleMemory(key: key, identity: failure.rule.identity, since: evaluation.now.steady)
            memory.count += failure.count
            (memory.lines, memory.events) = ([detail], failure.identifiers)
            put(memory)
        }
    }
}

extension Event {
    /// Returns the event of the message that a rule could not be evaluated.
    fileprivate func ruleFailure(
        _ failure: PollEvaluation.Failure, _ detail: String, id: Identifier, at now: Timestamp
    ) -> Event {
        var event = Event(
            id: id, kind: .ruleFailed, time: now, source: source, sourceKind: sourceKind, poll: poll,
            error: Problem(failure: "rule", detail: "rule '\(failure.rule.name)': \(detail)"))
        event.summary = Summary(
            events: failure.identifiers, count: failure.count,
            lines: failure.events.map { MessageTitle.of($0) })
        return event
    }
}
