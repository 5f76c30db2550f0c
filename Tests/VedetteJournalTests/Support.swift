// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing
import VedetteCore
import VedettePostgres
import VedetteTestSupport

@testable import VedetteJournal

/// A state directory that goes with its owner.
final class Scratch: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "journal-" + UUID().uuidString
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/journal.db" }

    var files: JournalFiles { JournalFiles(directory: path) }
    var access: SQLiteJournalAccess { SQLiteJournalAccess(directory: path) }

    func open() throws(JournalError) -> SQLiteJournal { try SQLiteJournal.open(directory: path) }

    func reader() throws(JournalError) -> any JournalReader { try access.reader() }
}

/// The journals that obey the ports. A test with a `Backend` is a part of their contract and runs over each of them.
enum Backend: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite, memory, postgres

    var testDescription: String { rawValue }

    func open() async throws -> Store { try await Store(self) }
}

/// One journal of a backend.
final class Store {
    typealias AnyJournal = any Journal & JournalMaintenance & CookieStore

    private(set) var journal: AnyJournal
    let access: any JournalAccess
    private let reopen: () async throws -> AnyJournal?

    init(_ backend: Backend) async throws {
        switch backend {
        case .sqlite:
            let scratch = Scratch()
            (journal, access) = (try scratch.open(), scratch.access)
            reopen = { try scratch.open() }
        case .memory:
            let memory = MemoryJournal()
            (journal, access) = (memory, memory)
            reopen = { nil }
        case .postgres:
            let server = try PostgresLab.shared.get().schema()
            (journal, access) = (try await PostgresJournal.open(server), PostgresJournalAccess(server))
            reopen = { try await PostgresJournal.open(server) }
        }
    }

    func reader() async throws(JournalError) -> any JournalReader { try await access.reader() }

    /// Closes the journal and opens it again, where that means something.
    func restart() async throws {
        guard !(journal is MemoryJournal) else { return }
        try await journal.close()
        if let again = try await reopen() { journal = again }
    }
}

extension Journal {
    func commit(_ polls: [PollRecord]) async throws(JournalError) -> [Committed] {
        try await commit(polls, within: .none).polls
    }

    @discardableResult
    func record(_ attempts: [Attempt]) async throws(JournalError) -> [Delivery] {
        try await record(attempts, within: .none).successors
    }
}

/// Limits of some queues; what is evicted has the cause as its reason, and `successor` makes what follows it.
func limits(
    _ bounds: [String: QueueBound], oldest: [String: Timestamp] = [:],
    successor: @escaping @Sendable (Delivery) -> Delivery? = { _ in nil }
) -> EvictionLimits {
    var limits = EvictionLimits(bounds: bounds) { delivery, excess in
        var end = Attempt(
            delivery: delivery.id, state: .dead, attempts: delivery.attempts, due: delivery.due, at: stamp(500),
            reason: "queue full: \(excess)")
        (end.wasMade, end.successor) = (false, successor(delivery))
        return end
    }
    limits.oldest = oldest
    return limits
}

func bound(
    _ count: Int = 1_000_000, bytes: Int64 = .max, _ policy: QueueBound.Policy = .dropOldest
) -> QueueBound {
    var bound = QueueBound()
    (bound.count, bound.bytes, bound.policy) = (count, bytes, policy)
    return bound
}

extension JournalReader {
    func events(after seq: Int64 = 0, limit: Int) async throws(JournalError) -> [Event] {
        try await events(after: seq, EventFilter(), limit: limit)
    }

    func lastEvents(_ count: Int) async throws(JournalError) -> [Event] {
        try await lastEvents(count, EventFilter())
    }

    func deliveries(
        _ filter: DeliveryFilter = DeliveryFilter(), limit: Int
    ) async throws(JournalError) -> [DeliveryStatus] {
        try await deliveries(filter, after: 0, limit: limit)
    }
}

