// SPDX-License-Identifier: Apache-2.0

/// Decides which delivery is attempted next: in order per lane, the highest priority of a sink first, within its policy. It
/// holds the lanes and their first deliveries; the rest is in the journal. A step costs time for the lanes that it touches,
/// not for all.
public struct DeliverySchedule: Sendable {
    /// Deliveries read ahead per lane.
    public static let ahead = 64
    /// Deliveries of one lane without order that wait for a retry before no more of it are read.
    static let maximumRetries = 1024

    /// What the dispatcher has to do.
    public enum Action: Sendable, Hashable {
        /// Attempt this delivery now.
        case attempt(Delivery)
        /// Read the lane's next deliveries, those with an id above `after`.
        case load(DeliveryLane, after: Int64)
    }

    private var lanes: [DeliveryLane: DeliveryBuffer] = [:]
    private var sinks: [String: SinkThrottle] = [:]
    /// Lanes to look at.
    private var ready: [DeliveryLane] = []
    /// Sinks that got a lane or capacity since the last actions.
    private var touched = Set<String>()
    /// By sink, the lanes of which the journal has more than is read ahead.
    private var unread: [String: Set<DeliveryLane>] = [:]
    /// By sink, the lanes with messages about several subjects: they may be about the subject of any other lane.
    private var ofSeveral: [String: Set<DeliveryLane>] = [:]
    /// By lane, the lanes whose next delivery waits for one of its deliveries.
    private var blocked: [DeliveryLane: Set<DeliveryLane>] = [:]
    /// Lanes and sinks that wait for a time. An entry is stale when its lane or sink has another time.
    private var later = Heap<Later>()
    /// Whether nothing is attempted later: what cannot be attempted now is left (`run --once`).
    private var isOnce = false

    private struct Later: Comparable, Sendable {
        var due: Timestamp
        var sink: String
        /// Nil for the sink itself.
        var lane: DeliveryLane?

        static func < (a: Later, b: Later) -> Bool { a.due < b.due }
    }

    /// Creates a schedule without deliveries.
    /// - Parameter policy: the policies of sinks that do not have the usual one.
    public init(policy: [String: DeliveryPolicy] = [:]) { apply(policy) }

    /// Whether nothing can be attempted now: all that is pending waits for its time or for a person.
    public var isDrained: Bool {
        lanes.allSatisfy { name, lane in
            lane.isEmpty && !lane.isBusy || !lane.isBusy && !lane.isLoading && isHeld(lane, name.sink)
        }
    }

    /// The deliveries that were read and have not ended; some of them may be in flight.
    public var waiting: [DeliveryPlace] {
        lanes.flatMap { name, lane in lane.waiting.map { DeliveryPlace(lane: name, id: $0.id) } }
    }

    /// Sinks that take no messages: paused ones, and those whose circuit has been open for minutes.
    public var unavailableSinks: Set<String> {
        Set(sinks.filter { $0.value.isPaused || $0.value.circuit.isLasting }.keys)
    }

    /// Returns the sinks whose fallbacks get their messages: paused ones, and those that have failed for their time.
    public func divertedSinks(at now: Timestamp) -> Set<String> {
        Set(sinks.filter { $0.value.isDiverted(at: now) }.keys)
    }

    /// Starts no attempt to these sinks until it is called without them: what they have pending is being passed on.
    public mutating func passOn(_ diverted: Set<String>) {
        for sink in sinks.keys where sinks[sink]?.isPassingOn != diverted.contains(sink) {
            sinks[sink]?.isPassingOn = diverted.contains(sink)
            touched.insert(sink)
        }
    }

    /// Returns whether a fallback gets a message whose attempt ended like that.
    public func diverts(_ outcome: Outcome, of sink: String, at now: Timestamp) -> Bool {
        guard let throttle = sinks[sink] else { return false }
        return switch outcome {
        case .paused, .disabled: !throttle.policy.fallbacks.isEmpty
        case .retry: throttle.isDiverted(at: now)
        case .delivered, .rejected: false
        }
    }

    /// Returns whether the sink's circuit is open.
    func isOpen(_ sink: String) -> Bool { sinks[sink]?.circuit.isOpen == true }

    /// Returns whether the sink waits for a person.
    public func isPaused(_ sink: String) -> Bool { sinks[sink]?.isPaused == true }

