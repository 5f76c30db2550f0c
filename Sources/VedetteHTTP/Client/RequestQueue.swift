// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides which waiting request starts next (I7), by the slots per lane, per origin and per group, and by the interval of
/// an origin. A request that its origin or group blocks does not delay the requests of others.
///
/// Times are milliseconds of a clock that never jumps.
struct RequestQueue {
    typealias ID = UInt64

    /// What requests that wait in one queue share: all their limits.
    private struct Key: Hashable {
        var lane: Lane
        var origin: String
        var group: String?
    }

    private struct Queue {
        let key: Key
        /// The index of its origin.
        let origin: Int
        /// Those that were cancelled are skipped when they are taken.
        var waiting = FIFO<ID>()
        /// Whether it is among the ready, blocked or rate-limited queues.
        var isQueued = false
        var running = 0

        var isIdle: Bool { !isQueued && running == 0 }
    }

    private struct Origin {
        let name: String
        var running = 0
        /// Queues that wait for a slot of the origin.
        var blocked: [Int] = []
        /// How many queues are of this origin.
        var queues = 0
    }

    private struct LaneState {
        var running = 0
        /// Those that gave back their slot.
        var slow = 0
        /// Queues whose first request may start when the lane has a free slot.
        var ready = FIFO<Int>()
    }

    private enum State { case waiting, running, slow }

    /// Queues and origins beyond which the idle ones are removed (I8).
    private static let maximumIdle = 4096

    /// By index, which requests and lists use, so that a request hashes its origin once.
    private var queues: [Queue?] = []
    private var origins: [Origin?] = []
    private var queueIndex: [Key: Int] = [:]
    private var originIndex: [String: Int] = [:]
    private var freeQueues: [Int] = []
    private var freeOrigins: [Int] = []
    /// Idle queues are removed when there are more queues than that.
    private var maximumQueues = RequestQueue.maximumIdle
    private var requests: [ID: (queue: Int, state: State)] = [:]
    /// By `Lane.index`.
    private var lanes = Lane.allCases.map { _ in LaneState() }
    /// Queues that wait for a slot of their group.
    private var blockedByGroup: [String: [Int]] = [:]
    private var countByGroup: [String: Int] = [:]
    private var rateLimiter = OriginRateLimiter()
    /// Queues that wait for the interval of their origin, the earliest last.
    private var rateLimited: [(until: Int64, queue: Int)] = []

    var isEmpty: Bool { requests.isEmpty }

    /// Adds a request at the end of its queue.
    mutating func add(
        _ id: ID, lane: Lane, origin: String, group: String?, originLimits: OriginLimits = OriginLimits(),
        now: Int64 = 0
    ) {
        let index = queue(Key(lane: lane, origin: origin, group: group))
        if originLimits.concurrency != nil || originLimits.interval != nil {
            let isBusy = queues[index].flatMap { origins[$0.origin] }.map { $0.running > 0 } ?? false
            rateLimiter.add(originLimits, to: origin, isBusy: isBusy, now: now)
        }
        requests[id] = (index, .waiting)
        queues[index]?.waiting.append(id)
        if queues[index]?.isQueued == false {
            queues[index]?.isQueued = true
            lanes[lane.index].ready.append(index)
        }
    }

    /// Returns the index of a queue, which is added where there is none.
    private mutating func queue(_ key: Key) -> Int {
        if let index = queueIndex[key] { return index }
        if queueIndex.count >= maximumQueues { removeIdle() }
        let origin = origin(key.origin)
        origins[origin]?.queues += 1
        let index = RequestQueue.place(Queue(key: key, origin: origin), in: &queues, &freeQueues)
        queueIndex[key] = index
        return index
    }

    private mutating func origin(_ name: String) -> Int {
        if let index = originIndex[name] { return index }
        let index = RequestQueue.place(Origin(name: name), in: &origins, &freeOrigins)
        originIndex[name] = index
        return index
    }

    private static func place<Element>(_ element: Element, in list: inout [Element?], _ free: inout [Int]) -> Int {
        guard let index = free.popLast() else {
            list.append(element)
            return list.count - 1
        }
        list[index] = element
        return index
    }

    private mutating func removeIdle() {
        for (index, queue) in queues.enumerated() {
            guard let queue, queue.isIdle else { continue }
            (queues[index], queueIndex[queue.key]) = (nil, nil)
            freeQueues.append(index)
            origins[queue.origin]?.queues -= 1
            guard let origin = origins[queue.origin], origin.queues == 0 else { continue }
            (origins[queue.origin], originIndex[origin.name]) = (nil, nil)
            freeOrigins.append(queue.origin)
        }
        maximumQueues = max(RequestQueue.maximumIdle, 2 * queueIndex.count)
    }

