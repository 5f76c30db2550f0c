// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteJournal

@Suite("Commits (I1, I4)")
struct CommitTests {
    let scratch = Scratch()

    @Test("seq grows by one per event over polls, commits and restarts, and stands in the stored envelope")
    func seq() async throws {
        var journal = try scratch.open()
        let first = try await journal.commit([
            poll(events: [event(1), event(2)]), poll("blog", events: [event(3, source: "blog")]),
        ])
        #expect(first.map { $0.events.map(\.seq) } == [[1, 2], [3]])
        try journal.close()
        journal = try scratch.open()
        let second = try await journal.commit([poll(events: [event(4)])])
        #expect(second[0].events.map(\.seq) == [4])
        let stored = try await scratch.reader().events(after: 0, limit: 10)
        #expect(stored == (first + second).flatMap(\.events))
        try journal.close()
    }

    @Test(
        "a delivery gets its number and its event's seq, and is pending with its whole event after a restart",
        arguments: Backend.allCases)
    func deliveries(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let cause = event(1)
        let committed = try await journal.commit([
            poll(events: [event(2), cause], deliveries: [delivery(1, of: cause), delivery(2, of: cause, due: 9)])
        ])
        #expect(committed[0].deliveries.map(\.id) == [1, 2])
        #expect(committed[0].deliveries.map(\.message.event.seq) == [2, 2])
        try await store.restart()
        let again = store.journal
        let pending = try await again.pending(
            in: DeliveryLane(source: "lab", sink: "team", priority: .high), after: 0, limit: 10)
        #expect(pending == committed[0].deliveries)
        try await again.close()
    }

    @Test(
        "a delivery may speak of an event of an earlier commit, or of one that is not journalled",
        arguments: Backend.allCases)
    func otherEvents(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let (old, never) = (event(1), event(2, kind: .test))
        _ = try await journal.commit([poll(events: [old])])
        let committed = try await journal.commit([poll(deliveries: [delivery(1, of: old), delivery(2, of: never)])])
        #expect(committed[0].deliveries.map(\.message.event.seq) == [1, 0])
        let pending = try await journal.pending(
            in: DeliveryLane(source: "lab", sink: "team", priority: .high), after: 0, limit: 10)
        #expect(pending.map(\.message.event.id) == [old.id, never.id])
        try await journal.close()
    }

    @Test(
        "items are inserted, replaced, deleted; a new baseline drops the rest of its own source only",
        arguments: Backend.allCases)
    func items(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit([poll(writes: [item("1"), item("2"), item("3")]), poll("b", writes: [item("1")])])
        var gone = item("2", digest: .max)
        gone.absentSince = stamp(2)
        _ = try await journal.commit([poll(writes: [gone], deletions: ["3"])])
        #expect(try await journal.items(of: "lab") == ["1": item("1"), "2": gone])
        _ = try await journal.commit([poll(newBaseline: true, writes: [item("4")])])
        #expect(try await journal.items(of: "lab") == ["4": item("4")])
        #expect(try await journal.items(of: "b") == ["1": item("1")])
        #expect(try await journal.items(of: "unknown").isEmpty)
        try await journal.close()
    }

    @Test("items are read by their keys", arguments: Backend.allCases)
    func keys(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit([
            poll(writes: [item("1"), item("2"), item("o'3")]), poll("b", writes: [item("1", digest: 9)]),
        ])
        let some = try await journal.items(of: "lab", withKeys: ["1", "o'3", "4"])
        #expect(some == ["1": item("1"), "o'3": item("o'3")])
        #expect(try await journal.items(of: "unknown", withKeys: ["1"]).isEmpty)
        try await journal.close()
    }

    @Test("a source's record comes back as it was, by a commit and by a deferred write", arguments: Backend.allCases)
    func records(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        let bare = SourceRecord(name: "bare")
        _ = try await journal.commit([PollRecord(record: fullRecord()), PollRecord(record: bare)])
        #expect(try await journal.sourceRecords() == [bare, fullRecord()])
        var moved = fullRecord()
        moved.due = stamp(99)
        moved.snapshot?.validators.etag = "\"b\""
        let measured = item("1")
        try await journal.write(deferred: [DeferredWrite(moved, items: [measured])])
        #expect(try await journal.sourceRecords() == [bare, moved])
        #expect(try await journal.items(of: moved.name) == ["1": measured])
        try await journal.close()
    }

    @Test("a commit that fails changes nothing and gives no number", .tags(.I1), arguments: Backend.allCases)
    func failure(_ backend: Backend) async throws {
        let store = try await backend.open()
        let journal = store.journal
        _ = try await journal.commit([poll(writes: [item("1")], events: [event(1)])])
        let twice = event(2)
        // The second poll's event has an id that exists: the first poll's part must go with it.
        await #expect(throws: JournalError.self) {
            try await journal.commit([
                poll(
                    "other", newBaseline: true, writes: [item("9")], events: [twice],
                    deliveries: [delivery(1, of: twice)]),
                poll(newBaseline: true, events: [event(1)]),
            ])
        }
        #expect(try await journal.sourceRecords().map(\.name) == ["lab"])
        #expect(try await journal.items(of: "lab") == ["1": item("1")])
        #expect(try await journal.pendingLanes().isEmpty)
        #expect(try await journal.commit([poll(events: [event(3)])])[0].events.map(\.seq) == [2])
        try await journal.close()
    }

    @Test("a full disk is reported, leaves nothing behind, and is over when there is room")
    func full() async throws {
        let journal = try scratch.open()
        let pages = try #require(try journal.number("pragma page_count"))
        try journal.tamper("pragma max_page_count = \(pages + 4)")
        let error = await #expect(throws: JournalError.self) {
            _ = try await journal.commit(polls(1...500))
        }
        #expect(error?.reason == .full)
        #expect(try journal.number("select count(*) from event") == 0)
        #expect(try await journal.sourceRecords().isEmpty)
        try journal.tamper("pragma max_page_count = 1000000")
        #expect(try await journal.commit(polls(1...500)).last?.events.first?.seq == 500)
        try journal.close()
    }

    @Test("another program's lock is reported as busy, a database that may not be written as readOnly")
    func refused() async throws {
        let journal = try scratch.open()
        try journal.tamper("pragma query_only = 1")
        let refused = await #expect(throws: JournalError.self) { _ = try await journal.commit([poll()]) }
        #expect(refused?.reason == .readOnly)
        try journal.tamper("pragma query_only = 0; pragma busy_timeout = 0")
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: scratch.database, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "begin immediate") }
        let busy = await #expect(throws: JournalError.self) { _ = try await journal.commit([poll()]) }
        #expect(busy?.reason == .busy)
        try await other.writeWithoutTransaction { try $0.execute(sql: "rollback") }
        _ = try await journal.commit([poll()])
        try other.close()
        try journal.close()
    }

    @Test("a cancelled task's commit is whole", .tags(.I1))
    func cancelled() async throws {
        let journal = try scratch.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await journal.commit(polls(1...3))
        }
        #expect(try await task.value.count == 3)
        #expect(try journal.number("select count(*) from event") == 3)
        try journal.close()
    }
}
