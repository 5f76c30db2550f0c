// SPDX-License-Identifier: Apache-2.0

/// Decides when one sink may take its next attempt, by its policy, rate and circuit, and holds the lanes that wait for that.
/// `DeliverySchedule` asks it, and decides which delivery is attempted.
struct SinkThrottle: Sendable {
    var policy = DeliveryPolicy()
    /// Attempts in flight.
    var inFlight = 0
    /// Whether its pending deliveries are being passed on.
    var isPassingOn = false
    /// Whether it takes nothing until a person acts.
    var isPaused = false
    /// Lanes with a delivery that is due, by priority.
    private var queues: [Priority: LaneQueue] = [:]
    var circuit = CircuitBreaker()
    /// When the first of its last failures in a row was; nil for none.
    var failingSince: Timestamp?
    private var lastStart: Timestamp?
    /// When the schedule looks at it again.
    var wakesAt: Timestamp?

    /// When its fallbacks get its messages; nil while it does not fail, and without fallbacks.
    var divertsAt: Timestamp? { failingSince.flatMap { since in policy.divertsAfter.map(since.advanced) } }

    func isDiverted(at now: Timestamp) -> Bool {
        isPaused ? !policy.fallbacks.isEmpty : divertsAt.map { $0 <= now } ?? false
    }

    /// Its receiver takes messages, or is to be tried as if it did.
    mutating func isBack() { (circuit, failingSince) = (CircuitBreaker(), nil) }

    var hasCapacity: Bool { !isPaused && !isPassingOn && inFlight < (circuit.isOpen ? 1 : policy.concurrency) }

    /// Returns when the next attempt may start; nil when one may start now.
    func nextStart(at now: Timestamp) -> Timestamp? {
        let rate = lastStart.map { $0.advanced(by: policy.interval) }
        let until = [circuit.openUntil, rate].compactMap { $0 }.max()
        return until.flatMap { $0 > now ? $0 : nil }
    }

    var hasQueue: Bool { queues.values.contains { !$0.isEmpty } }

    mutating func enqueue(_ lane: DeliveryLane) { queues[lane.priority, default: LaneQueue()].append(lane) }

    /// Takes, of the lanes with the highest priority, the one that waits longest.
    mutating func dequeue() -> DeliveryLane? {
        for priority in Priority.allCases.reversed() {
            if let lane = queues[priority]?.popFirst() { return lane }
        }
        return nil
    }

    mutating func started(at now: Timestamp) {
        inFlight += 1
        lastStart = now
    }
}

/// Lanes that wait, the longest waiting first, from `head` on.
private struct LaneQueue: Sendable {
    private var lanes: [DeliveryLane] = []
    private var head = 0

    var isEmpty: Bool { head == lanes.count }

    mutating func append(_ lane: DeliveryLane) { lanes.append(lane) }

    mutating func popFirst() -> DeliveryLane? {
        guard !isEmpty else { return nil }
        defer {
            head += 1
            if isEmpty || head > 1024 {
                lanes.removeFirst(head)
                head = 0
            }
        }
        return lanes[head]
    }
}
