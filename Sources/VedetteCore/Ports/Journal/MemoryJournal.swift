// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A journal that lives as long as its owner: for `replay`, for tests, and as the model that other journals are tested
/// against. It obeys the whole contract of the ports apart from durability.
public final class MemoryJournal: Journal, JournalMaintenance, JournalAccess, JournalReader, CookieStore {
    private let state = Mutex(MemoryJournalState())

    public init() {}

    public var location: String { "memory" }
    public var isCurrent: Bool { true }

    public func watcher() -> WatcherProcess? { nil }
    public func reader() -> any JournalReader { self }
    public func close() {
        // Outside the lock, since the end of a stream comes back here.
        for waiter in state.withLock({ $0.waiters.values }) { waiter.finish() }
    }

    // MARK: The engine

    public func sourceRecords() -> [SourceRecord] { read { $0.records.values.sorted { $0.name < $1.name } } }
    public func items(of source: String) -> [String: StoredItem] { read { $0.items[source] ?? [:] } }

    public func items(of source: String, from offset: Int, limit: Int) -> [StoredItem] {
        let present = items(of: source).values.filter { $0.absentSince == nil }
        let sorted = present.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return Array(sorted.dropFirst(offset).prefix(limit))
    }
    public func lastOfWatcher() -> Event? {
        read { $0.events.last { $0.source == Event.watcher && ($0.kind == .offline || $0.kind == .online) } }
    }
    public func ruleMemories() -> [RuleMemory] {
        read { state in
            state.memories.values.sorted {
                ($0.key.rule, $0.key.slot.rawValue, $0.key.name) < ($1.key.rule, $1.key.slot.rawValue, $1.key.name)
            }
        }
    }
    public func silences() -> [Silence] { read { $0.silences } }

    public func commit(_ polls: [PollRecord], within limits: QueueLimits) throws(JournalError) -> CommitResult {
        try transaction { state throws(JournalError) in
            var committed: [Committed] = []
            for poll in polls { committed.append(try state.write(poll)) }
            let eviction = try state.evict(limits, after: committed.flatMap(\.deliveries))
            let polls = committed.map { Committed(events: $0.events, deliveries: state.current($0.deliveries)) }
            return CommitResult(polls: polls, eviction: state.current(eviction))
        }
    }

    public func write(deferred writes: [DeferredWrite]) throws(JournalError) {
        try transaction { state throws(JournalError) in
            for write in writes { _ = try state.write(PollRecord(record: write.record, writes: write.items)) }
        }
    }

    public func pendingLanes() -> [DeliveryLane] {
        read { Set($0.pending.map(\.lane)).sorted { ($0.source, $0.sink) < ($1.source, $1.sink) } }
    }

    public func pending(in lane: DeliveryLane, after: Int64, limit: Int) -> [Delivery] {
        read { Array($0.pending.lazy.filter { $0.lane == lane && $0.id > after }.prefix(limit)) }
    }

    @discardableResult
    public func record(_ attempts: [Attempt], within limits: QueueLimits) throws(JournalError) -> RecordResult {
        try transaction { state throws(JournalError) in
            let successors = try state.write(attempts)
            let eviction = try state.evict(limits, after: successors)
            return RecordResult(successors: state.current(successors), eviction: state.current(eviction))
        }
    }

    public func excludeFromAge(_ pause: Duration) {
        change { state in
            for i in state.deliveries.indices where state.deliveries[i].state.isPending {
                state.deliveries[i].delivery.created = state.deliveries[i].delivery.created.advanced(by: pause)
            }
        }
    }

    public func evict(_ limits: QueueLimits) throws(JournalError) -> QueueCheck {
        try transaction { state throws(JournalError) in
            let eviction = try state.evictAll(limits)
            return QueueCheck(pending: state.pending.count, eviction: state.current(eviction))
        }
    }

    // MARK: Readers

    public func events(after seq: Int64, _ filter: EventFilter, limit: Int) -> [Event] {
        read { state in Array(state.events.lazy.filter { $0.seq > seq && state.accepts($0, filter) }.prefix(limit)) }
    }

    public func seq(before count: Int, _ filter: EventFilter) -> Int64 {
        read { state in
            let wanted = state.events.filter { state.accepts($0, filter) }
            if count == 0 || wanted.isEmpty { return state.lastSeq }
            return wanted.count <= count ? 0 : wanted[wanted.count - count].seq - 1
        }
    }

