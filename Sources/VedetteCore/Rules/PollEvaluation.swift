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
        /// The first events.
        var events: [Event] = []
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
    let observation: PollObservation
    let now: RuleTime
    /// The index of the next event; nil before the first piece.
    var next: Int?
    private let budget: Budget
    private var spent: [String: Duration] = [:]
    private(set) var failures: [String: Failure] = [:]

    /// Prepares an evaluation.
    /// - Parameter now: the time of the poll, which all pieces use.
    public init(
        of source: String, events: [Event] = [], _ observation: PollObservation = PollObservation(), at now: RuleTime,
        budget: Budget = Budget()
    ) {
        (self.source, self.events, self.observation) = (source, events, observation)
        (self.now, self.budget) = (now, budget)
    }

    /// The rules that were evaluated against at least one event.
    var evaluatedRules: some Sequence<String> { spent.keys }

    func isPieceOver(after time: Duration) -> Bool { time >= budget.piece }

    /// Evaluates one rule against an event within the rule's budget.
    mutating func result(of rule: Rule, _ event: Event, elapsed: () -> Duration) -> RuleSet.Evaluation.Result {
        guard spent[rule.name, default: .zero] < budget.rule else {
            let limit = MessageFormatter.duration(seconds: budget.rule.inSeconds)
            return fail(rule, event, "it took longer than \(limit)")
        }
        let start = elapsed()
        let result = rule.result(for: event)
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
        if failure.events.count < RuleEngine.maximumLines { failure.events.append(event) }
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
        let now = evaluation.now
        swap(&step, &evaluation.step)
        defer { swap(&step, &evaluation.step) }
        if evaluation.next == nil, let baseline = evaluation.observation.baseline {
            rebaseline(evaluation.source, baseline, at: now, identifier)
        }
        var next = evaluation.next ?? 0
        let start = elapsed()
        while next < evaluation.events.count {
            evaluation.next = next
            process(evaluation.events[next], &evaluation, elapsed, identifier)
            next += 1
            evaluation.next = next
            if evaluation.isPieceOver(after: elapsed() - start) { return }
        }
        finish(&evaluation, identifier)
    }

    private mutating func finish(_ evaluation: inout PollEvaluation, _ identifier: () -> Identifier) {
        let (source, observation, now) = (evaluation.source, evaluation.observation, evaluation.now)
        forgetItems(observation.forgotten, of: source, at: now, identifier)
        if observation.isGood {
            confirm(source, missing: observation.missing, evaluation.events, at: now, identifier)
        } else {
            pollFailed(source)
        }
        reportFailures(evaluation, identifier)
        // A step that ran between two pieces is committed before this one, so this one must write its changes, too.
        for key in step.changes.keys { step.changes[key] = .some(memories[key]) }
        evaluation.isFinished = true
    }

    /// Sends one message to the sinks of each rule that could not be evaluated, and remembers the failure for `status` and
    /// `explain` until the rule is evaluated against events of this source again.
    mutating func reportFailures(_ evaluation: PollEvaluation, _ identifier: () -> Identifier) {
        for name in evaluation.evaluatedRules where evaluation.failures[name] == nil {
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
            (memory.lines, memory.events) = ([detail], failure.events.map(\.id.description))
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
            events: failure.events.map(\.id.description), count: failure.count,
            lines: failure.events.map(MessageFormatter.title))
        return event
    }
}
