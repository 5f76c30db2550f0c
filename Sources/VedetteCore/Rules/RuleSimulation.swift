// SPDX-License-Identifier: Apache-2.0

/// Stored or replayed events against rules: what would have been said, and when. Time moves from event to event.
public struct RuleSimulation: Sendable {
    private var engine: RuleEngine
    private var now: Timestamp?
    private var sources = Set<String>()

    public init(_ rules: RuleSet, civil: any CivilTime) { engine = RuleEngine(rules, civil: civil) }

    /// What became due before the event, and what the event makes; in order.
    public mutating func happened(_ event: Event) -> [Delivery] {
        let before = pass(until: event.time)
        sources.insert(event.source)
        return before + engine.happened(event, at: time(event.time), identifier: RuleSimulation.identifier).deliveries
    }

    /// A good poll of that source, after its events.
    public mutating func polled(_ source: String, at now: Timestamp) -> [Delivery] {
        pass(until: now) + engine.polled(source, at: time(now), identifier: RuleSimulation.identifier).deliveries
    }

    /// What becomes due until then. Where polls are not known, each source is taken to have been polled well whenever
    /// something waits for that.
    public mutating func pass(until end: Timestamp, confirming: Bool = false) -> [Delivery] {
        var deliveries: [Delivery] = []
        guard var at = now else {
            now = end
            return []
        }
        while let next = next(after: at, confirming), next <= end {
            at = next
            deliveries += engine.ticked(at: time(at), identifier: RuleSimulation.identifier).deliveries
            guard confirming else { continue }
            for source in sources.sorted() {
                deliveries += engine.polled(source, at: time(at), identifier: RuleSimulation.identifier).deliveries
            }
        }
        now = max(at, end)
        return deliveries
    }

    private func next(after at: Timestamp, _ confirming: Bool) -> Timestamp? {
        let pulls = confirming ? sources.compactMap { engine.nextPull(of: $0) } : []
        // A deadline that has passed and did not go is waiting for something else.
        return (pulls + [engine.nextTick(at: time(at))].compactMap { $0 }).filter { $0 > at }.min()
    }

    private func time(_ at: Timestamp) -> RuleTime { RuleTime(steady: at, wall: at) }

    private static func identifier() -> Identifier { Identifier("rehearsal") }
}
