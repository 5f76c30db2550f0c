// SPDX-License-Identifier: Apache-2.0

/// What a `MemoryJournal` holds. A change is applied to a copy, so that one that fails leaves nothing behind.
struct MemoryJournalState: Sendable {
    var records: [String: SourceRecord] = [:]
    var stoppedSinks: [String: StoppedSink] = [:]
    /// By the watcher's name.
    var lateness: [String: PollLateness.Report] = [:]
    var items: [String: [String: StoredItem]] = [:]
    /// In order of seq.
    var events: [Event] = []
    var lastSeq: Int64 = 0
    /// In order of id.
    var deliveries: [DeliveryStatus] = []
    private var lastDelivery: Int64 = 0
    /// Ids of events and messages, which are given once.
    private var ids = Set<String>()
    /// The numbers of the stored events.
    private var seqs: [Identifier: Int64] = [:]
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
        switch poll.sinkChange {
        case .stopped(let stop): stoppedSinks[stop.sink] = stop
        case .resumed(let sink): stoppedSinks[sink] = nil
        case nil: break
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
        seqs[event.id] = event.seq
        return event
    }

    private mutating func add(_ delivery: Delivery, at time: Timestamp) throws(JournalError) -> Delivery {
        guard ids.insert(delivery.message.id).inserted else {
            throw JournalError(.refused, "the message \(delivery.message.id) is in the journal already")
        }
        var delivery = delivery
        lastDelivery += 1
        delivery.id = lastDelivery
        delivery.message.event.seq = seqs[delivery.message.event.id] ?? 0
        let endedAt = delivery.state.isPending ? nil : time
        deliveries.append(DeliveryStatus(delivery: delivery, state: delivery.state, endedAt: endedAt))
        return delivery
    }

    /// - Returns: the successors of deliveries that ended.
    mutating func write(_ attempts: [Attempt]) throws(JournalError) -> [Delivery] {
        var successors: [Delivery] = []
        for attempt in attempts { if let next = try write(attempt) { successors.append(next) } }
        return successors
    }

