// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Who may start (I7): places per lane, per origin and per group, and an origin's interval, with a queue in which
/// nobody who is blocked by his own origin or group stands in another's way. Times are milliseconds that never jump.
struct RequestQueue {
    static let perOrigin = 8
    static let perGroup = 4
    /// Polls that have been silent for long give their place back, up to so many.
    static let mostSlow = 192

    typealias ID = UInt64

    /// Requests that share all their limits wait in one queue.
    private struct Queue: Hashable {
        var lane: Lane
        var origin: String
        var group: String?
    }

    private struct LaneState {
        var running = 0
        /// Queues that may have their turn.
        var ready = FIFO<Queue>()
    }

    private var waiting: [Queue: FIFO<ID>] = [:]
    private var queueOf: [ID: Queue] = [:]
    private var running: [ID: (queue: Queue, isSlow: Bool)] = [:]
    /// By `Lane.index`.
    private var states = Lane.allCases.map { _ in LaneState() }
    /// Queues that wait for their origin or group.
    private var blockedByOrigin: [String: [Queue]] = [:]
    private var blockedByGroup: [String: [Queue]] = [:]
    private var atOrigin: [String: Int] = [:]
    private var inGroup: [String: Int] = [:]
    private var slow = 0
    private var originLimits = OriginRateLimiter()
    /// Queues whose origin rests until then, the next one last.
    private var resting: [(until: Int64, queue: Queue)] = []

    var isEmpty: Bool { running.isEmpty && queueOf.isEmpty }

    mutating func add(
        _ id: ID, lane: Lane, origin: String, group: String?, originLimits: OriginLimits = OriginLimits(),
        now: Int64 = 0
    ) {
        if originLimits.concurrency != nil || originLimits.interval != nil {
            self.originLimits.heard(originLimits, of: origin, isBusy: atOrigin[origin] != nil, now: now)
        }
        let queue = Queue(lane: lane, origin: origin, group: group)
        queueOf[id] = queue
        if waiting[queue] == nil {
            waiting[queue] = FIFO()
            states[lane.index].ready.append(queue)
        }
        waiting[queue]?.append(id)
    }

    /// The next request that may start; it then counts as running.
    mutating func next(now: Int64 = 0) -> ID? {
        while let (until, queue) = resting.last, until <= now {
            resting.removeLast()
            states[queue.lane.index].ready.append(queue)
        }
        for lane in Lane.allCases {
            if let id = next(in: lane, now) { return id }
        }
        return nil
    }

    /// When an origin's interval lets somebody start who waits for nothing else.
    var nextStart: Int64? { resting.last?.until }

    private mutating func rest(_ queue: Queue, until: Int64) {
        let at = resting.firstIndex { $0.until <= until } ?? resting.endIndex
        resting.insert((until, queue), at: at)
    }

    private mutating func next(in lane: Lane, _ now: Int64) -> ID? {
        while states[lane.index].running < lane.places, let queue = states[lane.index].ready.popFirst() {
            if atOrigin[queue.origin, default: 0] >= originLimits.concurrency(at: queue.origin, now: now) {
                blockedByOrigin[queue.origin, default: []].append(queue)
                continue
            }
            if let until = originLimits.rest(of: queue.origin, now: now) {
                rest(queue, until: until)
                continue
            }
            if let group = queue.group, inGroup[group, default: 0] >= RequestQueue.perGroup {
                blockedByGroup[group, default: []].append(queue)
                continue
            }
            guard let id = popWaiting(queue) else { continue }
            start(id, queue)
            originLimits.started(queue.origin, now: now)
            return id
        }
        return nil
    }

    /// Skips the cancelled; a queue that still holds somebody goes to the end of the line.
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
        atOrigin[queue.origin, default: 0] += 1
        if let group = queue.group { inGroup[group, default: 0] += 1 }
    }

    /// A waiting request was cancelled: it never starts.
    mutating func cancelled(_ id: ID) { queueOf[id] = nil }

    /// A running poll has been silent for long: it gives back its place in the lane, not the one at its origin.
    mutating func silent(_ id: ID) {
        guard let entry = running[id], !entry.isSlow, entry.queue.lane == .polls, slow < RequestQueue.mostSlow else {
            return
        }
        running[id]?.isSlow = true
        slow += 1
        states[Lane.polls.index].running -= 1
    }

    mutating func finished(_ id: ID) {
        guard let (queue, isSlow) = running.removeValue(forKey: id) else { return }
        if isSlow { slow -= 1 } else { states[queue.lane.index].running -= 1 }
        RequestQueue.decrement(&atOrigin, queue.origin)
        for blocked in blockedByOrigin.removeValue(forKey: queue.origin) ?? [] {
            states[blocked.lane.index].ready.append(blocked)
        }
        guard let group = queue.group else { return }
        RequestQueue.decrement(&inGroup, group)
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
        }
    }

    /// How many may be in flight.
    fileprivate var places: Int {
        switch self {
        case .polls: 64
        case .slowHosts: 16
        case .deliveries: 32
        }
    }
}

/// A queue over an array whose taken front is dropped now and then.
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
