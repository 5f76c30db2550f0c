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
    public func stoppedSinks() -> [StoppedSink] { read { $0.stoppedSinks.values.sorted { $0.sink < $1.sink } } }
    public func items(of source: String) -> [String: StoredItem] { read { $0.items[source] ?? [:] } }

    public func items(of source: String, from offset: Int, limit: Int) -> [StoredItem] {
        let present = items(of: source).values.filter { $0.absentSince == nil }
        let sorted = present.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return Array(sorted.dropFirst(offset).prefix(limit))
    }
    public func lastOfWatcher(_ kind: Event.Kind, or other: Event.Kind) -> Event? {
        read { $0.events.last { $0.source == Event.watcher && ($0.kind == kind || $0.kind == other) } }
    }
    public func ruleMemories() -> [RuleMemory] {
        read { state in
            state.memories.values.sorted {
                ($0.key.rule, $0.key.slot.rawValue, $0.key.name) < ($1.key.rule, $1.key.slot.rawValue, $1.key.name)
            }
        }
    }
    public func silences() -> [Silence] { read { $0.silences } }

    public func commit(_ polls: [PollRecord], within limits: EvictionLimits) throws(JournalError) -> CommitResult {
        try transaction { state throws(JournalError) in
            var committed: [Committed] = []
            for poll in polls { committed.append(try state.write(poll)) }
            let eviction = try state.replaceAndEvict(limits, after: committed.flatMap(\.deliveries))
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
        read {
            Set($0.pending.map(\.lane)).sorted {
                ($0.source, $0.sink, $0.priority.rawValue) < ($1.source, $1.sink, $1.priority.rawValue)
            }
        }
    }

    public func pending(in lane: DeliveryLane, after: Int64, limit: Int) -> [Delivery] {
        read { state in
            state.pending.lazy.filter { $0.lane == lane && $0.id > after }.prefix(limit).map { delivery in
                var delivery = delivery
                delivery.behind =
                    state.pending.last {
                        $0.id < delivery.id && $0.lane.sink == lane.sink && $0.lane != lane
                            && $0.message.sharesSubject(with: delivery.message)
                    }?.place
                return delivery
            }
        }
    }

    public func sent(before delivery: Delivery, limit: Int) -> [Delivery] {
        read { state in
            state.deliveries.lazy.map(\.delivery).filter {
                $0.receiverID != nil && $0.message.sink == delivery.message.sink
                    && $0.message.rule == delivery.message.rule && $0.id < delivery.id
            }.suffix(limit).reversed()
        }
    }

    public func messages(
        of rule: String, to sink: String, about subject: String, before: Int64, limit: Int
    ) -> [DeliveryStatus] {
        read { state in
            state.deliveries.lazy.filter {
                let message = $0.delivery.message
                return message.rule == rule && message.sink == sink && [subject, ""].contains(message.subject)
                    && $0.delivery.id < before
            }.suffix(limit).reversed()
        }
    }

    @discardableResult
    public func record(_ attempts: [Attempt], within limits: EvictionLimits) throws(JournalError) -> RecordResult {
        try transaction { state throws(JournalError) in
            let successors = try state.write(attempts)
            let eviction = try state.replaceAndEvict(limits, after: successors)
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

    public func evict(_ limits: EvictionLimits) throws(JournalError) -> QueueCheck {
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
                    .sorted { $0.id.description < $1.id.description }.prefix(EventRow.maximumMatching))
        }
    }

    public func deliveries(ofMessage text: String) -> [DeliveryStatus] {
        func id(_ status: DeliveryStatus) -> String { status.delivery.message.event.id.description }
        return read { state in
            let found = state.deliveries.filter { $0.delivery.message.event.seq == 0 && id($0).hasPrefix(text) }
            let sorted = found.sorted { (id($0), $0.delivery.id) < (id($1), $1.delivery.id) }
            return Array(sorted.prefix(DeliveryRow.maximumOfMessage))
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
    public func lateness() -> [String: PollLateness.Report] { read { $0.lateness } }

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

    public func ruleCount(of rule: String) -> RuleCount {
        read { state in
            let rows = state.deliveries.reversed().filter { $0.delivery.message.rule == rule }.map { status in
                let seq = status.delivery.message.event.seq
                return RuleCount.Row(
                    event: seq > 0 ? seq : nil, sink: status.delivery.message.sink, state: status.state)
            }
            let events = rows.filter { $0.event != nil }.sorted { ($0.event ?? 0) > ($1.event ?? 0) }
            return RuleCount(events: events, others: rows.filter { $0.event == nil })
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

    public func acknowledge(rule: String, _ subject: Subject, _ acknowledgement: Acknowledgement?, at now: Timestamp) {
        change { $0.ask(.acknowledge(rule: rule, subject: subject, acknowledgement)) }
    }

    public func repair(at now: Timestamp) throws(JournalError) -> RepairReport? {
        throw JournalError(.refused, "a journal in memory needs no repair")
    }

    public func changes() -> AsyncStream<Void> { wakes() }

    // MARK: Maintenance

    public func controlRequests() -> [QueuedRequest] { read { $0.requests } }
    public func finish(_ request: QueuedRequest) { change { $0.requests.removeAll { $0.id == request.id } } }
    public func controlWakes() -> AsyncStream<Void> { wakes() }

    public func checkInBackground() {}

    public func store(_ lateness: PollLateness.Report, of watcher: String) {
        change { $0.lateness[watcher] = lateness }
    }

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
