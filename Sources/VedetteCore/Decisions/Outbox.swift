// SPDX-License-Identifier: Apache-2.0

/// Which delivery is attempted next: per lane in order, per sink at most a few at once. Knows lanes and their first
/// deliveries only; the rest waits in the journal. Every step costs the lanes it touches, not the lanes there are.
public struct Outbox: Sendable {
    /// At most so many of one sink in flight (I7).
    public static let perSink = 4
    /// Deliveries read ahead per lane.
    public static let ahead = 64

    public enum Order: Sendable, Hashable {
        case attempt(Delivery)
        /// Read the lane's next deliveries, those with an id above `after`.
        case load(DeliveryLane, after: Int64)
    }

    private var lanes: [DeliveryLane: OutboxLane] = [:]
    private var inFlight: [String: Int] = [:]
    private var pausedSinks = Set<String>()
    /// Lanes whose turn must be judged.
    private var ready: [DeliveryLane] = []
    /// Per sink the lanes that may attempt now and want a place, the longest waiting first.
    private var queues: [String: [DeliveryLane]] = [:]
    /// Sinks with a lane or a place more since the last orders.
    private var touched = Set<String>()
    /// Lanes whose first delivery waits for its time; an entry that its lane no longer names is stale.
    private var later = Heap<Later>()

    private struct Later: Comparable, Sendable {
        var due: Timestamp
        var lane: DeliveryLane

        static func < (a: Later, b: Later) -> Bool { a.due < b.due }
    }

    public init() {}

    /// No attempt is under way.
    public var isIdle: Bool { inFlight.isEmpty }

    /// Nothing is owed but what waits for its time or for a person.
    public var isDrained: Bool {
        lanes.allSatisfy { name, lane in
            lane.isEmpty
                || (!lane.isBusy && !lane.isLoading && (lane.waitsUntil != nil || pausedSinks.contains(name.sink)))
        }
    }

    // MARK: What happened

    /// Of a start, or when a person revived a delivery: a lane with deliveries owed in the journal.
    public mutating func laneFound(_ name: DeliveryLane) {
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

    /// What came of an attempt; the delivery goes, or stays the first of its lane.
    public mutating func attempted(_ attempt: Attempt, in name: DeliveryLane) {
        let left = inFlight[name.sink, default: 1] - 1
        inFlight[name.sink] = left > 0 ? left : nil
        touched.insert(name.sink)
        if attempt.state == .paused { pausedSinks.insert(name.sink) }
        lanes[name]?.attempted(attempt)
        judge(name)
    }

    /// A person said `outbox retry`, or the sink was changed: what it is owed is read anew.
    public mutating func resumed(sink: String) {
        pausedSinks.remove(sink)
        touched.insert(sink)
        for name in lanes.keys where name.sink == sink {
            lanes[name]?.reread()
            judge(name)
        }
    }

    /// What waits for its time is due now, but for what was attempted here and failed.
    public mutating func hurried() {
        for (name, lane) in lanes where lane.waitsUntil != nil && !lane.firstHasFailed {
            lanes[name]?.hurried()
            judge(name)
        }
    }

    // MARK: What to do

    /// What to do now, and when to ask again.
    public mutating func orders(at now: Timestamp) -> (orders: [Order], wake: Timestamp?) {
        while let next = later.least, isStale(next) || next.due <= now {
            _ = later.popLeast()
            if !isStale(next) {
                lanes[next.lane]?.waitsUntil = nil
                judge(next.lane)
            }
        }
        var orders: [Order] = []
        let turns = ready
        ready = []
        for name in turns { if let load = turn(of: name, at: now) { orders.append(load) } }
        for sink in touched { fill(sink, at: now, into: &orders) }
        touched = []
        return (orders, later.least?.due)
    }

    private func isStale(_ entry: Later) -> Bool { lanes[entry.lane]?.waitsUntil != entry.due }

    private mutating func judge(_ name: DeliveryLane) {
        guard lanes[name]?.isReady == false else { return }
        lanes[name]?.isReady = true
        ready.append(name)
    }

    private mutating func turn(of name: DeliveryLane, at now: Timestamp) -> Order? {
        lanes[name]?.isReady = false
        guard let lane = lanes[name], !lane.isBusy, !lane.isLoading, !pausedSinks.contains(name.sink) else {
            return nil
        }
        guard let first = lane.waiting.first else {
            if lane.hasMore {
                lanes[name]?.isLoading = true
                return .load(name, after: lane.lastSeen)
            }
            if !lane.wasLoaded, !lane.isQueued { lanes[name] = nil }
            return nil
        }
        if first.due > now {
            wait(name, until: first.due)
        } else if !lane.isQueued {
            lanes[name]?.isQueued = true
            queues[name.sink, default: []].append(name)
            touched.insert(name.sink)
        }
        return nil
    }

    private mutating func wait(_ name: DeliveryLane, until due: Timestamp) {
        guard lanes[name]?.waitsUntil != due else { return }
        lanes[name]?.waitsUntil = due
        later.push(Later(due: due, lane: name))
    }

    /// Gives the sink's free places to its queue.
    private mutating func fill(_ sink: String, at now: Timestamp, into orders: inout [Order]) {
        guard !pausedSinks.contains(sink), let queue = queues[sink] else { return }
        var at = 0
        while at < queue.count, inFlight[sink, default: 0] < Outbox.perSink {
            let name = queue[at]
            at += 1
            lanes[name]?.isQueued = false
            guard let lane = lanes[name], !lane.isBusy, !lane.isLoading, let first = lane.waiting.first else {
                continue
            }
            guard first.due <= now else {
                wait(name, until: first.due)
                continue
            }
            lanes[name]?.isBusy = true
            inFlight[sink, default: 0] += 1
            orders.append(.attempt(first))
        }
        queues[sink] = at == queue.count ? nil : Array(queue[at...])
    }
}
