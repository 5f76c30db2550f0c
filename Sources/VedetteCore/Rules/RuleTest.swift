// SPDX-License-Identifier: Apache-2.0

/// An example in a rule file: an event, and what the rule is expected to do with it.
public struct RuleTest: Sendable {
    /// What a rule does with an event, in the words of `expect`.
    public enum Expectation: Sendable, Hashable {
        /// Messages to these sinks, at once or within `lasts`; none for `nothing`.
        case sent([String])
        /// A quiet time defers it.
        case deferred
        /// It goes into a digest.
        case digest
        /// It waits for `for`.
        case held
        /// A gate suppresses it.
        case suppressed
    }

    /// The kind of the event.
    public var kind: Event.Kind
    /// The event's source; nil for one of the rule's own.
    public var source: String?
    /// The event's item; nil for an event about a source or sink.
    public var item: Item?
    /// The changes of the item.
    public var changes: [FieldChange]
    /// Further changes of the item, each a second after the one before.
    public var later: [(item: Item, changes: [FieldChange])] = []
    /// What other sources show, and further items of the source whose items `how_many` counts.
    public var given: [(source: String, item: Item)] = []
    /// How often the event comes, a second apart.
    public var times = 1
    /// The time of day of the event; nil for noon.
    public var at: CivilTimeOfDay?
    /// How long the match stays true, confirmed by good polls; nil for no time.
    public var lasts: Duration?
    /// What the rule is expected to do.
    public var expect: Expectation

    /// Creates a test.
    public init(
        kind: Event.Kind, source: String? = nil, item: Item? = nil, changes: [FieldChange] = [],
        at: CivilTimeOfDay? = nil, lasts: Duration? = nil, expect: Expectation = .sent([])
    ) {
        (self.kind, self.source, self.item, self.changes) = (kind, source, item, changes)
        (self.at, self.lasts, self.expect) = (at, lasts, expect)
    }

    /// Runs the test with that rule.
    /// - Parameter earlier: the rules with `stop` before it, which can keep the event from it.
    /// - Returns: nil when it passes, else a sentence with what was expected and what happened.
    public func failure(of rule: Rule, after earlier: [Rule] = [], _ civil: any CivilTime) -> String? {
        let event = event(of: rule, at: start(civil))
        let rules = RuleSet(earlier + [rule])
        var simulation = RuleSimulation(rules, civil: civil)
        for (source, item) in given { simulation.setFact(of: source, item) }
        var deliveries: [Delivery] = []
        let events = events(from: event)
        for event in events {
            deliveries += simulation.evaluate(event)
            // Items are counted after the events of their poll.
            if rule.when.count != nil { deliveries += simulation.evaluatePoll(of: event.source, at: event.time) }
        }
        deliveries += simulation.advance(
            to: (events.last ?? event).time.advanced(by: lasts ?? .zero), confirming: true, maximumSteps: 1000)
        deliveries.removeAll { $0.message.rule != rule.name }
        let memories = simulation.memories.filter { $0.key.rule == rule.name }
        let result = RuleTest.result(deliveries, memories)
        guard !result.isSame(as: expect) else { return nil }
        var reason: String?
        let evaluation = rules.evaluateAll(event).last?.result
        if case .stopped(let name) = evaluation {
            reason = "the rule '\(name)' before it matches and stops"
        } else if deliveries.isEmpty, memories.isEmpty, case .unmatched(let mismatch) = evaluation {
            reason = mismatch
        } else {
            reason = deliveries.last { $0.state == .suppressed }?.reason
        }
        return "expected \(expect.description), but it was \(result.description)" + (reason.map { ": \($0)" } ?? "")
    }

    private func start(_ civil: any CivilTime) -> Timestamp {
        // A Wednesday far from any change of the clocks.
        let midnight = Timestamp(milliseconds: 1_763_510_400_000)
        return (at ?? CivilTimeOfDay(minutes: 720)).next(after: midnight, civil)
    }

    private func event(of rule: Rule, at time: Timestamp) -> Event {
        Event(
            id: Identifier("test"), kind: kind, time: time, source: source ?? rule.when.sources?.min() ?? "source",
            sourceKind: "test", poll: "test", item: item, changes: changes)
    }

    /// Returns the first event as often as it comes, then the further changes, a second apart.
    private func events(from first: Event) -> [Event] {
        let steps = Array(repeating: (item: first.item, changes: first.changes), count: times)
        let all = steps + later.map { (item: $0.item, changes: $0.changes) }
        return all.enumerated().map { number, step in
            var event = first
            (event.item, event.changes) = (step.item, step.changes)
            event.time = first.time.advanced(by: .seconds(number))
            event.id = Identifier(time: event.time, random: (1, UInt64(number)))
            return event
        }
    }

    private static func result(_ deliveries: [Delivery], _ memories: [RuleMemory]) -> Expectation {
        let sent = deliveries.filter { $0.state == .pending }
        if !sent.isEmpty {
            return .sent(sent.map(\.message.sink).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
        }
        let reasons = Set(memories.compactMap(\.waitingReason))
        if reasons.contains("held") { return .held }
        if reasons.contains("deferred") { return .deferred }
        if reasons.contains("digest") { return .digest }
        return deliveries.isEmpty ? .sent([]) : .suppressed
    }
}

extension RuleTest.Expectation {
    /// Compares without regard to the order of the sinks.
    fileprivate func isSame(as other: RuleTest.Expectation) -> Bool {
        guard case .sent(let sinks) = self, case .sent(let others) = other else { return self == other }
        return Set(sinks) == Set(others)
    }

    /// The expectation as the configuration has it.
    public var description: String {
        switch self {
        case .sent(let sinks): sinks.isEmpty ? "nothing" : sinks.joined(separator: ", ")
        case .deferred: "deferred"
        case .digest: "digest"
        case .held: "held"
        case .suppressed: "suppressed"
        }
    }
}
