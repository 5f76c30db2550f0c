// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteEngine

@Suite("Committing polls together", .timeLimit(.minutes(1)))
struct CommitBatcherTests {
    private func record(_ source: String, event id: String) -> PollRecord {
        let event = Event(
            id: Identifier(id), kind: .changed, time: Timestamp(milliseconds: 1), source: source, sourceKind: "lines",
            poll: "p", item: Item(key: "1"))
        return PollRecord(record: SourceRecord(name: source), events: [event])
    }

    private func isWritten(_ ticket: CommitTicket) async -> Bool {
        do throws(JournalError) {
            _ = try await ticket.committed()
            return true
        } catch {
            return false
        }
    }

    @Test("a record that the journal refuses fails alone, not the polls that were committed with it")
    func poison() async throws {
        let journal = MemoryJournal()
        _ = try journal.commit([record("old", event: "0199-1")], within: .none)
        let batcher = CommitBatcher(journal: journal, log: Lines())
        let tickets = [("a", "0199-2"), ("bad", "0199-1"), ("c", "0199-3")].map { name, id in
            batcher.submit(record(name, event: id))
        }
        var written: [Bool] = []
        for ticket in tickets { written.append(await isWritten(ticket)) }
        #expect(written == [true, false, true])
        #expect(journal.sourceRecords().map(\.name) == ["a", "c", "old"])
        await batcher.finish()
    }
}
