// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

/// The steps of a version that does not exist yet: this one's, and a change of a table with rows.
enum LaterVersion {
    static let steps =
        Migrations.steps + ["alter table source add column note text; update source set note = 'of ' || name"]
}

@Suite("A journal of an earlier version")
struct UpgradeTests {
    let scratch = Scratch()

    @Test("every row is still there after the upgrade, which is done once, and the version before refuses the journal")
    func rows() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit([PollRecord(record: fullRecord(), writes: [item("59")])] + polls(1...9))
        let reader = try scratch.reader()
        let (events, deliveries) = (try await reader.events(limit: 99), try await reader.deliveries(limit: 99))
        let counts = try await reader.sinkCounts()
        try journal.close()
        let queue = try DatabaseQueue(path: scratch.database)
        try await queue.writeWithoutTransaction { db in
            for _ in 1...2 { try Migrations.migrate(db, steps: LaterVersion.steps) }
            #expect(try Migrations.version(db) == LaterVersion.steps.count)
            let note = "select note from source where name = ?"
            #expect(try String.fetchOne(db, sql: note, arguments: [fullRecord().name]) == "of \(fullRecord().name)")
        }
        try queue.close()
        // The open reader has seen that the file is one of this version; its tables have only gained a column.
        #expect(try await reader.sourceRecord(of: fullRecord().name) == fullRecord())
        #expect(try await Array(reader.items(of: fullRecord().name).keys) == ["59"])
        #expect(try await reader.events(limit: 99) == events && events.count == 9)
        #expect(try await reader.deliveries(limit: 99) == deliveries && deliveries.count == 9)
        #expect(try await reader.sinkCounts() == counts)
        #expect(try await reader.damages() == [])
        for open in [{ _ = try scratch.open() }, { _ = try scratch.reader() }] {
            let error = #expect(throws: JournalError.self) { try open() }
            #expect(error?.reason == .newer)
        }
    }

    @Test("an older file is left as it is by a reader, which says what to do")
    func reader() throws {
        try scratch.open().close()
        let queue = try DatabaseQueue(path: scratch.database)
        let files = scratch.files
        let error = #expect(throws: JournalError.self) {
            try queue.read { try Migrations.requireCurrent($0, files, known: LaterVersion.steps.count) }
        }
        #expect(error?.reason == .older && error?.detail.contains("vedette run") == true)
        #expect(try queue.read { try Migrations.version($0) } == Migrations.steps.count)
        try queue.close()
    }
}
