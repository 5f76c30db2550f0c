// SPDX-License-Identifier: Apache-2.0

/// Evaluates rules against events without a watcher: what would be sent, and when. Time moves from event to event. Rule
/// tests, `vedette test` and `vedette replay` use it.
public struct RuleSimulation: Sendable {
    private var engine: RuleEngine
    private var now: Timestamp?
    private var sources = Set<String>()
    /// The number of the last id that was made.
    private var lastNumber: UInt64 = 0
    /// Whether a call left out deadlines, since it had gone through as many as it may.
    public private(set) var isCut = false

    /// Starts with rules that remember nothing.
    public init(_ rules: RuleSet, civil: any CivilTime) { engine = RuleEngine(rules, civil: civil) }

    /// What the rules remember, by rule and what it is about.
    public var memories: [RuleMemory] {
        engine.remembered.sorted {
            ($0.key.rule, $0.key.slot.rawValue, $0.key.name) < ($1.key.rule, $1.key.slot.rawValue, $1.key.name)
        }
    }

    /// Sets an item of another source for `if` and `unless`.
    mutating func setFact(of source: String, _ item: Item) { engine.addFact(of: source, item) }

    /// Returns the deliveries that were due before the event, then those that the event makes.
    public mutating func evaluate(_ event: Event) -> [Delivery] {
        let before = advance(to: event.time)
        sources.insert(event.source)
        return before + step(at: event.time) { $0.evaluate(event, at: $1, identifier: $2) }
    }

    /// Returns the deliveries of a good poll. Call it after the poll's events.
    public mutating func evaluatePoll(of source: String, at now: Timestamp) -> [Delivery] {
        advance(to: now) + step(at: now) { $0.evaluatePoll(of: source, at: $1, identifier: $2) }
    }

    /// Returns the deliveries that become due until `end`.
    /// - Parameters:
    ///   - confirming: where polls are not known, every source counts as polled well whenever a match waits for that.
    ///   - maximumSteps: deadlines to go through at most.
    public mutating func advance(
        to end: Timestamp, confirming: Bool = false, maximumSteps: Int = .max
    ) -> [Delivery] {
        var deliveries: [Delivery] = []
        guard var at = now else {
            now = end
            return []
        }
        var steps = 0
        while steps < maximumSteps, let next = nextDeadline(after: at, confirming), next <= end {
            (at, steps) = (next, steps + 1)
            deliveries += step(at: at) { $0.fireTimers(at: $1, identifier: $2) }
            guard confirming else { continue }
            for source in sources.sorted() {
                deliveries += step(at: at) { $0.evaluatePoll(of: source, at: $1, identifier: $2) }
            }
        }
        if steps > 0, steps == maximumSteps, let next = nextDeadline(after: at, confirming), next <= end {
            isCut = true
        }
        now = max(at, end)
        return deliveries
    }

    private func nextDeadline(after at: Timestamp, _ confirming: Bool) -> Timestamp? {
        let confirmations =
            confirming ? sources.flatMap { [engine.nextConfirmation(of: $0), engine.nextAbsence(in: $0)] } : []
        // A deadline that has passed without effect waits for something else.
        return (confirmations + [engine.nextTimer(at: time(at))]).compactMap { $0 }.filter { $0 > at }.min()
    }

    private func time(_ at: Timestamp) -> RuleTime { RuleTime(steady: at, wall: at) }

    /// Evaluates a step with ids of its own: rows and messages with the same id would replace each other.
    private mutating func step(
        at now: Timestamp, _ evaluate: (inout RuleEngine, RuleTime, () -> Identifier) -> RuleEngine.Step
    ) -> [Delivery] {
        var last = lastNumber
        defer { lastNumber = last }
        return evaluate(&engine, time(now)) {
            last += 1
            return Identifier(time: now, random: (0, last))
        }.deliveries
    }
}