    public func deliveryStates(of events: [Int64]) -> [Int64: Set<DeliveryState>] {
        read { state in
            var states: [Int64: Set<DeliveryState>] = [:]
            for status in state.deliveries where events.contains(status.delivery.message.event.seq) {
                states[status.delivery.message.event.seq, default: []].insert(status.state)
            }
            return states
        }
    }

    public func lastEvents(_ count: Int, _ filter: EventFilter) -> [Event] {
        read { state in state.events.filter { state.accepts($0, filter) }.suffix(count) }
    }

    public func events(matching text: String) -> [Event] {
        read { state in
            Array(
                state.events.filter { $0.id.description.hasPrefix(text) || String($0.seq) == text }
                    .sorted { $0.id.description < $1.id.description }.prefix(10))
        }
    }

    public func history(source: String, key: String, limit: Int) -> [Event] {
        read { $0.events.filter { $0.source == source && $0.item?.key == key }.suffix(limit) }
    }

    public func deliveries(_ filter: DeliveryFilter, after: Int64, limit: Int) -> [DeliveryStatus] {
        read { state in
            Array(state.deliveries.lazy.filter { $0.delivery.id > after && filter.accepts($0) }.prefix(limit))
        }
    }

    public func attempts(of delivery: Int64) -> [Attempt] { read { $0.attempts[delivery] ?? [] } }
    public func sourceRecord(of source: String) -> SourceRecord? { read { $0.records[source] } }

    public func sinkCounts() -> [SinkCount] {
        read { state in
            var counts: [String: SinkCount] = [:]
            for status in state.deliveries where status.state.isPending || status.state == .dead {
                let sink = status.delivery.message.sink
                counts[sink, default: SinkCount(sink: sink)]
                    .add(1, state: status.state, bytes: status.delivery.queueBytes)
            }
            return counts.values.sorted { $0.sink < $1.sink }
        }
    }

    public func activity(of sinks: [String], since start: Timestamp) -> [SinkActivity] {
        read { state in
            sinks.map { sink in
                let all = state.deliveries.filter { $0.delivery.message.sink == sink }
                let sent = all.filter { $0.state == .sent }.compactMap(\.endedAt)
                let dead = all.last { $0.state == .dead }
                return SinkActivity(
                    sink: sink, sent: sent.count { $0 >= start }, lastSentAt: sent.max(), lastDeadAt: dead?.endedAt,
                    lastDeadReason: dead?.delivery.reason)
            }
        }
    }

    public func lastSeq() -> Int64 { read { $0.lastSeq } }
    public func damages() -> [String] { [] }

    // MARK: Commands

    public func add(_ silence: Silence) -> Int64 {
        change { state in
            state.silences.removeAll { $0.isOver(at: silence.created) }
            state.lastSilence += 1
            var silence = silence
            silence.id = state.lastSilence
            state.silences.append(silence)
            state.ask(.reloadSilences)
            return silence.id
        }
    }

    public func endSilences(_ ids: [Int64], at now: Timestamp) -> Int {
        change { state in
            let before = state.silences.count
            state.silences.removeAll { ids.contains($0.id) }
            state.ask(.reloadSilences)
            return before - state.silences.count
        }
    }

    public func retry(_ selection: DeliverySelection, at now: Timestamp) -> Int {
        change { state in
            let changed = state.change(selection, in: [.dead, .paused, .retry]) { status in
                (status.state, status.endedAt) = (.pending, nil)
                (status.delivery.attempts, status.delivery.reason) = (0, nil)
                (status.delivery.due, status.delivery.created) = (now, now)
            }
            for delivery in changed { state.attempts[delivery.id] = nil }
            let sinks = Set(changed.map(\.message.sink) + [selection.wholeSink].compactMap { $0 })
            for sink in sinks.sorted() { state.ask(.retry(sink: sink)) }
            return changed.count
        }
    }

    public func drop(_ selection: DeliverySelection, at now: Timestamp) -> Int {
        change { state in
            let changed = state.change(selection, in: [.pending, .paused, .retry]) { status in
                (status.state, status.endedAt) = (.dead, now)
                status.delivery.reason = Delivery.droppedReason
            }
            for sink in Set(changed.map(\.message.sink)).sorted() { state.ask(.reloadQueue(sink: sink)) }
            return changed.count
        }
    }

