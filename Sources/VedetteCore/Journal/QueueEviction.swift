// SPDX-License-Identifier: Apache-2.0

/// A pending delivery and what it is about.
public struct QueuedDelivery: Sendable, Hashable {
    let id: Int64
    let rule: String
    /// As a journal stores it: empty for a message about several.
    let subject: String

    public init(id: Int64, rule: String, subject: String) {
        (self.id, self.rule, self.subject) = (id, rule, subject)
    }
}

/// The queues of a journal, as an eviction reads and ends their deliveries in one transaction.
public protocol EvictableQueues {
    /// Counts the pending deliveries of all sinks.
    func pending() throws -> Int

    /// Counts the deliveries of a sink.
    func count(of sink: String) throws -> SinkCount

    /// Reads the oldest pending deliveries of a sink that were created before a time.
    func expired(in sink: String, before oldest: Timestamp, limit: Int) throws -> [QueuedDelivery]

    /// Reads the oldest pending deliveries of a sink that may have a fallback left, and those that are kept.
    func passable(in sink: String, keeping kept: Set<Int64>, limit: Int) throws -> [QueuedDelivery]

    /// Visits the pending deliveries of a sink from one end of the queue, until `visit` returns false.
    func visit(
        _ sink: String, newestFirst: Bool, limit: Int, _ visit: (_ id: Int64, _ bytes: Int64) -> Bool) throws

    /// Reads what the searches find.
    func earlier(_ searches: [EarlierDeliveries]) throws -> [EarlierDelivery]

    /// Reads deliveries by their ids.
    func deliveries(_ ids: [Int64]) throws -> [Delivery]

    /// Writes outcomes.
    /// - Returns: the successors of the deliveries that ended.
    func write(_ attempts: [Attempt]) throws -> [Delivery]
}

/// Ends pending deliveries beyond the limits of their queues, in the transaction at hand. It lives no longer than that.
public struct QueueEviction<Queues: EvictableQueues> {
    private typealias Victim = (id: Int64, excess: EvictionLimits.Excess)

    private let limits: EvictionLimits
    private let queues: Queues
    private var evicted: [Delivery] = []
    private var successors: [Delivery] = []
    private var replaced: [DeliveryPlace] = []
    /// The ends of deliveries by their ids.
    private var ended: [Int64: Attempt] = [:]

    /// Creates one that has ended nothing yet.
    public init(_ limits: EvictionLimits, _ queues: Queues) { (self.limits, self.queues) = (limits, queues) }

    /// Applies the bounds of the queues that got deliveries of polls.
    public mutating func evict(after polls: [Committed]) throws -> CommitResult {
        let added = polls.flatMap(\.deliveries)
        try replace(by: added)
        try evict(after: applied(to: added))
        let polls = polls.map { Committed(events: $0.events, deliveries: applied(to: $0.deliveries)) }
        return CommitResult(polls: polls, eviction: eviction)
    }

    /// Applies the bounds of the queues that got successors of dead deliveries.
    public mutating func evict(afterSuccessors successors: [Delivery]) throws -> RecordResult {
        try replace(by: successors)
        try evict(after: applied(to: successors))
        return RecordResult(successors: applied(to: successors), eviction: eviction)
    }

    /// Applies all limits, by one step for each queue.
    public mutating func evictAll() throws -> QueueCheck {
        var added: [Delivery] = []
        for (sink, oldest) in limits.oldest.sorted(by: { $0.key < $1.key }) {
            let expired = try queues.expired(in: sink, before: oldest, limit: EvictionLimits.step)
            added += try end(expired.map { ($0.id, .age) })
        }
        for (sink, kept) in limits.diverted.sorted(by: { $0.key < $1.key }) {
            let pending = try queues.passable(in: sink, keeping: kept, limit: EvictionLimits.step + kept.count)
            added += try end(EvictionLimits.passedOn(pending, keeping: kept).map { ($0, .diverted) })
        }
        for sink in limits.bounds.keys.sorted() { added += try end(beyondBound(of: sink, most: EvictionLimits.step)) }
        try evict(after: added)
        return QueueCheck(pending: try queues.pending(), eviction: eviction)
    }

    private var eviction: Eviction {
        Eviction(evicted: evicted, successors: applied(to: successors), replaced: replaced)
    }

    /// Returns deliveries of this transaction as they are now.
    private func applied(to deliveries: [Delivery]) -> [Delivery] {
        guard !ended.isEmpty else { return deliveries }
        return deliveries.map { delivery in
            var delivery = delivery
            if let end = ended[delivery.id] { (delivery.state, delivery.reason) = (end.state, end.reason) }
            return delivery
        }
    }

    private mutating func replace(by added: [Delivery]) throws {
        let later = added.filter(limits.mayReplace)
        guard !later.isEmpty else { return }
        let ends = EarlierDelivery.ends(by: later, of: try queues.earlier(EarlierDeliveries.of(later)))
        _ = try queues.write(ends.map(\.attempt))
        for end in ends { ended[end.place.id] = end.attempt }
        replaced += ends.map(\.place)
    }

    private mutating func evict(after added: [Delivery]) throws {
        guard !limits.bounds.isEmpty else { return }
        var added = QueueEviction.count(added)
        // A successor may make the queue of a fallback exceed its bound in turn. Chains of fallbacks end.
        while let sink = added.keys.min(), let count = added.removeValue(forKey: sink) {
            let victims = try beyondBound(of: sink, most: count + EvictionLimits.step)
            added.merge(QueueEviction.count(try end(victims)), uniquingKeysWith: +)
        }
    }

    private func beyondBound(of sink: String, most: Int) throws -> [Victim] {
        guard let bound = limits.bounds[sink] else { return [] }
        let total = try queues.count(of: sink)
        var (count, bytes) = (total.pending, total.pendingBytes)
        var isBeyond: Bool { count > bound.count || bytes > bound.bytes }
        guard isBeyond else { return [] }
        var victims: [Victim] = []
        try queues.visit(sink, newestFirst: bound.policy != .dropOldest, limit: most) { id, size in
            victims.append((id, count > bound.count ? .count : .bytes))
            (count, bytes) = (count - 1, bytes - size)
            return isBeyond
        }
        return victims
    }

    /// - Returns: the successors of those that ended.
    private mutating func end(_ victims: [Victim]) throws -> [Delivery] {
        guard !victims.isEmpty else { return [] }
        let excess = Dictionary(victims.map { ($0.id, $0.excess) }) { first, _ in first }
        var attempts: [Attempt] = []
        for var delivery in try queues.deliveries(victims.map(\.id)) {
            guard let attempt = limits.end(delivery, excess[delivery.id] ?? .count) else { continue }
            attempts.append(attempt)
            (delivery.state, delivery.reason) = (attempt.state, attempt.reason)
            ended[delivery.id] = attempt
            evicted.append(delivery)
        }
        let next = try queues.write(attempts)
        successors += next
        return next
    }

    private static func count(_ deliveries: [Delivery]) -> [String: Int] {
        deliveries.reduce(into: [:]) { counts, delivery in
            if delivery.state.isPending { counts[delivery.message.sink, default: 0] += 1 }
        }
    }
}
