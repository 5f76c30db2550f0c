// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Following a journal", .timeLimit(.minutes(10)))
struct FollowerTests {
    let scratch = Scratch()

    private func take(_ count: Int, from iterator: inout JournalFollower.AsyncIterator) async throws -> [Int64] {
        var seqs: [Int64] = []
        while seqs.count < count, let batch = try await iterator.next() { seqs += batch.map(\.seq) }
        return seqs
    }

    @Test("history first, then live, without gap or repeat over a restart of the watcher")
    func restart() async throws {
        var journal = try scratch.open()
        _ = try await journal.commit(polls(1...10))
        var events = JournalFollower(scratch.access, after: 3, limit: 4).makeAsyncIterator()
        #expect(try await take(7, from: &events) == Array(4...10))
        _ = try await journal.commit(polls(11...12))
        #expect(try await take(2, from: &events) == [11, 12])
        _ = try await journal.commit(polls(13...13))
        try journal.close()
        journal = try scratch.open()
        _ = try await journal.commit(polls(14...15))
        #expect(try await take(3, from: &events) == [13, 14, 15])
        try journal.close()
    }

    @Test("commits that come while it reads are all seen, once")
    func burst() async throws {
        let journal = try scratch.open()
        let writing = Task {
            for number in 1...200 { _ = try await journal.commit(polls(number...number)) }
        }
        var events = JournalFollower(scratch.access, after: 0).makeAsyncIterator()
        #expect(try await take(200, from: &events) == Array(1...200))
        try await writing.value
        try journal.close()
    }

    @Test("it waits where there is no directory yet, and begins with the first event")
    func waits() async throws {
        let access = scratch.access
        let following = Task {
            var events = JournalFollower(access, after: 0).makeAsyncIterator()
            return try await events.next()?.map(\.seq)
        }
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...1))
        #expect(try await following.value == [1])
        try journal.close()
    }

    @Test("a file that is replaced is followed from its first event, after the rest of the old one")
    func replaced() async throws {
        var journal = try scratch.open()
        _ = try await journal.commit(polls(1...3))
        var events = JournalFollower(scratch.access, after: 0).makeAsyncIterator()
        #expect(try await take(3, from: &events) == [1, 2, 3])
        _ = try await journal.commit(polls(4...4))
        try journal.close()
        for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
            try FileManager.default.removeItem(atPath: scratch.path + "/" + name)
        }
        journal = try scratch.open()
        // More than the old file ever had, so that the number alone does not tell the two apart.
        _ = try await journal.commit(polls(1...6))
        #expect(try await take(7, from: &events) == [4, 1, 2, 3, 4, 5, 6])
        try journal.close()
    }

    @Test("a journal that never gave the last seq is another one: it is followed from its start")
    func otherJournal() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...2))
        var events = JournalFollower(scratch.access, after: 50).makeAsyncIterator()
        #expect(try await take(2, from: &events) == [1, 2])
        try journal.close()
    }

    @Test("the filter holds for what comes as for what was")
    func filter() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit([poll(events: [event(1), event(2, source: "blog")])])
        var events = JournalFollower(scratch.access, after: 0, EventFilter(source: "blog")).makeAsyncIterator()
        #expect(try await take(1, from: &events) == [2])
        _ = try await journal.commit([poll(events: [event(3), event(4, source: "blog")])])
        #expect(try await take(1, from: &events) == [4])
        try journal.close()
    }

    @Test("a commit wakes by itself, without the timer")
    func wakes() async throws {
        let journal = try scratch.open()
        var wakes = try scratch.files.wakes(for: .all, fallback: nil).makeAsyncIterator()
        _ = await wakes.next()
        _ = try await journal.commit(polls(1...1))
        #expect(await wakes.next() != nil)
        try journal.close()
    }

    @Test("a commit does not wake the reader of control requests; a command wakes both")
    func interests() async throws {
        let journal = try scratch.open()
        var requests = try scratch.files.wakes(for: .requests, fallback: nil).makeAsyncIterator()
        var all = try scratch.files.wakes(for: .all, fallback: nil).makeAsyncIterator()
        _ = await (requests.next(), all.next())
        _ = try await journal.commit(polls(1...1))
        #expect(await all.next() != nil)
        try await scratch.access.accept(source: "lab", at: stamp(1))
        #expect(await requests.next() != nil)
        #expect(try await journal.controlRequests().count == 1)
        #expect(await all.next() != nil)
        try journal.close()
    }

    @Test("the end of the watcher wakes its readers, also when it is killed")
    func end() async throws {
        let journal = try scratch.open()
        var wakes = try scratch.files.wakes(for: .all, fallback: nil).makeAsyncIterator()
        _ = await wakes.next()
        // The kernel closes the lock file of a killed process as this does.
        let file = open(scratch.files.lock, O_RDWR)
        close(file)
        #expect(await wakes.next() != nil)
        try journal.close()
    }

    @Test("it ends when its task is cancelled")
    func cancelled() async throws {
        let access = scratch.access
        let following = Task {
            var events = JournalFollower(access, after: 0).makeAsyncIterator()
            return try await events.next()
        }
        following.cancel()
        #expect(try await following.value == nil)
    }

    @Test("a journal of a later version is an error, not a wait")
    func newer() async throws {
        let journal = try scratch.open()
        try journal.tamper("pragma user_version = 99")
        var events = JournalFollower(scratch.access, after: 0).makeAsyncIterator()
        await #expect(throws: JournalError.self) { _ = try await events.next() }
        try journal.close()
    }
}
