// SPDX-License-Identifier: Apache-2.0

/// How a delivery is retried: full jitter over 5 s doubling to 1 h, until `giveUp` after its creation.
public struct RetryPolicy: Sendable, Hashable {
    public static let first = Duration.seconds(5)
    public static let longest = Duration.seconds(3600)
    public var giveUp = Duration.seconds(72 * 3600)

    public init() {}

    /// What an outcome makes of a delivery.
    /// - Parameter chance: 0..<1.
    public func attempt(_ delivery: Delivery, _ outcome: Outcome, at now: Timestamp, chance: Double) -> Attempt {
        let attempts = delivery.attempts + 1
        func ended(_ state: DeliveryState, _ reason: String?, due: Timestamp? = nil) -> Attempt {
            Attempt(
                delivery: delivery.id, state: state, attempts: attempts, due: due ?? now, at: now, reason: reason)
        }
        switch outcome {
        case .delivered: return ended(.sent, nil)
        case .rejected(let reason): return ended(.dead, reason)
        case .paused(let reason), .disabled(let reason): return ended(.paused, reason)
        case .retry(let reason, let after):
            let doubled =
                attempts > 12
                ? RetryPolicy.longest : min(RetryPolicy.longest, RetryPolicy.first * (1 << (attempts - 1)))
            let wait = max(doubled * chance, min(after ?? .zero, RetryPolicy.longest), .milliseconds(500))
            let due = now.advanced(by: wait)
            if due > delivery.created.advanced(by: giveUp) { return ended(.dead, "gave up after 72 h: \(reason)") }
            return ended(.retry, reason, due: due)
        }
    }
}

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

    private struct Lane {
        var waiting: [Delivery] = []
        /// More is in the journal than `waiting` holds.
        var hasMore = false
        var lastLoaded: Int64 = 0
        var isBusy = false
        var isLoading = false

        var isDone: Bool { waiting.isEmpty && !hasMore && !isBusy && !isLoading }
    }

    private var lanes: [DeliveryLane: Lane] = [:]
    private var inFlight: [String: Int] = [:]
    private var pausedSinks = Set<String>()
    /// Lanes that may have something to do now.
    private var ready: [DeliveryLane] = []
    /// Lanes that wait for a free place at their sink, the longest waiting first.
    private var starved: [String: [DeliveryLane]] = [:]
    /// Lanes whose first delivery waits for its time.
    private var later: [DeliveryLane: Timestamp] = [:]

    public init() {}

    /// No attempt is under way.
    public var isIdle: Bool { inFlight.values.allSatisfy { $0 == 0 } }

    /// Nothing is owed but what waits for its time or for a person.
    public var isDrained: Bool {
        lanes.allSatisfy { name, lane in
            lane.isDone || (!lane.isBusy && (later[name] != nil || pausedSinks.contains(name.sink)))
        }
    }

    /// Of a start: a lane with deliveries owed in the journal.
    public mutating func laneFound(_ lane: DeliveryLane) {
        lanes[lane, default: Lane()].hasMore = true
        ready.append(lane)
    }

    /// New deliveries were committed, in order.
    public mutating func committed(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            let name = delivery.lane
            var lane = lanes.removeValue(forKey: name) ?? Lane()
            if lane.hasMore || lane.isLoading || lane.waiting.count >= Outbox.ahead {
                lane.hasMore = true
            } else {
                lane.waiting.append(delivery)
                lane.lastLoaded = delivery.id
            }
            lanes[name] = lane
            ready.append(name)
        }
    }

    public mutating func loaded(_ deliveries: [Delivery], in name: DeliveryLane) {
        guard var lane = lanes.removeValue(forKey: name) else { return }
        lane.isLoading = false
        // Deliveries committed while these were read are in the journal behind them, so a short page may not be the end.
        lane.hasMore = !deliveries.isEmpty
        lane.waiting += deliveries
        if let last = deliveries.last { lane.lastLoaded = last.id }
        lanes[name] = lane
        ready.append(name)
    }

    /// The journal could not be read: the lane asks again at its next turn.
    public mutating func loadFailed(in name: DeliveryLane) {
        lanes[name]?.isLoading = false
        ready.append(name)
    }

    /// What came of an attempt; the delivery goes, or stays the first of its lane.
    public mutating func attempted(_ attempt: Attempt, in name: DeliveryLane) {
        inFlight[name.sink, default: 1] -= 1
        if let next = starved[name.sink]?.first {
            starved[name.sink]?.removeFirst()
            ready.append(next)
        }
        guard var lane = lanes.removeValue(forKey: name) else { return }
        lane.isBusy = false
        if let first = lane.waiting.first, first.id == attempt.delivery {
            if attempt.state.isOwed {
                lane.waiting[0].attempts = attempt.attempts
                lane.waiting[0].due = attempt.due
                lane.waiting[0].reason = attempt.reason
                if attempt.state == .paused { pausedSinks.insert(name.sink) }
            } else {
                lane.waiting.removeFirst()
            }
        }
        lanes[name] = lane
        ready.append(name)
    }

    /// A person said `outbox retry`, or the sink was changed: what it is owed is read anew.
    public mutating func resumed(sink: String) {
        pausedSinks.remove(sink)
        for name in lanes.keys where name.sink == sink && lanes[name]?.isBusy == false {
            lanes[name] = Lane(hasMore: true)
            later[name] = nil
            ready.append(name)
        }
    }

    /// What to do now, and when to ask again.
    public mutating func orders(at now: Timestamp) -> (orders: [Order], wake: Timestamp?) {
        for (name, due) in later where due <= now {
            later[name] = nil
            ready.append(name)
        }
        var orders: [Order] = []
        // A lane may stand in `ready` twice; its second turn finds it busy.
        for name in ready { if let order = order(in: name, at: now) { orders.append(order) } }
        ready = []
        return (orders, later.values.min())
    }

    private mutating func order(in name: DeliveryLane, at now: Timestamp) -> Order? {
        guard var lane = lanes.removeValue(forKey: name) else { return nil }
        defer { if !lane.isDone { lanes[name] = lane } }
        guard !lane.isBusy, !lane.isLoading, !pausedSinks.contains(name.sink) else { return nil }
        guard let first = lane.waiting.first else {
            guard lane.hasMore else { return nil }
            lane.isLoading = true
            return .load(name, after: lane.lastLoaded)
        }
        guard first.due <= now else {
            later[name] = first.due
            return nil
        }
        guard inFlight[name.sink, default: 0] < Outbox.perSink else {
            starved[name.sink, default: []].append(name)
            return nil
        }
        lane.isBusy = true
        inFlight[name.sink, default: 0] += 1
        return .attempt(first)
    }
}