    private func isHeld(_ lane: DeliveryBuffer, _ sink: String) -> Bool {
        let sink = sinks[sink]
        return lane.waitsUntil != nil || lane.isBlocked || sink?.isPaused == true
            || isOnce && sink?.circuit.isOpen == true
    }

    // MARK: Events

    /// Replaces the policies; a sink that is not named has the usual one.
    public mutating func apply(_ policy: [String: DeliveryPolicy]) {
        for name in Set(sinks.keys).union(policy.keys) {
            sinks[name, default: SinkThrottle()].policy = policy[name] ?? DeliveryPolicy()
            touched.insert(name)
        }
    }

    /// Adds a lane with pending deliveries in the journal, at a start or when a person revived a delivery.
    public mutating func laneFound(_ name: DeliveryLane) {
        lanes[name, default: DeliveryBuffer()].reread()
        markReady(name)
    }

    /// Records that the journal has more deliveries in that lane than were announced.
    /// - Parameter id: the lowest id of these.
    public mutating func moreCommitted(_ name: DeliveryLane, from id: Int64) {
        lanes[name, default: DeliveryBuffer()].moreCommitted(from: id)
        markReady(name)
    }

    /// Adds deliveries that were committed, in their order.
    public mutating func committed(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            let name = delivery.lane
            // Only the journal knows whether an earlier one of its subject is among what another lane has not read.
            if unread[name.sink]?.contains(where: { $0 != name }) == true {
                lanes[name, default: DeliveryBuffer()].moreCommitted(from: delivery.id)
            } else {
                lanes[name, default: DeliveryBuffer()].committed(delivery)
            }
            markReady(name)
        }
    }

    /// Adds deliveries that were read from the journal.
    /// - Parameter ended: deliveries whose end is not written yet, so that the journal still has them as pending.
    public mutating func loaded(_ deliveries: [Delivery], in name: DeliveryLane, ended: Set<Int64> = []) {
        // The sink was given up while they were read.
        guard lanes[name] != nil else { return }
        lanes[name]?.loaded(deliveries, ended: ended)
        markReady(name)
        // What these must not overtake may be committed and not announced yet.
        for delivery in deliveries {
            guard let behind = delivery.behind else { continue }
            let isOfSeveral = delivery.message.subject.isEmpty
            let others = isOfSeveral ? lanes.keys.filter { $0.sink == name.sink && $0 != name } : []
            for lane in Set(others + [behind.lane]) where behind.id > lanes[lane]?.lastSeen ?? 0 {
                moreCommitted(lane, from: behind.id)
            }
        }
    }

    /// Records that the journal could not be read; the lane is loaded again at its next turn.
    public mutating func loadFailed(in name: DeliveryLane) {
        lanes[name]?.loadFailed()
        markReady(name)
    }

    /// Records the outcome of an attempt. The delivery leaves its lane, or stays for a retry.
    /// - Parameters:
    ///   - outcome: nil when its sink was not asked to take it.
    ///   - random: 0..<1.
    public mutating func attempted(_ attempt: Attempt, _ outcome: Outcome?, in name: DeliveryLane, random: Double) {
        var retryAfter: Duration?
        if case .retry(_, let after?) = outcome { retryAfter = min(after, RetryPolicy.longest) }
        touched.insert(name.sink)
        lanes[name]?.attempted(attempt, isPostponed: retryAfter != nil)
        markReady(name)
        sinks[name.sink]?.inFlight -= 1
        switch outcome {
        case .retry:
            let until = retryAfter.map { attempt.at.advanced(by: $0) }
            if sinks[name.sink]?.failingSince == nil { sinks[name.sink]?.failingSince = attempt.at }
            let isDiverted = sinks[name.sink]?.isDiverted(at: attempt.at) == true
            sinks[name.sink]?.circuit.failed(
                name, at: attempt.at, retryAfter: until, random: random, isDiverted: isDiverted)
        case .paused, .disabled: sinks[name.sink]?.isPaused = true
        case nil: break
        case .delivered, .rejected:
            sinks[name.sink]?.failingSince = nil
            if sinks[name.sink]?.circuit.succeeded() == true { receiverIsBack(name.sink) }
        }
    }

    /// Records that the sink saw its receiver return: closes the circuit, and makes retries due.
    public mutating func recovered(sink: String) {
        sinks[sink]?.isBack()
        touched.insert(sink)
        receiverIsBack(sink)
    }

    private mutating func receiverIsBack(_ sink: String) {
        for name in lanes.keys where name.sink == sink {
            lanes[name]?.receiverIsBack()
            markReady(name)
        }
    }

    /// Removes a delivery that ended without an attempt. One that is in flight is not attempted again.
    public mutating func ended(_ delivery: DeliveryPlace) {
        lanes[delivery.lane]?.ended(delivery.id)
        markReady(delivery.lane)
    }

    /// Pauses a sink that refused messages in an earlier run.
    public mutating func pause(sink: String) { sinks[sink, default: SinkThrottle()].isPaused = true }

    /// Takes over that a sink failed in an earlier run, or under another watcher.
    public mutating func fails(sink: String, since: Timestamp) {
        sinks[sink, default: SinkThrottle()].failingSince = since
    }

    /// When a sink last began to fail; nil while none fails.
    public var lastFailure: Timestamp? { sinks.values.compactMap(\.failingSince).max() }

    /// Leaves a time out of that for which sinks have failed: nothing was attempted in it.
    public mutating func excludeFromFailures(_ pause: Duration) {
        for (sink, state) in sinks { sinks[sink]?.failingSince = state.failingSince?.advanced(by: pause) }
    }

    /// Forgets the lanes of a sink that another watcher delivers to from now on. Attempts in flight may end later.
    public mutating func remove(sink: String) {
        lanes = lanes.filter { $0.key.sink != sink }
        blocked = blocked.filter { $0.key.sink != sink }
        (unread[sink], ofSeveral[sink]) = (nil, nil)
        sinks[sink]?.isPaused = false
        sinks[sink]?.isBack()
    }

    /// Reads every lane again, because the journal changed its deliveries.
    public mutating func rereadAll() {
        for name in lanes.keys {
            lanes[name]?.reread()
            markReady(name)
        }
    }

    /// Resumes a paused sink after `outbox retry` or a change of its configuration, and reads its deliveries again.
    public mutating func resumed(sink: String) {
        sinks[sink]?.isPaused = false
        sinks[sink]?.isBack()
        touched.insert(sink)
        reread(sink: sink)
    }

    /// Reads the sink's deliveries again, because a person changed them.
    public mutating func reread(sink: String) {
        for name in lanes.keys where name.sink == sink {
            lanes[name]?.reread()
            markReady(name)
        }
    }

    /// Records that an attempt was cancelled, since its sink is another watcher's now or the program ends.
    public mutating func cancelled(in name: DeliveryLane) { sinks[name.sink]?.inFlight -= 1 }

    /// Makes every delivery due now, except those that were attempted and failed. From now on nothing waits for a time.
    public mutating func drainOnce() {
        isOnce = true
        for name in lanes.keys {
            lanes[name]?.makeDue()
            markReady(name)
        }
    }

    // MARK: Actions

    /// Returns what to do now, and when to ask again.
    public mutating func actions(at now: Timestamp) -> (actions: [Action], wake: Timestamp?) {
        while let next = later.least, isStale(next) || next.due <= now {
            _ = later.popLeast()
            if !isStale(next) { wake(next) }
        }
        var actions: [Action] = []
        while !ready.isEmpty || !touched.isEmpty {
            let turns = ready
            ready = []
            for name in turns { if let load = turn(of: name, at: now) { actions.append(load) } }
            let names = touched
            touched = []
            for sink in names { fill(sink, at: now, into: &actions) }
        }
        return (actions, [later.least?.due, nextDiversion(after: now)].compactMap { $0 }.min())
    }

    private func nextDiversion(after now: Timestamp) -> Timestamp? {
        sinks.values.lazy.compactMap(\.divertsAt).filter { $0 > now }.min()
    }

    private func isStale(_ entry: Later) -> Bool {
        guard let name = entry.lane else { return sinks[entry.sink]?.wakesAt != entry.due }
        return lanes[name]?.waitsUntil != entry.due
    }

    private mutating func wake(_ entry: Later) {
        if let name = entry.lane {
            lanes[name]?.waitsUntil = nil
            markReady(name)
        } else {
            sinks[entry.sink]?.wakesAt = nil
            touched.insert(entry.sink)
        }
    }

    /// Looks at a lane that changed, and at those that wait for one of its deliveries.
    private mutating func markReady(_ name: DeliveryLane) {
        DeliverySchedule.note(name, in: &unread, lanes[name]?.isUnread == true)
        DeliverySchedule.note(name, in: &ofSeveral, lanes[name]?.isAboutSeveral == true)
        lanes[name]?.blocker = nil
        for name in [name] + (blocked.removeValue(forKey: name) ?? []) where lanes[name]?.isReady == false {
            lanes[name]?.isReady = true
            lanes[name]?.isBlocked = false
            ready.append(name)
        }
    }

    private static func note(_ name: DeliveryLane, in lanes: inout [String: Set<DeliveryLane>], _ isIn: Bool) {
        if isIn { lanes[name.sink, default: []].insert(name) } else { lanes[name.sink]?.remove(name) }
    }

    private mutating func turn(of name: DeliveryLane, at now: Timestamp) -> Action? {
        lanes[name]?.isReady = false
        guard let lane = lanes[name], !lane.isLoading, sinks[name.sink]?.isPaused != true else { return nil }
        let inOrder = !isParallel(name.sink)
        if let next = lane.next(inOrder: inOrder), next.due <= now {
            if !lane.isQueued { queue(name) }
            return nil
        }
        if lane.hasMore, !lane.isOutdated, inOrder ? lane.waiting.isEmpty : lane.hasRoom {
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
        sinks[name.sink, default: SinkThrottle()].enqueue(name)
        touched.insert(name.sink)
    }

    private mutating func wait(_ name: DeliveryLane, until due: Timestamp) {
        guard lanes[name]?.waitsUntil != due else { return }
        lanes[name]?.waitsUntil = due
        if !isOnce { later.push(Later(due: due, sink: name.sink, lane: name)) }
    }

    /// Starts attempts of the sink's queue while it has capacity.
    private mutating func fill(_ sink: String, at now: Timestamp, into actions: inout [Action]) {
        while let state = sinks[sink], state.hasQueue, state.hasCapacity {
            if let start = state.nextStart(at: now) { return sleep(sink, until: start) }
            guard let name = sinks[sink]?.dequeue() else { return }
            lanes[name]?.isQueued = false
            guard let next = attempt(of: name, inOrder: !state.policy.isParallel, at: now) else { continue }
            sinks[sink]?.started(at: now)
            actions.append(.attempt(next))
            if state.policy.isParallel { markReady(name) }
        }
    }

    private mutating func sleep(_ sink: String, until start: Timestamp) {
        // `run --once` does not wait for an open circuit.
        guard let state = sinks[sink], state.wakesAt != start, !(isOnce && state.circuit.isOpen) else { return }
        sinks[sink]?.wakesAt = start
        later.push(Later(due: start, sink: sink, lane: nil))
    }

    private mutating func attempt(of name: DeliveryLane, inOrder: Bool, at now: Timestamp) -> Delivery? {
        guard let lane = lanes[name], !lane.isLoading || !inOrder, let next = lane.next(inOrder: inOrder) else {
            return nil
        }
        guard next.due <= now else {
            wait(name, until: next.due)
            return nil
        }
        if inOrder, let blocker = blocker(of: next, in: name) {
            lanes[name]?.isBlocked = true
            lanes[name]?.blocker = blocker
            blocked[blocker.lane, default: []].insert(name)
            return nil
        }
        lanes[name]?.isBlocked = false
        lanes[name]?.started(next.id)
        return next
    }

    /// Returns the last delivery in another lane that has to end before this one: an earlier one of its subject.
    private func blocker(of next: Delivery, in name: DeliveryLane) -> DeliveryPlace? {
        guard let lane = lanes[name] else { return nil }
        // Asked after each change of the other lane. Few of these end the one that this one waits for.
        for known in [lane.blocker, next.behind] {
            if let known, lanes[known.lane]?.mayHold(known.id) == true { return known }
        }
        let others =
            next.message.subject.isEmpty
            ? lanes.keys.filter { $0.sink == name.sink } : name.siblings + (ofSeveral[name.sink] ?? [])
        return others.compactMap { other in
            guard other != name else { return nil }
            // The journal names the last of those that one about several is behind. Others may be in any lane.
            if next.message.subject.isEmpty, let last = next.behind?.id, lanes[other]?.mayHold(last) == true {
                return DeliveryPlace(lane: other, id: last)
            }
            return lanes[other]?.lastPredecessor(of: next, isKnown: lane.isLoaded(next.id))
                .map { DeliveryPlace(lane: other, id: $0) }
        }.max { $0.id < $1.id }
    }
}
