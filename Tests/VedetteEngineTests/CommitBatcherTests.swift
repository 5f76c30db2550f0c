// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteEngine

@Suite("Committing polls together", .timeLimit(.minutes(10)))
struct CommitBatcherTests {
    private func record(_ source: String, event id: String) -> PollRecord {
        let event = Event(
            id: Identifier(id), kind: .changed, time: Timestamp(milliseconds: 1), source: source, sourceKind: "lines",
            poll: "p", item: Item(key: "1"))
        return PollRecord(record: SourceRecord(name: source), events: [event])
    }

    private func row(_ key: String, _ state: String) -> StoredItem {
        StoredItem(Item(key: key, state: state), digest: 1, stateSince: Timestamp(milliseconds: 1))
    }

    private func isWritten(_ ticket: CommitTicket) async -> Bool {
        do throws(JournalError) {
            _ = try await ticket.committed()
            return true
        } catch {
            return false
        }
    }

    private final class Announced: Sendable {
        private let state = Mutex<[Int64]>([])

        var ids: [Int64] { state.withLock { $0 } }
        func add(_ deliveries: [Delivery]) { state.withLock { $0 += deliveries.map(\.id) } }
    }

    @Test(
        "deliveries are announced in the order of their ids, before those who wait for their commit go on", .tags(.I6))
    func announcements() async throws {
        let announced = Announced()
        let batcher = CommitBatcher(
            journal: MemoryJournal(), log: LogLines(),
            announce: { pending, _ in
                // The next commit could overtake this one here.
                for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
                announced.add(pending)
            })
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    var record = self.record("s\(number % 7)", event: "0199-\(number)")
                    let message = Message(
                        id: "msg_\(number)", rule: "r", sink: "k", event: record.events[0], title: "", text: "")
                    let now = Timestamp(milliseconds: 1)
                    record.deliveries = [Delivery(message: message, created: now, due: now)]
                    do throws(JournalError) {
                        let id = try await batcher.submit(record).committed().deliveries[0].id
                        #expect(announced.ids.contains(id))
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
        }
        #expect(announced.ids == Array(1...200))
        await batcher.finish()
    }

    @Test("rows of a deferred write are written with what replaces it, unless that changes them, and after a refusal")
    func deferredRows() async throws {
        let journal = FakeJournal()
        func states() async -> [String?] {
            let stored = await journal.items(of: "a")
            return ["1", "2"].map { stored[$0]?.item?.state }
        }
        let batcher = CommitBatcher(journal: journal, log: LogLines())
        let source = SourceRecord(name: "a")
        await journal.hold()
        let first = batcher.submit(record("z", event: "0199-1"))
        try await until { await journal.held == 1 }
        batcher.write(deferred: [DeferredWrite(source, items: [row("1", "old"), row("2", "old")])])
        let second = batcher.submit(PollRecord(record: source, writes: [row("2", "new")]))
        await journal.release()
        #expect(await isWritten(first))
        #expect(await isWritten(second))
        #expect(await states() == ["old", "new"])
        await journal.fail(commits: true, deferred: true)
        batcher.write(deferred: [DeferredWrite(source, items: [row("1", "newer")])])
        await batcher.finish()
        #expect(await isWritten(batcher.submit(PollRecord(record: source))) == false)
        await journal.fail()
        batcher.write(deferred: [DeferredWrite(source)])
        await batcher.finish()
        #expect(await states() == ["newer", "new"])
    }

    /// What a poll commits while an earlier deferred write of its source is in the writer.
    enum Change: CaseIterable {
        case changed, deleted, newBaseline
    }

    @Test(
        "I3: a row that the journal refuses late does not come back over a later commit", .tags(.I3),
        arguments: Change.allCases, [false, true])
    func refusedRows(change: Change, isNextSubmittedEarly: Bool) async throws {
        let journal = FakeJournal()
        let batcher = CommitBatcher(journal: journal, log: LogLines())
        let source = SourceRecord(name: "a")
        let first = PollRecord(record: source, writes: [row("1", "old"), row("2", "old")])
        #expect(await isWritten(batcher.submit(first)))
        await journal.hold(deferred: true)
        batcher.write(deferred: [DeferredWrite(source, items: [row("1", "late"), row("2", "late")])])
        try await until { await journal.held == 1 }
        var poll = PollRecord(record: source)
        switch change {
        case .changed: poll.writes = [row("1", "new")]
        case .deleted: poll.deletions = ["1"]
        case .newBaseline: (poll.isNewBaseline, poll.writes) = (true, [row("1", "new")])
        }
        let second = batcher.submit(poll)
        await journal.fail(deferred: true)
        await journal.letPass()
        // The deferred write has failed, and the poll is in the writer.
        try await until { await journal.held == 1 }
        let early = isNextSubmittedEarly ? batcher.submit(PollRecord(record: source)) : nil
        await journal.release()
        #expect(await isWritten(second))
        #expect(await isWritten(early ?? batcher.submit(PollRecord(record: source))))
        let states = await journal.items(of: "a").mapValues { $0.item?.state }
        let expected: [String: String?] =
            switch change {
            case .changed: ["1": "new", "2": "late"]
            case .deleted: ["2": "late"]
            case .newBaseline: ["1": "new"]
            }
        #expect(states == expected)
        await batcher.finish()
    }