    /// Returns the next request that may start, and counts it as running.
    mutating func next(now: Int64 = 0) -> ID? {
        while let (until, index) = rateLimited.last, until <= now {
            rateLimited.removeLast()
            makeReady(index)
        }
        for lane in Lane.allCases {
            if let id = next(in: lane, now) { return id }
        }
        return nil
    }

    /// When the interval of an origin next lets a request start; nil when none waits for that.
    var nextStart: Int64? { rateLimited.last?.until }

    private mutating func makeReady(_ index: Int) {
        guard let lane = queues[index]?.key.lane else { return }
        lanes[lane.index].ready.append(index)
    }

    private mutating func postpone(_ queue: Int, until: Int64) {
        let index = rateLimited.firstIndex { $0.until <= until } ?? rateLimited.endIndex
        rateLimited.insert((until, queue), at: index)
    }

    private mutating func next(in lane: Lane, _ now: Int64) -> ID? {
        while lanes[lane.index].running < lane.slots, let index = lanes[lane.index].ready.popFirst() {
            guard let key = queues[index]?.key, let origin = queues[index]?.origin else { continue }
            if lane != .streams,
                (origins[origin]?.running ?? 0) >= rateLimiter.concurrency(of: key.origin, now: now)
            {
                origins[origin]?.blocked.append(index)
                continue
            }
            if let until = rateLimiter.nextStart(of: key.origin, now: now) {
                postpone(index, until: until)
                continue
            }
            if let group = key.group, countByGroup[group, default: 0] >= DeliveryPolicy.maximumConcurrency {
                blockedByGroup[group, default: []].append(index)
                continue
            }
            guard let id = popWaiting(index) else { continue }
            start(id, index, key, origin)
            rateLimiter.started(key.origin, now: now)
            return id
        }
        return nil
    }

    /// Skips cancelled requests. A queue that is not empty afterwards goes to the end of its lane's ready queues.
    private mutating func popWaiting(_ index: Int) -> ID? {
        while let id = queues[index]?.waiting.popFirst() {
            guard requests[id] != nil else { continue }
            if queues[index]?.waiting.isEmpty == true {
                queues[index]?.isQueued = false
            } else {
                makeReady(index)
            }
            return id
        }
        queues[index]?.isQueued = false
        return nil
    }

    private mutating func start(_ id: ID, _ index: Int, _ key: Key, _ origin: Int) {
        requests[id] = (index, .running)
        queues[index]?.running += 1
        lanes[key.lane.index].running += 1
        // A stream would keep its slot for days, and others would never get it.
        if key.lane != .streams { origins[origin]?.running += 1 }
        if let group = key.group { countByGroup[group, default: 0] += 1 }
    }

    /// Removes a waiting request: it never starts.
    mutating func cancel(_ id: ID) {
        if requests[id]?.state == .waiting { requests[id] = nil }
    }

    /// Marks a running request or mail as slow. It gives back its slot in the lane, and keeps the slots of its origin and group.
    mutating func markSlow(_ id: ID) {
        guard let (index, state) = requests[id], state == .running, let lane = queues[index]?.key.lane,
            lanes[lane.index].slow < lane.maximumUnanswered
        else { return }
        requests[id] = (index, .slow)
        lanes[lane.index].slow += 1
        lanes[lane.index].running -= 1
    }

    /// Releases the slots of a running request.
    mutating func finish(_ id: ID) {
        guard let (index, state) = requests[id], state != .waiting, let key = queues[index]?.key,
            let origin = queues[index]?.origin
        else { return }
        requests[id] = nil
        queues[index]?.running -= 1
        if state == .slow { lanes[key.lane.index].slow -= 1 } else { lanes[key.lane.index].running -= 1 }
        if key.lane != .streams { origins[origin]?.running -= 1 }
        if let blocked = origins[origin]?.blocked, !blocked.isEmpty {
            origins[origin]?.blocked = []
            for other in blocked { makeReady(other) }
        }
        guard let group = key.group else { return }
        RequestQueue.decrement(&countByGroup, group)
        for other in blockedByGroup.removeValue(forKey: group) ?? [] { makeReady(other) }
    }

    private static func decrement(_ counts: inout [String: Int], _ name: String) {
        guard let count = counts[name] else { return }
        counts[name] = count > 1 ? count - 1 : nil
    }
}

extension Lane {
    fileprivate var index: Int {
        switch self {
        case .polls: 0
        case .slowHosts: 1
        case .deliveries: 2
        case .streams: 3
        }
    }
}