    public func clear(_ selection: DeliverySelection, at now: Timestamp) -> Int {
        change { state in
            let cleared = state.change(selection, in: [.dead]) { _ in }
            let ids = Set(cleared.map(\.id))
            state.deliveries.removeAll { ids.contains($0.delivery.id) }
            for id in ids { state.attempts[id] = nil }
            for sink in Set(cleared.map(\.message.sink)).sorted() { state.ask(.reloadQueue(sink: sink)) }
            return cleared.count
        }
    }

    public func accept(source: String, at now: Timestamp) { change { $0.ask(.accept(source: source)) } }

    public func poll(source: String, at now: Timestamp) { change { $0.ask(.poll(source: source)) } }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        throw JournalError(.refused, "a journal in memory needs no repair")
    }

    public func changes() -> AsyncStream<Void> { wakes() }

    // MARK: Maintenance

    public func controlRequests() -> [QueuedRequest] { read { $0.requests } }
    public func finish(_ request: QueuedRequest) { change { $0.requests.removeAll { $0.id == request.id } } }
    public func controlWakes() -> AsyncStream<Void> { wakes() }

    public func checkInBackground() {}

    public func prune(_ retention: Retention) { change { $0.prune(retention) } }

    /// Bytes of the events and items, about.
    public func size() -> Int64 {
        read { state in
            let items = state.items.values.lazy.flatMap(\.values).map(\.body.count).reduce(0, +)
            return Int64(items) + state.events.reduce(0) { $0 + Int64($1.json.bytes.count) }
        }
    }

    public func cookies(of session: String) -> [UInt8]? { read { $0.cookies[session] } }
    public func keep(_ jar: [UInt8], of session: String) { change { $0.cookies[session] = jar.isEmpty ? nil : jar } }
    public func forgetCookies(keeping sessions: Set<String>) {
        change { $0.cookies = $0.cookies.filter { sessions.contains($0.key) } }
    }

    // MARK: State

    private func read<T: Sendable>(_ block: (MemoryJournalState) -> T) -> T { state.withLock { block($0) } }

    private func change<T: Sendable>(_ block: (inout MemoryJournalState) -> T) -> T {
        state.withLock { state in
            defer { state.wake() }
            return block(&state)
        }
    }

    /// Applies all of the block, or nothing when it throws.
    private func transaction<T: Sendable>(
        _ block: (inout MemoryJournalState) throws(JournalError) -> T
    ) throws(JournalError) -> T {
        try state.withLock { state throws(JournalError) in
            var copy = state
            let value = try block(&copy)
            copy.wake()
            state = copy
            return value
        }
    }

    private func wakes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = continuation
            return state.lastWaiter
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.waiters[id] = nil } }
        continuation.yield()
        return stream
    }
}

extension Delivery {
    /// The reason of a delivery that `outbox drop` ended.
    public static let droppedReason = "dropped by hand"

    /// Bytes that it counts against the bound of its sink's queue: its texts and its event.
    public var queueBytes: Int64 {
        Int64(message.title.utf8.count + message.text.utf8.count + message.event.json.bytes.count)
    }
}

extension DeliverySelection {
    fileprivate func contains(_ status: DeliveryStatus) -> Bool {
        switch self {
        case .ids(let ids): ids.contains(status.delivery.id)
        case .all(let filter): filter.accepts(status)
        }
    }
}

extension DeliveryFilter {
    fileprivate func accepts(_ status: DeliveryStatus) -> Bool {
        let message = status.delivery.message
        let isInState =
            switch states {
            case nil: true
            case .only(let state): status.state == state
            case .unsent: status.state.isPending || status.state == .dead
            }
        return isInState && sink.map { $0 == message.sink } != false && rule.map { $0 == message.rule } != false
            && event.map { $0 == message.event.seq } != false && before.map { status.delivery.created < $0 } != false
    }
}

private struct MemoryJournalState: Sendable {
    var records: [String: SourceRecord] = [:]
    var items: [String: [String: StoredItem]] = [:]
    /// In order of seq.
    var events: [Event] = []
    var lastSeq: Int64 = 0
    /// In order of id.
    var deliveries: [DeliveryStatus] = []
    private var lastDelivery: Int64 = 0
    /// Ids of events and messages, which are given once.
    private var ids = Set<String>()
    var attempts: [Int64: [Attempt]] = [:]
    var memories: [RuleMemory.Key: RuleMemory] = [:]
    var silences: [Silence] = []
    var lastSilence: Int64 = 0
    var requests: [QueuedRequest] = []
    private var lastRequest: Int64 = 0
    var cookies: [String: [UInt8]] = [:]
    var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastWaiter = 0

