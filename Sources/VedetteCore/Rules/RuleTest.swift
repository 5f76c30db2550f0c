// SPDX-License-Identifier: Apache-2.0

/// An example inside a rule file: something happens, and what the rule makes of it.
public struct RuleTest: Sendable {
    public enum Expectation: Sendable, Hashable {
        /// Messages to these sinks, at once or after what `lasts` says; none for "not a word".
        case sent([String])
        /// Held back until the quiet time ends.
        case deferred
        /// Goes into a digest.
        case digest
        /// Waits for its `for`.
        case held
        /// A gate ended it.
        case suppressed
    }

    public var kind: Event.Kind
    /// Nil for any of the rule's own.
    public var source: String?
    public var item: Item?
    public var changes: [FieldChange]
    /// The time of day at which it happens; nil for noon.
    public var at: CivilTimeOfDay?
    /// It stays so for this long, and good polls confirm it.
    public var lasts: Duration?
    public var expect: Expectation

    public init(
        kind: Event.Kind, source: String? = nil, item: Item? = nil, changes: [FieldChange] = [],
        at: CivilTimeOfDay? = nil, lasts: Duration? = nil, expect: Expectation = .sent([])
    ) {
        (self.kind, self.source, self.item, self.changes) = (kind, source, item, changes)
        (self.at, self.lasts, self.expect) = (at, lasts, expect)
    }

    /// Plays it with that rule alone.
    /// - Returns: nil when it comes out as expected; else a sentence that says what came instead.
    public func failure(of rule: Rule, _ civil: any CivilTime) -> String? {
        let event = event(of: rule, at: start(civil))
        var engine = RuleEngine(RuleSet([rule]), civil: civil)
        let now = RuleTime(steady: event.time, wall: event.time)
        var deliveries = engine.happened(event, at: now) { Identifier("test") }.deliveries
        deliveries += pass(lasts ?? .zero, &engine, event.source, from: event.time)
        let result = RuleTest.result(deliveries, engine)
        guard !result.isSame(as: expect) else { return nil }
        var why = ""
        if deliveries.isEmpty, engine.remembered.isEmpty,
            case .unmet(let reason) = RuleSet([rule]).allVerdicts(on: event).first?.answer
        {
            why = ": " + reason
        } else if let reason = deliveries.last(where: { $0.state == .suppressed })?.reason {
            why = ": " + reason
        }
        return "expected \(expect.words), but it was \(result.words)\(why)"
    }

    /// Every deadline on the way, each followed by a good poll.
    private func pass(
        _ duration: Duration, _ engine: inout RuleEngine, _ source: String, from start: Timestamp
    ) -> [Delivery] {
        var deliveries: [Delivery] = []
        let end = start.advanced(by: duration)
        var now = start
        var steps = 0
        repeat {
            let time = RuleTime(steady: now, wall: now)
            deliveries += engine.ticked(at: time) { Identifier("test") }.deliveries
            deliveries += engine.polled(source, at: time) { Identifier("test") }.deliveries
            let next = [engine.nextTick(at: time), engine.nextPull(of: source)].compactMap { $0 }.filter { $0 > now }
                .min()
            guard now < end else { break }
            now = min(next ?? end, end)
            steps += 1
        } while steps < 1000
        return deliveries
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

    private static func result(_ deliveries: [Delivery], _ engine: RuleEngine) -> Expectation {
        let sent = deliveries.filter { $0.state == .pending }
        if !sent.isEmpty {
            return .sent(sent.map(\.message.sink).reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
        }
        let slots = Set(engine.remembered.filter { $0.event != nil }.map(\.key.slot))
        if slots.contains(.held) { return .held }
        if slots.contains(.deferred) { return .deferred }
        if slots.contains(.digest) { return .digest }
        return deliveries.isEmpty ? .sent([]) : .suppressed
    }
}

extension RuleTest.Expectation {
    /// The order in which sinks are named is no matter.
    fileprivate func isSame(as other: RuleTest.Expectation) -> Bool {
        guard case .sent(let sinks) = self, case .sent(let others) = other else { return self == other }
        return Set(sinks) == Set(others)
    }

    /// As it is written.
    public var words: String {
        switch self {
        case .sent(let sinks): sinks.isEmpty ? "nothing" : sinks.joined(separator: ", ")
        case .deferred: "deferred"
        case .digest: "digest"
        case .held: "held"
        case .suppressed: "suppressed"
        }
    }
}