    private mutating func write(_ attempt: Attempt) throws(JournalError) -> Delivery? {
        guard let i = index(of: attempt.delivery),
            deliveries[i].state.isPending || deliveries[i].state != .sent && attempt.state == .sent
        else { return nil }
        deliveries[i].state = attempt.state
        deliveries[i].endedAt = attempt.state.isPending ? nil : attempt.at
        (deliveries[i].delivery.attempts, deliveries[i].delivery.due) = (attempt.attempts, attempt.due)
        (deliveries[i].delivery.reason, deliveries[i].delivery.receiverID) = (attempt.reason, attempt.receiverID)
        if attempt.wasMade, attempt.state != .sent {
            var made = attempt
            made.successor = nil
            attempts[attempt.delivery, default: []].append(made)
            attempts[attempt.delivery] = attempts[attempt.delivery]?.suffix(Retention.attempts)
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

    /// Returns where the delivery is, by bisection: the deliveries are in the order of their ids.
    private func index(of delivery: Int64) -> Int? {
        var (low, high) = (0, deliveries.count)
        while low < high {
            let middle = (low + high) / 2
            if deliveries[middle].delivery.id < delivery { low = middle + 1 } else { high = middle }
        }
        return low < deliveries.count && deliveries[low].delivery.id == delivery ? low : nil
    }

    /// Returns deliveries of this transaction as they are now.
    func current(_ committed: [Delivery]) -> [Delivery] {
        committed.map { delivery in
            var delivery = delivery
            if let i = index(of: delivery.id) {
                (delivery.state, delivery.reason) = (deliveries[i].state, deliveries[i].delivery.reason)
            }
            return delivery
        }
    }

    func current(_ eviction: Eviction) -> Eviction {
        Eviction(
            evicted: current(eviction.evicted), successors: current(eviction.successors), replaced: eviction.replaced)
    }

    /// Ends what new deliveries replace, then applies the bounds of the queues that got them.
    mutating func replaceAndEvict(_ limits: EvictionLimits, after added: [Delivery]) throws(JournalError) -> Eviction {
        let later = added.filter(limits.mayReplace)
        let earlier = EarlierDeliveries.of(later).flatMap { search in
            pending.reversed().filter(search.contain).prefix(EarlierDeliveries.limit).map(EarlierDelivery.init)
        }
        let ends = EarlierDelivery.ends(by: later, of: earlier)
        _ = try write(ends.map(\.attempt))
        var eviction = try evict(limits, after: current(added))
        eviction.replaced = ends.map(\.place)
        return eviction
    }

    /// Applies the bounds of the queues that got deliveries.
    mutating func evict(_ limits: EvictionLimits, after added: [Delivery]) throws(JournalError) -> Eviction {
        var (added, all) = (added.filter(\.state.isPending), Eviction())
        while let sink = added.map(\.message.sink).min() {
            let count = added.count { $0.message.sink == sink }
            added.removeAll { $0.message.sink == sink }
            let step = try end(beyondBound(of: sink, limits, most: count + EvictionLimits.step), limits)
            all.add(step)
            added += step.successors
        }
        return all
    }

    /// Applies all limits, by one step for each queue.
    mutating func evictAll(_ limits: EvictionLimits) throws(JournalError) -> Eviction {
        var all = Eviction()
        for (sink, oldest) in limits.oldest.sorted(by: { $0.key < $1.key }) {
            let old = pending.filter { $0.message.sink == sink && $0.created < oldest }.prefix(EvictionLimits.step)
            all.add(try end(old.map { ($0, .age) }, limits))
        }
        for (sink, kept) in limits.diverted.sorted(by: { $0.key < $1.key }) {
            let queue = pending.filter {
                $0.message.sink == sink && ($0.chain?.isEmpty != true || kept.contains($0.id))
            }.prefix(EvictionLimits.step + kept.count)
            let rest = EvictionLimits.passedOn(
                queue.map { QueuedDelivery(id: $0.id, rule: $0.message.rule, subject: $0.message.subject) },
                keeping: kept)
            all.add(try end(queue.filter { rest.contains($0.id) }.map { ($0, .diverted) }, limits))
        }
        for sink in limits.bounds.keys.sorted() {
            all.add(try end(beyondBound(of: sink, limits, most: EvictionLimits.step), limits))
        }
        all.add(try evict(limits, after: all.successors))
        return all
    }

    private func beyondBound(
        of sink: String, _ limits: EvictionLimits, most: Int
    ) -> [(Delivery, EvictionLimits.Excess)] {
        guard let bound = limits.bounds[sink] else { return [] }
        let queue = pending.filter { $0.message.sink == sink }
        var (count, bytes) = (queue.count, queue.reduce(0) { $0 + $1.queueBytes })
        var victims: [(Delivery, EvictionLimits.Excess)] = []
        for delivery in (bound.policy == .dropOldest ? queue : queue.reversed()).prefix(most)
        where count > bound.count || bytes > bound.bytes {
            victims.append((delivery, count > bound.count ? .count : .bytes))
            (count, bytes) = (count - 1, bytes - delivery.queueBytes)
        }
        return victims
    }

    private mutating func end(
        _ victims: [(Delivery, EvictionLimits.Excess)], _ limits: EvictionLimits
    ) throws(JournalError) -> Eviction {
        let ends = victims.compactMap { victim in limits.end(victim.0, victim.1).map { (victim.0, $0) } }
        return Eviction(evicted: ends.map(\.0), successors: try write(ends.map(\.1)))
    }

    mutating func prune(_ retention: Retention) {
        let ends = deliveries.compactMap(\.endedAt).sorted(by: >)
        let before = ends.count > retention.endedDeliveries ? ends[retention.endedDeliveries] : retention.eventsBefore
        let cutoff = max(before, retention.eventsBefore)
        deliveries.removeAll { $0.endedAt.map { $0 < cutoff } ?? false }
        let kept = Set(deliveries.map(\.delivery.message.event.seq))
        events.removeAll { $0.time < retention.eventsBefore && !kept.contains($0.seq) }
        seqs = Dictionary(uniqueKeysWithValues: events.map { ($0.id, $0.seq) })
        let ids = Set(deliveries.map(\.delivery.id))
        attempts = attempts.filter { ids.contains($0.key) }
        stoppedSinks = stoppedSinks.filter {
            retention.sinks.contains($0.key) || $0.value.since >= retention.sourcesBefore
        }
        lateness = lateness.filter { $0.value.at >= retention.sourcesBefore }
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

extension DeliverySelection {
    fileprivate func contains(_ status: DeliveryStatus) -> Bool {
        switch self {
        case .ids(let ids): ids.contains(status.delivery.id)
        case .all(let filter): filter.accepts(status)
        }
    }
}

extension DeliveryFilter {
    func accepts(_ status: DeliveryStatus) -> Bool {
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
