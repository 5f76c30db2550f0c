// SPDX-License-Identifier: Apache-2.0

/// Which delivery is attempted next: per lane in order, per sink within its manners. Knows lanes and their first
/// deliveries only; the rest waits in the journal. Every step costs the lanes it touches, not the lanes there are.
public struct Outbox: Sendable {
    /// Deliveries read ahead per lane.
    public static let ahead = 64

    public enum Order: Sendable, Hashable {
        case attempt(Delivery)
        /// Read the lane's next deliveries, those with an id above `after`.
        case load(DeliveryLane, after: Int64)
    }

    private var lanes: [DeliveryLane: OutboxLane] = [:]
    private var sinks: [String: OutboxSink] = [:]
    /// Lanes whose turn must be judged.
    private var ready: [DeliveryLane] = []
    /// Sinks with a lane or a place more since the last orders.
    private var touched = Set<String>()
    /// Lanes whose first delivery, and sinks whose next attempt, waits for its time; an entry that its lane or sink no
    /// longer names is stale.
    private var later = Heap<Later>()
    /// Nothing waits for its time: what cannot be attempted now is left.
    private var isOnce = false

    private struct Later: Comparable, Sendable {
        var due: Timestamp
        var sink: String
        /// Nil for the sink itself.
        var source: String?

        static func < (a: Later, b: Later) -> Bool { a.due < b.due }
    }

    /// - Parameter manners: of the sinks that have some of their own.
    public init(policy: [String: DeliveryPolicy] = [:]) { apply(policy) }

    /// Nothing is owed but what waits for its time or for a person.
    public var isDrained: Bool {
        lanes.allSatisfy { name, lane in
            lane.isEmpty && !lane.isBusy || !lane.isBusy && !lane.isLoading && isHeld(lane, name.sink)
        }
    }

    /// Sinks that take nothing: they wait for a person, or have been thought dead for minutes.
    public var resting: Set<String> { Set(sinks.filter { $0.value.isPaused || $0.value.circuit.isLasting }.keys) }

    /// It is thought dead: one attempt at a time.
    func isOpen(_ sink: String) -> Bool { sinks[sink]?.circuit.isOpen == true }

    public func isPaused(_ sink: String) -> Bool { sinks[sink]?.isPaused == true }

    private func isHeld(_ lane: OutboxLane, _ sink: String) -> Bool {
        let sink = sinks[sink]
        return lane.waitsUntil != nil || sink?.isPaused == true || isOnce && sink?.circuit.isOpen == true
    }

    // MARK: What happened

    /// Other manners; a sink that is not named has the usual ones.
    public mutating func apply(_ policy: [String: DeliveryPolicy]) {
        for name in Set(sinks.keys).union(policy.keys) {
            sinks[name, default: OutboxSink()].policy = policy[name] ?? DeliveryPolicy()
            touched.insert(name)
        }
    }

    /// Of a start, or when a person revived a delivery: a lane with deliveries owed in the journal.
    public mutating func laneFound(_ name: DeliveryLane) {
        lanes[name, default: OutboxLane()].reread()
        judge(name)
    }

    /// The journal owes more in that lane than was announced.
    public mutating func grown(_ name: DeliveryLane) {
        lanes[name, default: OutboxLane()].mustLoad()
        judge(name)
    }