    var pending: [Delivery] { deliveries.lazy.filter(\.state.isPending).map(\.delivery) }

    func wake() { for waiter in waiters.values { waiter.yield() } }

    mutating func ask(_ request: ControlRequest) {
        lastRequest += 1
        requests.append(QueuedRequest(id: lastRequest, request: request))
    }

    mutating func write(_ poll: PollRecord) throws(JournalError) -> Committed {
        if let record = poll.record {
            records[record.name] = record
            var stored = poll.isNewBaseline ? [:] : items[record.name] ?? [:]
            for key in poll.deletions { stored[key] = nil }
            for item in poll.writes { stored[item.key] = item }
            items[record.name] = stored
        }
        for (key, memory) in poll.memories { memories[key] = memory }
        silences.removeAll { poll.endedSilences.contains($0.id) }
        var committed = Committed(events: [], deliveries: [])
        for event in poll.events { committed.events.append(try add(event)) }
        for delivery in poll.deliveries { committed.deliveries.append(try add(delivery, at: delivery.created)) }
        return committed
    }

    private mutating func add(_ event: Event) throws(JournalError) -> Event {
        guard ids.insert(event.id.description).inserted else {
            throw JournalError(.refused, "the event \(event.id) is in the journal already")
        }
        var event = event
        lastSeq += 1
        event.seq = lastSeq
        events.append(event)
        return event
    }

    private mutating func add(_ delivery: Delivery, at time: Timestamp) throws(JournalError) -> Delivery {
        guard ids.insert(delivery.message.id).inserted else {
            throw JournalError(.refused, "the message \(delivery.message.id) is in the journal already")
        }
        var delivery = delivery
        lastDelivery += 1
        delivery.id = lastDelivery
        delivery.message.event.seq = events.last { $0.id == delivery.message.event.id }?.seq ?? 0
        let endedAt = delivery.state.isPending ? nil : time
        deliveries.append(DeliveryStatus(delivery: delivery, state: delivery.state, endedAt: endedAt))
        return delivery
    }

    /// - Returns: the successors of deliveries that died.
    mutating func write(_ attempts: [Attempt]) throws(JournalError) -> [Delivery] {
        var successors: [Delivery] = []
        for attempt in attempts { if let next = try write(attempt) { successors.append(next) } }
        return successors
    }

    private mutating func write(_ attempt: Attempt) throws(JournalError) -> Delivery? {
        guard let i = deliveries.firstIndex(where: { $0.delivery.id == attempt.delivery }),
            deliveries[i].state.isPending || deliveries[i].state == .dead && attempt.state == .sent
        else { return nil }
        deliveries[i].state = attempt.state
        deliveries[i].endedAt = attempt.state.isPending ? nil : attempt.at
        (deliveries[i].delivery.attempts, deliveries[i].delivery.due) = (attempt.attempts, attempt.due)
        deliveries[i].delivery.reason = attempt.reason
        guard attempt.state != .sent else { return nil }
        if attempt.wasMade {
            var made = attempt
            made.successor = nil
            attempts[attempt.delivery, default: []].append(made)
            attempts[attempt.delivery] = attempts[attempt.delivery]?.suffix(Attempt.kept)
        }
        return try attempt.successor.map { next throws(JournalError) in try add(next, at: next.created) }
    }

    /// - Returns: the changed deliveries.
    mutating func change(
        _ selection: DeliverySelection, in states: Set<DeliveryState>, _ change: (inout DeliveryStatus) -> Void
    ) -> [Delivery] {
        var changed: [Delivery] = []
        for i in deliveries.indices
        where selection.contains(deliveries[i]) && states.contains(deliveries[i].state) {
            change(&deliveries[i])
            changed.append(deliveries[i].delivery)
        }
        return changed
    }

