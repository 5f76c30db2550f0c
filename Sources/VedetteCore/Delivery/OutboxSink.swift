// SPDX-License-Identifier: Apache-2.0

/// What an outbox knows of one sink: its places, its pace, and whether it takes anything at all.
struct OutboxSink: Sendable {
    var policy = DeliveryPolicy()
    var inFlight = 0
    /// Until a person acts.
    var isPaused = false
    /// Lanes that may attempt now and want a place, the longest waiting first, from `head` on.
    private var queue: [DeliveryLane] = []
    private var head = 0
    var circuit = CircuitBreaker()
    private var lastStart: Timestamp?
    /// The outbox looks at it again at this time.
    var wakesAt: Timestamp?

    var hasPlace: Bool { !isPaused && inFlight < (circuit.isOpen ? 1 : policy.concurrency) }

    /// Before this time no attempt starts; nil when one may start now.
    func rest(at now: Timestamp) -> Timestamp? {
        let turn = lastStart.map { $0.advanced(by: policy.interval) }
        let until = [circuit.restsUntil, turn].compactMap { $0 }.max()
        return until.flatMap { $0 > now ? $0 : nil }
    }

    var hasQueue: Bool { head < queue.count }

    mutating func enqueue(_ lane: DeliveryLane) { queue.append(lane) }

    mutating func dequeue() -> DeliveryLane? {
        guard hasQueue else { return nil }
        defer {
            head += 1
            if head == queue.count || head > 1024 {
                queue.removeFirst(head)
                head = 0
            }
        }
        return queue[head]
    }

    mutating func started(at now: Timestamp) {
        inFlight += 1
        lastStart = now
    }
}