    /// New deliveries were committed, in order.
    public mutating func committed(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            lanes[delivery.lane, default: OutboxLane()].committed(delivery)
            judge(delivery.lane)
        }
    }

    /// - Parameter ended: deliveries that the journal still calls owed although their end is only not written yet.
    public mutating func loaded(_ deliveries: [Delivery], in name: DeliveryLane, ended: Set<Int64> = []) {
        lanes[name]?.loaded(deliveries, ended: ended)
        judge(name)
    }

    /// The journal could not be read: the lane asks again at its next turn.
    public mutating func loadFailed(in name: DeliveryLane) {
        lanes[name]?.loadFailed()
        judge(name)
    }

    /// What came of an attempt; the delivery goes, or stays in its lane.
    /// - Parameter chance: 0..<1.
    public mutating func attempted(_ attempt: Attempt, _ outcome: Outcome, in name: DeliveryLane, random: Double) {
        var rest: Duration?
        if case .retry(_, let after?) = outcome { rest = min(after, RetryPolicy.longest) }
        touched.insert(name.sink)
        lanes[name]?.attempted(attempt, isPutOff: rest != nil)
        judge(name)
        sinks[name.sink]?.inFlight -= 1
        switch outcome {
        case .retry:
            let asked = rest.map { attempt.at.advanced(by: $0) }
            sinks[name.sink]?.circuit.failed(name, at: attempt.at, asked: asked, random: random)
        case .paused, .disabled: sinks[name.sink]?.isPaused = true
        case .delivered, .rejected: if sinks[name.sink]?.circuit.answered() == true { receiverIsBack(name.sink) }
        }
    }

    /// The sink itself says that its receiver is back.
    public mutating func returned(sink: String) {
        sinks[sink]?.circuit = CircuitBreaker()
        touched.insert(sink)
        receiverIsBack(sink)
    }

    private mutating func receiverIsBack(_ sink: String) {
        for name in lanes.keys where name.sink == sink {
            lanes[name]?.receiverIsBack()
            judge(name)
        }
    }

    /// A delivery that is not under way ended without an attempt.
    public mutating func ended(_ delivery: Delivery) {
        lanes[delivery.lane]?.ended(delivery.id)
        judge(delivery.lane)
    }

    /// A person said `outbox retry`, or the sink was changed: what it is owed is read anew.
    public mutating func resumed(sink: String) {
        sinks[sink]?.isPaused = false
        sinks[sink]?.circuit = CircuitBreaker()
        touched.insert(sink)
        reread(sink: sink)
    }

    /// What the journal owes it was changed by a person.
    public mutating func reread(sink: String) {
        for name in lanes.keys where name.sink == sink {
            lanes[name]?.reread()
            judge(name)
        }
    }

    /// What waits for its time is due now, but for what was attempted here and failed; from now on nothing waits.
    public mutating func hurried() {
        isOnce = true
        for name in lanes.keys {
            lanes[name]?.hurried()
            judge(name)
        }
    }

    // MARK: What to do

    /// What to do now, and when to ask again.
    public mutating func orders(at now: Timestamp) -> (orders: [Order], wake: Timestamp?) {
        while let next = later.least, isStale(next) || next.due <= now {
            _ = later.popLeast()
            if !isStale(next) { wake(next) }
        }
        var orders: [Order] = []
        while !ready.isEmpty || !touched.isEmpty {
            let turns = ready
            ready = []
            for name in turns { if let load = turn(of: name, at: now) { orders.append(load) } }
            let names = touched
            touched = []
            for sink in names { fill(sink, at: now, into: &orders) }
        }
        return (orders, later.least?.due)
    }

    private func isStale(_ entry: Later) -> Bool {
        guard let source = entry.source else { return sinks[entry.sink]?.wakesAt != entry.due }
        return lanes[DeliveryLane(source: source, sink: entry.sink)]?.waitsUntil != entry.due
    }

    private mutating func wake(_ entry: Later) {
        if let source = entry.source {
            let name = DeliveryLane(source: source, sink: entry.sink)
            lanes[name]?.waitsUntil = nil
            judge(name)
        } else {
            sinks[entry.sink]?.wakesAt = nil
            touched.insert(entry.sink)
        }
    }

    private mutating func judge(_ name: DeliveryLane) {
        guard lanes[name]?.isReady == false else { return }
        lanes[name]?.isReady = true
        ready.append(name)
    }

    private mutating func turn(of name: DeliveryLane, at now: Timestamp) -> Order? {
        lanes[name]?.isReady = false
        guard let lane = lanes[name], !lane.isLoading, sinks[name.sink]?.isPaused != true else { return nil }
        let inOrder = !isParallel(name.sink)
        if let next = lane.next(inOrder: inOrder), next.due <= now {
            if !lane.isQueued { queue(name) }
            return nil
        }
        if lane.hasMore, inOrder ? lane.waiting.isEmpty : lane.waiting.count < Outbox.ahead {
            lanes[name]?.isLoading = true
            return .load(name, after: lane.lastSeen)
        }
        if let next = lane.next(inOrder: inOrder) {
            wait(name, until: next.due)
        } else if lane.waiting.isEmpty, !lane.isBusy, !lane.wasLoaded, !lane.isQueued {
            lanes[name] = nil
        }
        return nil
    }

    private func isParallel(_ sink: String) -> Bool { sinks[sink]?.policy.isParallel == true }

    private mutating func queue(_ name: DeliveryLane) {
        lanes[name]?.isQueued = true
        lanes[name]?.waitsUntil = nil
        sinks[name.sink, default: OutboxSink()].enqueue(name)
        touched.insert(name.sink)
    }

    private mutating func wait(_ name: DeliveryLane, until due: Timestamp) {
        guard lanes[name]?.waitsUntil != due else { return }
        lanes[name]?.waitsUntil = due
        if !isOnce { later.push(Later(due: due, sink: name.sink, source: name.source)) }
    }

    /// Gives the sink's free places to its queue.
    private mutating func fill(_ sink: String, at now: Timestamp, into orders: inout [Order]) {
        while let state = sinks[sink], state.hasQueue, state.hasPlace {
            if let rest = state.rest(at: now) { return sleep(sink, until: rest) }
            guard let name = sinks[sink]?.dequeue() else { return }
            lanes[name]?.isQueued = false
            guard let next = attempt(of: name, inOrder: !state.policy.isParallel, at: now) else { continue }
            sinks[sink]?.started(at: now)
            orders.append(.attempt(next))
            if state.policy.isParallel { judge(name) }
        }
    }

    private mutating func sleep(_ sink: String, until rest: Timestamp) {
        // Once, nobody waits until a sink that is thought dead may be asked again.
        guard let state = sinks[sink], state.wakesAt != rest, !(isOnce && state.circuit.isOpen) else { return }
        sinks[sink]?.wakesAt = rest
        later.push(Later(due: rest, sink: sink, source: nil))
    }

    private mutating func attempt(of name: DeliveryLane, inOrder: Bool, at now: Timestamp) -> Delivery? {
        guard let lane = lanes[name], !lane.isLoading || !inOrder, let next = lane.next(inOrder: inOrder) else {
            return nil
        }
        guard next.due <= now else {
            wait(name, until: next.due)
            return nil
        }
        lanes[name]?.started(next.id)
        return next
    }
}
