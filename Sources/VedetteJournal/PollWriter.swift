// SPDX-License-Identifier: Apache-2.0

import GRDB
import Synchronization
public import VedetteCore

extension SQLiteJournal {
    public func commit(
        _ polls: [PollRecord], within limits: EvictionLimits
    ) async throws(JournalError) -> CommitResult {
        guard !polls.isEmpty else { return CommitResult(polls: []) }
        let result = try await keepingCache(polls.compactMap(\.record?.name)) { db in
            var writer = try PollWriter(db)
            let committed = try polls.map { try writer.write($0) }
            var eviction = QueueEviction(limits, SQLiteQueues(db: db))
            return try eviction.evict(after: committed)
        } apply: { cache in
            for poll in polls { cache.apply(poll) }
        }
        store.files.notify(.commit)
        return result
    }

    public func write(deferred writes: [DeferredWrite]) async throws(JournalError) {
        guard !writes.isEmpty else { return }
        try await keepingCache(writes.map(\.record.name)) { db in
            var writer = try PollWriter(db)
            for write in writes { try writer.write(write) }
        } apply: { cache in
            for write in writes { cache.apply(write) }
        }
        store.files.notify(.commit)
    }

    /// Writes in a transaction, and takes it over into the cache before the next one begins. When it fails, the cache
    /// forgets its sources: what was written is not known for certain.
    private func keepingCache<Value: Sendable>(
        _ sources: [String], _ block: @escaping @Sendable (Database) throws -> Value,
        apply: @escaping @Sendable (inout ItemCache) -> Void
    ) async throws(JournalError) -> Value {
        try await store.run { db in
            do {
                let value = try JournalStore.transaction(db, block)
                self.cache.withLock { apply(&$0) }
                return value
            } catch {
                self.cache.withLock { cache in
                    for source in sources { cache.forget(source) }
                }
                throw error
            }
        }
    }
}

/// Writes the changes of polls inside one transaction (I1). It lives no longer than the transaction, so the numbers of
/// a failed one are forgotten with it.
struct PollWriter {
    private let upsertSource: Statement
    private let updateSource: Statement
    private let clearItems: Statement
    private let upsertItem: Statement
    private let deleteItem: Statement
    private let insertEvent: Statement
    private let insertDelivery: Statement
    private let db: Database
    private var lastSeq: Int64
    private var places: [Identifier: EventRow.Place] = [:]

    init(_ db: Database) throws {
        self.db = db
        upsertSource = try db.cachedStatement(sql: SourceRows.upsert)
        updateSource = try db.cachedStatement(sql: SourceRows.update)
        clearItems = try db.cachedStatement(sql: "delete from item where source = ?")
        upsertItem = try db.cachedStatement(sql: JournalTable.item.upsert)
        deleteItem = try db.cachedStatement(sql: "delete from item where source = ? and key = ?")
        insertEvent = try db.cachedStatement(
            sql: "insert into event (\(JournalTable.event.names)) values (?, ?, ?, ?, ?, ?, ?)")
        insertDelivery = try db.cachedStatement(sql: DeliveryRows.insert)
        lastSeq = try EventRows.lastSeq(db)
    }

    mutating func write(_ poll: PollRecord) throws -> Committed {
        if let record = poll.record {
            let source = try SourceRows.write(record, body: record.bytes, with: upsertSource)
            if poll.isNewBaseline { try clearItems.execute(arguments: [source]) }
            for key in poll.deletions { try deleteItem.execute(arguments: [source, key]) }
            for item in poll.writes { try write(item, of: source) }
        }
        if let change = poll.sinkChange { try StoppedSinkRows.write(change, db) }
        try RuleMemoryRows.write(poll.memories, db)
        if !poll.endedSilences.isEmpty { _ = try SilenceRows.end(poll.endedSilences, db) }
        return Committed(
            events: try poll.events.map { try write($0) }, deliveries: try poll.deliveries.map { try write($0) })
    }

    /// Writes the record of a poll that changed nothing else. Most polls do, so nothing is read back.
    mutating func write(_ write: DeferredWrite) throws {
        let body = write.record.bytes
        if write.items.isEmpty, try SourceRows.update(write.record, body: body, with: updateSource, db) { return }
        let source = try SourceRows.write(write.record, body: body, with: upsertSource)
        for item in write.items { try self.write(item, of: source) }
    }

    private func write(_ item: StoredItem, of source: Int64) throws {
        try upsertItem.execute(arguments: [
            source, item.key, Int64(bitPattern: item.digest), Int64(bitPattern: item.shown),
            item.absentSince?.milliseconds, item.stateSince.milliseconds, UTF8Column(item.body),
        ])
    }

    private mutating func write(_ event: Event) throws -> Event {
        var event = event
        lastSeq += 1
        event.seq = lastSeq
        let body = event.json.bytes
        try insertEvent.execute(arguments: [
            event.seq, event.id.description, event.source, event.type, event.item?.key,
            event.time.milliseconds, UTF8Column(body),
        ])
        places[event.id] = EventRow.Place(seq: event.seq, bytes: body.count)
        return event
    }

    private func write(_ delivery: Delivery) throws -> Delivery {
        let id = delivery.message.event.id
        let event = try places[id] ?? EventRows.place(of: id, db)
        return try DeliveryRows.write(delivery, event: event, with: insertDelivery, db)
    }
}
