// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("A journal of an earlier version")
struct UpgradeTests {
    let scratch = Scratch()

    /// A file as that version wrote it: one source, four events, five deliveries in all states.
    private func install(version: Int) throws {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/journals/version\(version).db")
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: fixtures.path, toPath: scratch.database)
    }

    @Test("every row is still there after the upgrade, and the counts of queues are right", arguments: 1...8)
    func rows(version: Int) async throws {
        try install(version: version)
        #expect(throws: JournalError.self) { try scratch.reader() }
        let journal = try scratch.open()
        let record = try #require(try await journal.sourceRecords().first)
        #expect(record.name == "lab" && record.snapshot?.digest == 7)
        // No `asked`: the validators of before are not sent.
        #expect(record.snapshot?.asked == nil && record.snapshot?.isWhole == false)
        // No `shown` digest: the row is rewritten when it is next read.
        let item = try #require(try await journal.items(of: "lab")["59"])
        #expect(item.digest == 3 && item.shown == 0 && item.item?.state == "Started")
        let reader = try scratch.reader()
        #expect(try await reader.events(limit: 9).map(\.seq) == [1, 2, 3, 4])
        let deliveries = try await reader.deliveries(limit: 9)
        #expect(deliveries.map(\.state) == [.sent, .dead, .retry, .pending, .paused])
        #expect(try await reader.attempts(of: 3).map(\.reason) == ["503"])
        #expect(try await journal.controlRequests().map(\.request) == [.accept(source: "lab")])
        if version >= 2 { #expect(await journal.cookies(of: "lab") == Array("[1]".utf8)) }
        if version >= 3 {
            #expect(try await journal.silences().map(\.rule) == ["ready"])
            #expect(try await journal.ruleMemories().map(\.key.slot) == [.once])
        }
        if version >= 4 { #expect(deliveries[3].delivery.chain == ["mail"]) }

        let counts = try await reader.sinkCounts()
        #expect(counts.map(\.sink) == ["hook", "team"])
        #expect(counts.map(\.pending) == [2, 1] && counts.map(\.dead) == [0, 1])
        let bytes = try journal.number(
            """
            select sum(length(cast(title || text as blob)) + length(cast(coalesce(event_body, body) as blob)))
            from delivery d left join event e on e.seq = d.event where ended_at is null and sink = 'hook'
            """)
        #expect(counts[0].pendingBytes == bytes.map(Int64.init))
        #expect(try await journal.commit([poll(events: [event(7)])])[0].events.map(\.seq) == [5])
        #expect(try await reader.damages().isEmpty)
        try journal.close()
    }

    @Test("an older file is left as it is by a reader, which says what to do")
    func reader() throws {
        try install(version: 3)
        let error = #expect(throws: JournalError.self) { try scratch.reader() }
        #expect(error?.reason == .older && error?.detail.contains("vedette run") == true)
        let queue = try DatabaseQueue(path: scratch.database)
        #expect(try queue.read { try Migrations.version($0) } == 3)
        try queue.close()
    }
}