extension SQLiteJournal {
    /// Runs SQL on the writing connection, as a stranger's hand would.
    func tamper(_ sql: String) throws { try store.database.writeWithoutTransaction { try $0.execute(sql: sql) } }

    func number(_ sql: String) throws -> Int? { try store.database.read { try Int.fetchOne($0, sql: sql) } }
}

func stamp(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: 1_763_690_400_000 + milliseconds) }

func event(
    _ id: Int, source: String = "lab", key: String = "59", at milliseconds: Int64 = 0, kind: Event.Kind = .changed
) -> Event {
    Event(
        id: Identifier("0199-\(id)"), kind: kind, time: stamp(milliseconds), source: source, sourceKind: "cloudburst",
        poll: "p-1", item: kind.isAboutItem ? Item(key: key, title: "prod-é", state: "Ready for use") : nil,
        changes: [FieldChange(field: "state", from: "Starting", to: "Ready for use", lasted: 252.4)],
        error: kind == .failing ? Event.Problem(failure: "timeout", detail: "no answer") : nil)
}

func delivery(
    _ id: Int, of event: Event, sink: String = "team", rule: String = "ready", due: Int64 = 0
) -> Delivery {
    Delivery(
        message: Message(
            id: "msg_\(id)", rule: rule, sink: sink, event: event, title: "title \(id)", text: "text \(id)",
            priority: .high),
        created: stamp(0), due: stamp(due))
}

func item(_ key: String, digest: UInt64 = 7) -> StoredItem {
    StoredItem(Item(key: key, title: "title \(key)", fields: ["owner": "é"]), digest: digest, stateSince: stamp(1))
}

func poll(
    _ source: String = "lab", newBaseline: Bool = false, writes: [StoredItem] = [], deletions: [String] = [],
    events: [Event] = [], deliveries: [Delivery] = []
) -> PollRecord {
    PollRecord(
        record: SourceRecord(name: source), isNewBaseline: newBaseline, writes: writes, deletions: deletions,
        events: events, deliveries: deliveries)
}

/// One event with one delivery each, numbered from `first`.
func polls(_ numbers: ClosedRange<Int>, sink: String = "team") -> [PollRecord] {
    numbers.map { number in
        let cause = event(number, at: Int64(number))
        return poll(events: [cause], deliveries: [delivery(number, of: cause, sink: sink)])
    }
}

/// A record with every member set to something.
func fullRecord() -> SourceRecord {
    var record = SourceRecord(name: "lab \"é\"")
    var head = SnapshotHead(identity: .max, fingerprints: ["state": 1 << 63, "name": 2], goodAt: stamp(5))
    head.validators = Validators(etag: "W/\"a\"", lastModified: "Thu, 01 Jan 1970 00:00:00 GMT")
    head.digest = 0x8000_0000_0000_0001
    (head.asked, head.isWhole, head.hasOtherKeys) = (0xF000_0000_0000_0001, true, true)
    (head.count, head.pendingAbsences) = (8, 2)
    (head.newest, head.oldest) = (stamp(4), stamp(3))
    head.emptiness = SnapshotHead.Emptiness(polls: 2, since: stamp(2))
    head.unannounced = SnapshotHead.Unannounced(count: 3, last: "Old", at: stamp(3), isUndated: true)
    head.oldestPublication = stamp(2)
    head.sharedKeys.insert("N/A \"é\"")
    head.states = ["Starting": 1, "Ready for use": 7]
    record.snapshot = head
    record.health.failures = 3
    record.health.isFailing = true
    record.health.lastPollAt = stamp(6)
    record.health.problem = Event.Problem(failure: "timeout", detail: "no \"answer\"")
    (record.due, record.notBefore, record.urlDigest) = (stamp(7), stamp(8), .max - 1)
    record.intervalDigest = .max - 2
    record.snapshot?.resume = "1\u{0}\"é"
    record.connection = .polled("64 streams are open already")
    return record
}
