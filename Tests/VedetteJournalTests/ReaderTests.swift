// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Reading beside the watcher")
struct ReaderTests {
    let scratch = Scratch()

    private func filled() async throws -> SQLiteJournal {
        let journal = try scratch.open()
        let (a, b) = (event(1, at: 100), event(2, source: "blog", key: "x", at: 50))
        _ = try await journal.commit([
            poll(events: [a], deliveries: [delivery(1, of: a), delivery(2, of: a, sink: "hook")]),
            poll("blog", events: [b]),
            poll(events: [event(3, key: "60", at: 200), event(4, at: 300, kind: .failing)]),
        ])
        return journal
    }

    @Test("events by source, rule and time, forwards and from the end")
    func filters() async throws {
        let journal = try await filled()
        let reader = try scratch.reader()
        func seqs(_ filter: EventFilter, after: Int64 = 0, limit: Int = 9) async throws -> [Int64] {
            try await reader.events(after: after, filter, limit: limit).map(\.seq)
        }
        #expect(try await seqs(.init()) == [1, 2, 3, 4])
        #expect(try await seqs(.init(), after: 1, limit: 2) == [2, 3])
        #expect(try await seqs(.init(source: "lab"), after: 1) == [3, 4])
        #expect(try await seqs(.init(rule: "ready")) == [1])
        #expect(try await seqs(.init(source: "blog", rule: "ready")) == [])
        #expect(try await seqs(.init(since: stamp(100))) == [1, 3, 4])
        #expect(try await seqs(.init(source: "lab", rule: "ready", since: stamp(100))) == [1])
        #expect(try await seqs(.init(since: stamp(301))) == [])
        #expect(try await reader.lastEvents(2).map(\.seq) == [3, 4])
        #expect(try await reader.lastEvents(2, .init(source: "lab")).map(\.seq) == [3, 4])
        #expect(try await reader.lastEvents(9, .init(rule: "ready")).map(\.seq) == [1])
        #expect(try await reader.lastSeq() == 4)
        try journal.close()
    }

    @Test("an event is found by its id, by a beginning of it, and by its seq")
    func matching() async throws {
        let journal = try await filled()
        let reader = try scratch.reader()
        #expect(try await reader.events(matching: "0199-2").map(\.seq) == [2])
        #expect(try await reader.events(matching: "0199").count == 4)
        #expect(try await reader.events(matching: "3").map(\.seq) == [3])
        #expect(try await reader.events(matching: "0200").isEmpty)
        try journal.close()
    }

    @Test("an item's history, and an event about no item in none")
    func history() async throws {
        let journal = try await filled()
        _ = try await journal.commit([poll(events: [event(5, key: "59", at: 400), event(6, key: "59", at: 500)])])
        let reader = try scratch.reader()
        #expect(try await reader.history(source: "lab", key: "59", limit: 9).map(\.seq) == [1, 5, 6])
        #expect(try await reader.history(source: "lab", key: "59", limit: 2).map(\.seq) == [5, 6])
        try journal.close()
    }

    @Test("a reader sees each commit, hinders none, and may write nothing")
    func beside() async throws {
        let journal = try scratch.open()
        let reader = try scratch.reader()
        let before = try await reader.dataVersion()
        _ = try await journal.commit([poll(writes: [item("1")], events: [event(1)])])
        #expect(try await reader.dataVersion() != before)
        #expect(try await reader.lastSeq() == 1)
        #expect(try await reader.items(of: "lab") == ["1": item("1")])
        #expect(try await reader.sourceRecords().map(\.name) == ["lab"])
        #expect(try await reader.damages().isEmpty)
        try journal.close()
        #expect(try await reader.lastSeq() == 1)
        #expect(try await scratch.reader().lastSeq() == 1)
    }

    @Test("what another command asks is handed to the watcher once, in order, and wakes it")
    func requests() async throws {
        let accept = JournalRequest(verb: "accept", argument: "lab", created: stamp(1))
        let retry = JournalRequest(verb: "retry", argument: "7", created: stamp(2))
        #expect(throws: JournalError.self) { try accept.ask(directory: scratch.path) }
        let journal = try scratch.open()
        #expect(try await journal.takeRequests().isEmpty)
        let watch = try JournalWatch(directory: scratch.path)
        var wakes = watch.wakes.makeAsyncIterator()
        try accept.ask(directory: scratch.path)
        try retry.ask(directory: scratch.path)
        var taken: [JournalRequest] = []
        while taken.count < 2, await wakes.next() != nil { taken += try await journal.takeRequests() }
        #expect(taken == [accept, retry])
        #expect(try await journal.takeRequests().isEmpty)
        try journal.close()
    }
}