    @Test("I3: rows of a record that fails with its basis are not given to an earlier record of its source", .tags(.I3))
    func rowsOfFailedBasis() async throws {
        let journal = FakeJournal()
        let batcher = CommitBatcher(journal: journal, log: LogLines())
        await journal.refuse { $0.record?.name == "bad" }
        let bad = batcher.submit(PollRecord(record: SourceRecord(name: "bad")))
        #expect(await isWritten(bad) == false)
        await journal.hold()
        let held = batcher.submit(record("z", event: "0199-1"))
        try await until { await journal.held == 1 }
        let source = SourceRecord(name: "a")
        let earlier = batcher.submit(PollRecord(record: source, writes: [row("1", "early")]))
        batcher.write(deferred: [DeferredWrite(source, items: [row("1", "late")])])
        let later = batcher.submit(PollRecord(record: source), after: [bad])
        await journal.release()
        #expect(await isWritten(held))
        #expect(await isWritten(earlier))
        #expect(await isWritten(later) == false)
        #expect(await isWritten(batcher.submit(PollRecord(record: source))))
        #expect(await journal.items(of: "a")["1"]?.item?.state == "late")
        await batcher.finish()
    }

    @Test("a record that the journal refuses fails alone, not the polls that were committed with it")
    func poison() async throws {
        let journal = MemoryJournal()
        _ = try journal.commit([record("old", event: "0199-1")], within: .none)
        let batcher = CommitBatcher(journal: journal, log: LogLines())
        let tickets = [("a", "0199-2"), ("bad", "0199-1"), ("c", "0199-3")].map { name, id in
            batcher.submit(record(name, event: id))
        }
        var written: [Bool] = []
        for ticket in tickets { written.append(await isWritten(ticket)) }
        #expect(written == [true, false, true])
        #expect(journal.sourceRecords().map(\.name) == ["a", "c", "old"])
        await batcher.finish()
    }

    @Test(
        "I12: a record that waits for the lock of its row fails alone; where all wait, most are not tried", .tags(.I12))
    func busy() async throws {
        let journal = FakeJournal()
        let batcher = CommitBatcher(journal: journal, log: LogLines())
        func written(_ names: [String]) async throws -> [Bool] {
            await journal.hold()
            let first = batcher.submit(PollRecord(record: nil))
            try await until { await journal.held == 1 }
            let tickets = names.map { batcher.submit(PollRecord(record: SourceRecord(name: $0))) }
            await journal.release()
            #expect(await isWritten(first))
            var written: [Bool] = []
            for ticket in tickets { written.append(await isWritten(ticket)) }
            return written
        }
        await journal.refuse(as: .busy) { $0.record?.name == "bad" }
        #expect(try await written(["bad", "a", "b", "bad2"]) == [false, true, true, true])
        #expect(await journal.refusals == 2)
        await journal.refuse(as: .busy) { $0.record != nil }
        #expect(try await written(["a", "b", "c", "d"]) == [false, false, false, false])
        #expect(await journal.refusals == 5)
        await batcher.finish()
    }

    @Test("of deferred writes one that waits for a lock fails alone; where all wait, few attempts are made")
    func deferredBusy() async throws {
        let (journal, log) = (FakeJournal(), LogLines())
        let batcher = CommitBatcher(journal: journal, log: log)
        let writes = (0..<100).map { DeferredWrite(SourceRecord(name: "s\($0)")) }
        await journal.refuse(as: .busy) { $0.record?.name == "s37" }
        batcher.write(deferred: writes)
        await batcher.finish()
        #expect(await journal.records.count == 99)
        let attempts = await journal.refusals
        await journal.refuse(as: .busy) { _ in true }
        batcher.write(deferred: writes)
        await batcher.finish()
        #expect(await journal.refusals == attempts + 3)
    }

    @Test("a deferred write that the journal refuses fails alone, without the writes of the other sources")
    func deferredPoison() async throws {
        let (journal, log) = (FakeJournal(), LogLines())
        await journal.refuse { $0.record?.name == "s37" }
        let batcher = CommitBatcher(journal: journal, log: log)
        batcher.write(deferred: (0..<100).map { DeferredWrite(SourceRecord(name: "s\($0)")) })
        await batcher.finish()
        let written = await journal.records
        #expect(written.count == 99 && written["s37"] == nil)
        #expect(await journal.deferred.count < 10, "not one by one")
        #expect(log.all.count == 1)
    }
}