    func accepts(_ event: Event, _ filter: EventFilter) -> Bool {
        if let source = filter.source, source != event.source { return false }
        if let key = filter.key, key != event.item?.key { return false }
        if !filter.kinds.isEmpty, !filter.kinds.contains(event.kind) { return false }
        if let since = filter.since, event.time < since { return false }
        if let until = filter.until, event.time >= until { return false }
        guard filter.rule != nil || filter.isSent else { return true }
        return deliveries.contains { status in
            status.delivery.message.event.seq == event.seq
                && filter.rule.map { $0 == status.delivery.message.rule } != false
                && (!filter.isSent || status.state.isPending || status.state == .sent)
        }
    }

    /// Returns deliveries of this transaction as they are now.
    func current(_ committed: [Delivery]) -> [Delivery] {
        committed.map { delivery in
            var delivery = delivery
            if let now = deliveries.last(where: { $0.delivery.id == delivery.id }) {
                (delivery.state, delivery.reason) = (now.state, now.delivery.reason)
            }
            return delivery
        }
    }

    func current(_ eviction: Eviction) -> Eviction {
        Eviction(evicted: current(eviction.evicted), successors: current(eviction.successors))
    }

    /// Applies the bounds of the queues that got deliveries.
    mutating func evict(_ limits: QueueLimits, after added: [Delivery]) throws(JournalError) -> Eviction {
        var (added, all) = (added.filter(\.state.isPending), Eviction())
        while let sink = added.map(\.message.sink).min() {
            let count = added.count { $0.message.sink == sink }
            added.removeAll { $0.message.sink == sink }
            let step = try end(beyondBound(of: sink, limits, most: count + QueueLimits.step), limits)
            all.add(step)
            added += step.successors
        }
        return all
    }

    /// Applies all limits, by one step for each queue.
    mutating func evictAll(_ limits: QueueLimits) throws(JournalError) -> Eviction {
        var all = Eviction()
        for (sink, oldest) in limits.oldest.sorted(by: { $0.key < $1.key }) {
            let old = pending.filter { $0.message.sink == sink && $0.created < oldest }.prefix(QueueLimits.step)
            all.add(try end(old.map { ($0, .age) }, limits))
        }
        for sink in limits.bounds.keys.sorted() {
            all.add(try end(beyondBound(of: sink, limits, most: QueueLimits.step), limits))
        }
        all.add(try evict(limits, after: all.successors))
        return all
    }

    private func beyondBound(
        of sink: String, _ limits: QueueLimits, most: Int
    ) -> [(Delivery, QueueLimits.Excess)] {
        guard let bound = limits.bounds[sink] else { return [] }
        let queue = pending.filter { $0.message.sink == sink }
        var (count, bytes) = (queue.count, queue.reduce(0) { $0 + $1.queueBytes })
        var victims: [(Delivery, QueueLimits.Excess)] = []
        for delivery in (bound.policy == .dropOldest ? queue : queue.reversed()).prefix(most)
        where count > bound.count || bytes > bound.bytes {
            victims.append((delivery, count > bound.count ? .count : .bytes))
            (count, bytes) = (count - 1, bytes - delivery.queueBytes)
        }
        return victims
    }

    private mutating func end(
        _ victims: [(Delivery, QueueLimits.Excess)], _ limits: QueueLimits
    ) throws(JournalError) -> Eviction {
        let ends = victims.map { limits.end($0.0, $0.1) }
        return Eviction(evicted: victims.map(\.0), successors: try write(ends))
    }

    mutating func prune(_ retention: Retention) {
        let ends = deliveries.compactMap(\.endedAt).sorted(by: >)
        let before = ends.count > retention.endedDeliveries ? ends[retention.endedDeliveries] : retention.eventsBefore
        let cutoff = max(before, retention.eventsBefore)
        deliveries.removeAll { $0.endedAt.map { $0 < cutoff } ?? false }
        let kept = Set(deliveries.map(\.delivery.message.event.seq))
        events.removeAll { $0.time < retention.eventsBefore && !kept.contains($0.seq) }
        let ids = Set(deliveries.map(\.delivery.id))
        attempts = attempts.filter { ids.contains($0.key) }
        for record in records.values where !retention.sources.contains(record.name) {
            let last = record.health.lastPollAt ?? record.due ?? Timestamp(milliseconds: 0)
            guard last < retention.sourcesBefore else { continue }
            records[record.name] = nil
            items[record.name] = nil
        }
    }
}

extension Eviction {
    fileprivate mutating func add(_ other: Eviction) {
        evicted += other.evicted
        successors += other.successors
    }
}
