// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Decides which waiting request starts next (I7), by the slots per lane, per origin and per group, and by the interval of
/// an origin. A request that its origin or group blocks does not delay the requests of others.
///
/// Times are milliseconds of a clock that never jumps.
struct RequestQueue {
    static let maximumPerOrigin = 8
    static let maximumPerGroup = 4
    /// Polls without an answer that have given their lane's slot back.
    static let maximumSlow = 192

    typealias ID = UInt64

    /// Requests that share all their limits wait in one queue.
    private struct Queue: Hashable {
        var lane: Lane
        var origin: String
        var group: String?
    }

    private struct LaneState {
        var running = 0
        /// Queues whose first request may start when the lane has a free slot.
        var ready = FIFO<Queue>()
    }

    private var waiting: [Queue: FIFO<ID>] = [:]
    private var queueOf: [ID: Queue] = [:]
    private var running: [ID: (queue: Queue, isSlow: Bool)] = [:]
    /// By `Lane.index`.
    private var states = Lane.allCases.map { _ in LaneState() }
    /// Queues that wait for a slot of their origin or group.
    private var blockedByOrigin: [String: [Queue]] = [:]
    private var blockedByGroup: [String: [Queue]] = [:]
    private var countByOrigin: [String: Int] = [:]
    private var countByGroup: [String: Int] = [:]
    private var slowCount = 0
    private var rateLimiter = OriginRateLimiter()
    /// Queues that wait for the interval of their origin, the earliest last.
    private var rateLimited: [(until: Int64, queue: Queue)] = []

    var isEmpty: Bool { running.isEmpty && queueOf.isEmpty }

    /// Adds a request at the end of its queue.
    mutating func add(
        _ id: ID, lane: Lane, origin: String, group: String?, originLimits: OriginLimits = OriginLimits(),
        now: Int64 = 0
    ) {
        if originLimits.concurrency != nil || originLimits.interval != nil {
            rateLimiter.add(originLimits, to: origin, isBusy: countByOrigin[origin] != nil, now: now)
        }
        let queue = Queue(lane: lane, origin: origin, group: group)
        queueOf[id] = queue
        if waiting[queue] == nil {
            waiting[queue] = FIFO()
            states[lane.index].ready.append(queue)
        }
        waiting[queue]?.append(id)
    }

    /// Returns the next request that may start, and counts it as running.
    mutating func next(now: Int64 = 0) -> ID? {
        while let (until, queue) = rateLimited.last, until <= now {
            rateLimited.removeLast()
            states[queue.lane.index].ready.append(queue)
        }
        for lane in Lane.allCases {
            if let id = next(in: lane, now) { return id }
        }
        return nil
    }

    /// When the interval of an origin next lets a request start; nil when none waits for that.
    var nextStart: Int64? { rateLimited.last?.until }

    private mutating func postpone(_ queue: Queue, until: Int64) {
        let index = rateLimited.firstIndex { $0.until <= until } ?? rateLimited.endIndex
        rateLimited.insert((until, queue), at: index)
    }

    private mutating func next(in lane: Lane, _ now: Int64) -> ID? {
        while states[lane.index].running < lane.slots, let queue = states[lane.index].ready.popFirst() {
            if lane != .streams,
                countByOrigin[queue.origin, default: 0] >= rateLimiter.concurrency(of: queue.origin, now: now)
            {
                blockedByOrigin[queue.origin, default: []].append(queue)
                continue
            }
            if let until = rateLimiter.nextStart(of: queue.origin, now: now) {
                postpone(queue, until: until)
                continue
            }
            if let group = queue.group, countByGroup[group, default: 0] >= RequestQueue.maximumPerGroup {
                blockedByGroup[group, default: []].append(queue)
                continue
            }
            guard let id = popWaiting(queue) else { continue }
            start(id, queue)
            rateLimiter.started(queue.origin, now: now)
            return id
        }
        return nil
    }

    /// Skips cancelled requests. A queue that is not empty afterwards goes to the end of its lane's ready queues.
    private mutating func popWaiting(_ queue: Queue) -> ID? {
        while let id = waiting[queue]?.popFirst() {
            guard queueOf[id] != nil else { continue }
            if waiting[queue]?.isEmpty == true {
                waiting[queue] = nil
            } else {
                states[queue.lane.index].ready.append(queue)
            }
            return id
        }
        waiting[queue] = nil
        return nil
    }

    private mutating func start(_ id: ID, _ queue: Queue) {
        queueOf[id] = nil
        running[id] = (queue, false)
        states[queue.lane.index].running += 1
        // A stream would keep its slot for days, and others would never get it.
        if queue.lane != .streams { countByOrigin[queue.origin, default: 0] += 1 }
        if let group = queue.group { countByGroup[group, default: 0] += 1 }
    }

    /// Removes a waiting request: it never starts.
    mutating func cancel(_ id: ID) { queueOf[id] = nil }

    /// Marks a running poll as slow to answer: it gives back its slot in the lane, but not the one of its origin.
    mutating func markSlow(_ id: ID) {
        guard let entry = running[id], !entry.isSlow, entry.queue.lane == .polls, slowCount < RequestQueue.maximumSlow
        else { return }
        running[id]?.isSlow = true
        slowCount += 1
        states[Lane.polls.index].running -= 1
    }

    /// Releases the slots of a running request.
    mutating func finish(_ id: ID) {
        guard let (queue, isSlow) = running.removeValue(forKey: id) else { return }
        if isSlow { slowCount -= 1 } else { states[queue.lane.index].running -= 1 }
        if queue.lane != .streams { RequestQueue.decrement(&countByOrigin, queue.origin) }
        for blocked in blockedByOrigin.removeValue(forKey: queue.origin) ?? [] {
            states[blocked.lane.index].ready.append(blocked)
        }
        guard let group = queue.group else { return }
        RequestQueue.decrement(&countByGroup, group)
        for blocked in blockedByGroup.removeValue(forKey: group) ?? [] {
            states[blocked.lane.index].ready.append(blocked)
        }
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

    /// How many requests of the lane run at once.
    fileprivate var slots: Int {
        switch self {
        case .polls: 64
        case .slowHosts: 16
        case .deliveries: 32
        case .streams: 64
        }
    }
}

/// A queue over an array. The taken elements at its front are removed now and then, not one by one.
struct FIFO<Element> {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            head += 1
            if head == elements.count {
                elements.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 64, head * 2 > elements.count {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }
}
