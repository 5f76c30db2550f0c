// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

extension PostgresJournal {
    public func commit(_ polls: [PollRecord], within limits: EvictionLimits) async throws(JournalError) -> CommitResult
    {
        guard !polls.isEmpty else { return CommitResult(polls: []) }
        return try await writer.write(.commit) { transaction in
            let leases = polls.compactMap { $0.record.map { Lease.source($0.name) } }
            let sinks = polls.compactMap { $0.sinkChange.map { Lease.sink($0.sink) } }
            if let fenced = try LeaseRows.fenced(Set(leases + sinks), transaction).first {
                throw JournalError(
                    .conflict, "another watcher holds the \(fenced.kind.rawValue) '\(fenced.name)' now")
            }
            try ChangeRows.requireCurrent(polls, transaction)
            var writer = try PollWriter(transaction, polls)
            let committed = writer.write(polls)
            var eviction = QueueEviction(limits, PostgresQueues(transaction: transaction))
            return try eviction.evict(after: committed)
        }
    }

    public func write(deferred writes: [DeferredWrite]) async throws(JournalError) {
        guard !writes.isEmpty else { return }
        try await writer.write(.commit) { transaction in
            // Of a source that another watcher holds now they are out of date.
            let fenced = try LeaseRows.fenced(Set(writes.map { .source($0.record.name) }), transaction)
            let records = writes.filter { !fenced.contains(.source($0.record.name)) }
                .map { PollRecord(record: $0.record, writes: $0.items) }
            var writer = try PollWriter(transaction, records)
            _ = writer.write(records)
        }
    }
}

/// Writes the changes of polls inside one transaction (I1).
struct PollWriter {
    private let transaction: Transaction
    private var places: [Identifier: EventRow.Place]

    /// Looks up the events of earlier commits that deliveries name.
    init(_ transaction: Transaction, _ polls: [PollRecord]) throws {
        self.transaction = transaction
        let own = Set(polls.flatMap(\.events).map(\.id))
        let earlier = Set(polls.flatMap(\.deliveries).map(\.message.event.id)).subtracting(own)
        places = try EventRows.places(of: Array(earlier), transaction)
    }

    /// Writes polls, in their order. Their deliveries go out together, behind all events.
    mutating func write(_ polls: [PollRecord]) -> [Committed] {
        let events = polls.map { write($0) }
        var deliveries = DeliveryRows.write(polls.flatMap(\.deliveries), places: places, transaction)[...]
        return zip(polls, events).map { poll, events in
            defer { deliveries = deliveries.dropFirst(poll.deliveries.count) }
            return Committed(events: events, deliveries: Array(deliveries.prefix(poll.deliveries.count)))
        }
    }

    /// Writes all of a poll but its deliveries.
    /// - Returns: its events with their numbers.
    private mutating func write(_ poll: PollRecord) -> [Event] {
        if let record = poll.record { write(poll, record) }
        if let change = poll.sinkChange { StoppedSinkRows.write(change, transaction) }
        ChangeRows.write(poll, transaction)
        RuleMemoryRows.write(poll.memories, transaction)
        SilenceRows.end(poll.endedSilences, transaction)
        return poll.events.map { write($0) }
    }

    private func write(_ poll: PollRecord, _ record: SourceRecord) {
        SourceRows.write(record, transaction)
        let source = record.name
        if poll.isNewBaseline || poll.isFirst { transaction.enqueue("delete from item where source = $1", [source]) }
        for key in poll.deletions {
            transaction.enqueue("delete from item where source = $1 and key = $2", [source, key])
        }
        for item in poll.writes { SourceRows.write(item, of: source, transaction) }
    }

    private mutating func write(_ event: Event) -> Event {
        var event = event
        event.seq = transaction.nextSeq()
        let body = event.json.bytes
        transaction.enqueue(
            "insert into event (\(JournalTable.event.names)) values ($1, $2, $3, $4, $5, $6, $7)",
            [
                event.seq, event.id.description, event.source, event.type, event.item?.key,
                event.time.milliseconds, UTF8Text(body),
            ])
        transaction.count(bytes: Int64(body.count))
        places[event.id] = EventRow.Place(seq: event.seq, bytes: body.count)
        return event
    }
}
