// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteJournal

@Suite("Pruning")
struct PruningTests {
    let scratch = Scratch()

    private func end(_ deliveries: ClosedRange<Int64>, at milliseconds: Int64) -> [Attempt] {
        deliveries.map {
            Attempt(delivery: $0, state: .sent, attempts: 1, due: stamp(0), at: stamp(milliseconds), reason: nil)
        }
    }

    @Test("old events and ended deliveries go; what is pending stays with its event", .tags(.I5))
    func pending() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...2500))
        _ = try await journal.commit([poll(events: [event(5000, at: 90), event(5001, at: 5000)])])
        try await journal.record(end(1...2400, at: 3000))
        let size = try await journal.size()
        try await journal.prune(Retention(eventsBefore: stamp(4000), sources: ["lab"], sourcesBefore: stamp(4000)))
        #expect(try await journal.size() < size / 4)
        #expect(try journal.number("select count(*) from event") == 101)
        #expect(try journal.number("select count(*) from delivery") == 100)
        let pending = try await journal.pending(
            in: DeliveryLane(source: "lab", sink: "team", priority: .high), after: 0, limit: 1000)
        #expect(pending.map(\.message.event.seq) == Array(2401...2500))
        try journal.close()
    }

    @Test("of ended deliveries the newest are kept up to a number, whatever their age", arguments: Backend.allCases)
    func count(_ backend: Backend) async throws {
        let store = try await backend.open()
        _ = try await store.journal.commit(polls(1...10))
        for id in 1...8 { try await store.journal.record(end(Int64(id)...Int64(id), at: Int64(id))) }
        var retention = Retention(eventsBefore: stamp(0), sources: ["lab"], sourcesBefore: stamp(0))
        retention.endedDeliveries = 3
        try await store.journal.prune(retention)
        let left = try await store.reader().deliveries(limit: 99).map(\.delivery.id)
        #expect(left == [5, 6, 7, 8, 9, 10] || left == [6, 7, 8, 9, 10])
        retention.endedDeliveries = 99
        try await store.journal.prune(retention)
        #expect(try await store.reader().deliveries(limit: 99).map(\.delivery.id) == left)
        try await store.journal.close()
    }

    @Test("a cancelled prune ends after the step at hand, and the next one goes on")
    func cancelled() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit([poll(events: (1...3000).map { event($0, at: Int64($0)) })])
        let retention = Retention(eventsBefore: stamp(9000), sources: ["lab"], sourcesBefore: stamp(0))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await journal.prune(retention)
        }
        try await task.value
        #expect(try journal.number("select count(*) from event") == 3000)
        try await journal.prune(retention)
        #expect(try journal.number("select count(*) from event") == 0)
        try journal.close()
    }

    @Test("an event whose delivery ended lately stays as long as the delivery")
    func lately() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...1))
        try await journal.record(end(1...1, at: 9000))
        try await journal.prune(Retention(eventsBefore: stamp(4000), sources: ["lab"], sourcesBefore: stamp(0)))
        #expect(try journal.number("select count(*) from event") == 1)
        try await journal.prune(Retention(eventsBefore: stamp(9001), sources: ["lab"], sourcesBefore: stamp(0)))
        #expect(try journal.number("select count(*) from event") == 0)
        try journal.close()
    }

    @Test("a seq is never given twice, even when all events are gone and the journal was closed", .tags(.I4))
    func seq() async throws {
        var journal = try scratch.open()
        _ = try await journal.commit([poll(events: [event(1), event(2)])])
        try await journal.prune(Retention(eventsBefore: stamp(1), sources: [], sourcesBefore: stamp(0)))
        #expect(try journal.number("select count(*) from event") == 0)
        try journal.close()
        journal = try scratch.open()
        #expect(try await journal.commit([poll(events: [event(3)])])[0].events[0].seq == 3)
        try journal.close()
    }

    @Test("a source that is no longer configured goes with its items once its time is over")
    func sources() async throws {
        let journal = try scratch.open()
        for (name, polled) in [("kept", 1), ("young", 500), ("gone", 1)] {
            var record = SourceRecord(name: name)
            record.health.lastPollAt = stamp(Int64(polled))
            _ = try await journal.commit([
                PollRecord(record: record, writes: (0..<1500).map { item("\($0)") })
            ])
        }
        try await journal.prune(Retention(eventsBefore: stamp(0), sources: ["kept"], sourcesBefore: stamp(100)))
        #expect(try await journal.sourceRecords().map(\.name) == ["kept", "young"])
        #expect(try journal.number("select count(*) from item") == 3000)
        try journal.close()
    }

    @Test("a source that comes back while it is pruned begins anew; one that was polled meanwhile stays")
    func comesBack() async throws {
        let journal = try scratch.open()
        func commit(_ name: String, polled: Int64, items: Int) async throws {
            var record = SourceRecord(name: name)
            record.health.lastPollAt = stamp(polled)
            _ = try await journal.commit([PollRecord(record: record, writes: (0..<items).map { item("\($0)") })])
        }
        for name in ["back", "polled"] { try await commit(name, polled: 1, items: 1500) }
        let retention = Retention(eventsBefore: stamp(0), sources: [], sourcesBefore: stamp(100))
        let pruning = SQLitePruning(store: journal.store)
        let abandoned = try await pruning.abandonedSources(retention)
        try await commit("polled", polled: 200, items: 1)
        var retired: [Int64] = []
        for source in abandoned where try await pruning.retire(source, retention) { retired.append(source) }
        #expect(abandoned.count == 2 && retired.count == 1)
        #expect(try await journal.sourceRecords().map(\.name) == ["polled"])
        let copied = try await journal.store.read { try CopyRows.read(.source, after: nil, limit: 10, $0) }
        #expect(copied.count == 1)
        // As a crash between two steps leaves it.
        for source in retired { _ = try await pruning.delete(source) }
        #expect(try await journal.items(of: "back").isEmpty)
        #expect(try await !journal.sourceRecords().contains { $0.name == "back" })
        try await commit("back", polled: 201, items: 3)
        try await journal.prune(retention)
        #expect(try await journal.items(of: "back").count == 3)
        #expect(try await journal.items(of: "polled").count == 1500)
        #expect(try await journal.sourceRecords().map(\.name) == ["back", "polled"])
        try journal.close()
    }
}
