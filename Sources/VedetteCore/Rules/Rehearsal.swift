// SPDX-License-Identifier: Apache-2.0

/// Stored events against other rules: what would have been said, and when. Time moves from event to event; every source is
/// taken to have been polled well whenever something waits for that.
public struct Rehearsal: Sendable {
    private var engine: RuleEngine
    private var now: Timestamp?
    private var sources = Set<String>()

    public init(_ rules: RuleSet, civil: any CivilTime) { engine = RuleEngine(rules, civil: civil) }

    /// What became due before the event, and what the event makes; in order.
    public mutating func happened(_ event: Event) -> [Delivery] {
        var deliveries = pass(until: event.time)
        sources.insert(event.source)
        let time = time(event.time)
        deliveries += engine.happened(event, at: time, identifier: identifier()).deliveries
        return deliveries + engine.polled(event.source, at: time, identifier: identifier()).deliveries
    }

    /// What becomes due until then.
    public mutating func pass(until end: Timestamp) -> [Delivery] {
        var deliveries: [Delivery] = []
        guard var at = now else {
            now = end
            return []
        }
        while let next = next(after: at), next <= end {
            at = next
            let time = time(at)
            deliveries += engine.ticked(at: time, identifier: identifier()).deliveries
            for source in sources.sorted() {
                deliveries += engine.polled(source, at: time, identifier: identifier()).deliveries
            }
        }
        now = max(at, end)
        return deliveries
    }

    private func next(after at: Timestamp) -> Timestamp? {
        let pulls = sources.compactMap { engine.nextPull(of: $0) }
        // A deadline that has passed and did not go is waiting for something else.
        return (pulls + [engine.nextTick(at: time(at))].compactMap { $0 }).filter { $0 > at }.min()
    }

    private func time(_ at: Timestamp) -> RuleTime { RuleTime(steady: at, wall: at) }

    private func identifier() -> () -> Identifier { { Identifier("rehearsal") } }
}
