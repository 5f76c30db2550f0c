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
        /// As much for each event, where that is more: a large poll is no slow rule.
        public var event = Duration.microseconds(100)

        /// Creates the usual budget.
        public init() {}
    }

    /// A rule that could not be evaluated against some events.
    struct Failure: Sendable {
        var rule: Rule
        /// The first reason.
        var detail: String
        var count = 0
        /// The first events; events of existing items are not stored.
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
    /// `RuleFacts.gatherings` when the observation was taken for the facts; nil before the first piece.
    var gatherings: Int?
    /// The index of the next event; nil before the first piece.
    var next: Int?
    /// The index of the next existing item; nil while there are events.
    var nextExisting: Int?
    private let budget: Budget
    /// The time that one rule may take.
    private var limit: Duration { max(budget.rule, budget.event * (events.count + existing.count)) }
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
    ///   - poll: the events and the observation of the poll that found them; nil where the items are the journal's.
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
        guard spent[rule.name, default: .zero] < limit else {
            return fail(rule, event, "it took longer than \(DurationText.long(seconds: limit.inSeconds))")
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

extension Event {
    /// Returns the event of the message that a rule could not be evaluated.
    func ruleFailure(
        _ failure: PollEvaluation.Failure, _ detail: String, id: Identifier, at now: Timestamp
    ) -> Event {
        var event = Event(
            id: id, kind: .ruleFailed, time: now, source: source, sourceKind: sourceKind, poll: poll,
            error: Problem(failure: "rule", detail: "rule '\(failure.rule.name)': \(detail)"))
        event.summary = Summary(
            events: failure.identifiers, count: failure.count,
            lines: failure.events.map { MessageTitle.of($0) })
        let title = MessageTitle.of(event)
        event.summary?.title = title
        return event
    }
}
