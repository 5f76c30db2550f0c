// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Repairing a damaged journal", .timeLimit(.minutes(10)))
struct RepairTests {
    let scratch = Scratch()

    private static let sources = ["blog", "lab", "news"]

    /// Three sources with items, 200 events with deliveries in several states, and a row of everything else.
    private func fill() async throws {
        let journal = try scratch.open()
        for source in Self.sources {
            var record = fullRecord()
            record.name = source
            _ = try await journal.commit([PollRecord(record: record, writes: (0..<60).map { item("\($0)") })])
        }
        _ = try await journal.commit(polls(1...200).map { poll(events: $0.events, deliveries: $0.deliveries) })
        try await journal.record(
            (1...60).map { id in
                Attempt(
                    delivery: id, state: id % 2 == 0 ? .dead : .retry, attempts: 1, due: stamp(9), at: stamp(5),
                    reason: "503")
            })
        let memory = RuleMemory(key: .init(rule: "r", slot: .once, name: "n"), identity: 1, since: stamp(0))
        var rules = PollRecord(record: nil)
        rules.memories = [memory.key: memory]
        _ = try await journal.commit([rules])
        await journal.keep(Array("[1]".utf8), of: "lab")
        let stop = StoppedSink(sink: "hook", kind: .paused, reason: "401", since: stamp(1), fingerprint: 1)
        _ = try await journal.commit([PollRecord(record: nil, sinkChange: .stopped(stop))])
        try await journal.store(PollLateness.Report(p99: 1, polls: 1, at: stamp(1)), of: "")
        _ = try await scratch.access.add(Silence(rule: "ready", created: stamp(1)))
        try journal.close()
    }

    private var file: URL { URL(fileURLWithPath: scratch.database) }

    /// The same files elsewhere.
    private func image(of original: Scratch? = nil) throws -> Scratch {
        let copy = Scratch()
        try FileManager.default.copyItem(atPath: (original ?? scratch).path, toPath: copy.path)
        return copy
    }

    private func overwrite(_ range: Range<Int>, of scratch: Scratch, with byte: UInt8 = 0xFF) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.database))
        try file.seek(toOffset: UInt64(range.lowerBound))
        try file.write(contentsOf: Data(repeating: byte, count: range.count))
        try file.close()
    }

    private struct Contents: Equatable {
        var events: [Event]
        var deliveries: [DeliveryStatus]
        var items: [String: [String: StoredItem]] = [:]
        var records: [SourceRecord]
        var stoppedSinks: [StoppedSink]
        var lateness: [String: PollLateness.Report]

        init(_ reader: any JournalReader) async throws {
            events = try await reader.events(limit: 999)
            deliveries = try await reader.deliveries(limit: 999)
            records = try await reader.sourceRecords()
            (stoppedSinks, lateness) = (try await reader.stoppedSinks(), try await reader.lateness())
            for source in RepairTests.sources { items[source] = try await reader.items(of: source) }
        }
    }

    @Test("whichever page is destroyed, the rest is saved, sound, consistent, and numbers go on")
    func pages() async throws {
        try await fill()
        let before = try await Contents(scratch.reader())
        let pages = try Data(contentsOf: file).count / 4096
        var (events, deliveries, repaired) = (0, 0, 0)
        // The first pages hold the schema; without it nothing can be read.
        for page in 3..<pages {
            let copy = try image()
            try overwrite(page * 4096..<(page + 1) * 4096, of: copy)
            let damaged = try Data(contentsOf: URL(fileURLWithPath: copy.database))
            let report: RepairReport
            do throws(JournalError) {
                // Nil: the page is free.
                guard let result = try copy.access.repair(at: stamp(0)) else { continue }
                report = result
            } catch {
                #expect(error.reason == .corrupt && error.detail.contains("restore a backup"), "page \(page): \(error)")
                continue
            }
            repaired += 1
            #expect(try Data(contentsOf: URL(fileURLWithPath: report.kept)) == damaged)
            let reader = try copy.reader()
            #expect(try await reader.damages().isEmpty, "page \(page)")
            let after = try await Contents(reader)
            #expect(Set(after.events).isSubset(of: before.events), "page \(page)")
            #expect(Set(after.deliveries).isSubset(of: before.deliveries), "page \(page)")
            for source in Self.sources {
                let isForgotten = !after.records.contains { $0.name == source }
                #expect(after.items[source] == (isForgotten ? [:] : before.items[source]), "page \(page)")
            }
            let pending = try await reader.sinkCounts().reduce(0) { $0 + $1.pending }
            #expect(pending == after.deliveries.count { $0.state.isPending }, "page \(page)")
            let isWhole = after == before
            let lost = report.tables.contains { $0.lost != 0 }
            #expect(isWhole || lost || !report.forgottenSources.isEmpty, "page \(page): \(report)")
            (events, deliveries) = (events + after.events.count, deliveries + after.deliveries.count)
            let journal = try copy.open()
            #expect(
                try await journal.commit([poll(events: [event(999)])])[0].events.map(\.seq) == [201], "page \(page)")
            try journal.close()
        }
        #expect(repaired > pages / 2)
        #expect(events > repaired * 180 && deliveries > repaired * 170, "\(events), \(deliveries) of \(repaired)")
    }

    @Test("where only the way to the items is destroyed, no source is forgotten")
    func indexOfItems() async throws {
        try await fill()
        let before = try await Contents(scratch.reader())
        let journal = try scratch.open()
        let root = "select rootpage from sqlite_schema where name = 'sqlite_autoindex_item_1'"
        let page = try #require(try journal.number(root))
        try journal.close()
        try overwrite((page - 1) * 4096..<page * 4096, of: scratch)
        let report = try #require(try scratch.access.repair(at: stamp(0)))
        #expect(report.forgottenSources.isEmpty && report.tables.allSatisfy { $0.lost == 0 }, "\(report)")
        #expect(try await Contents(scratch.reader()) == before)
    }

    @Test("a sound journal is left as it is, and nothing stays beside it")
    func sound() async throws {
        try await fill()
        let before = try Data(contentsOf: file)
        #expect(try scratch.access.repair(at: stamp(0)) == nil)
        #expect(try Data(contentsOf: file) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(Set(names) == ["journal.db", "journal.db-wal", "journal.db-shm", "vedette.lock"])
    }

    @Test("what was committed only to the log is saved too, and the log is kept with the damaged file")
    func log() async throws {
        try await fill()
        let journal = try scratch.open()
        _ = try await journal.commit([poll(events: [event(500)])])
        let page = try #require(try journal.number("select rootpage from sqlite_schema where name = 'memory'"))
        let copy = try image()
        try journal.close()
        try overwrite((page - 1) * 4096..<page * 4096, of: copy)
        let log = try Data(contentsOf: URL(fileURLWithPath: copy.database + "-wal"))
        #expect(!log.isEmpty)
        let report = try #require(try copy.access.repair(at: stamp(0)))
        #expect(try Data(contentsOf: URL(fileURLWithPath: report.kept + "-wal")) == log)
        #expect(try await copy.reader().lastSeq() == 201)
    }

    @Test(
        "a repair that a power cut interrupts at any step is finished by the next start, and nothing of the log is lost",
        arguments: 0...6)
    func interrupted(steps: Int) async throws {
        try await fill()
        let journal = try scratch.open()
        _ = try await journal.commit([poll(events: [event(500)])])
        let copy = try image()
        try journal.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: copy.database + "-wal"))
        // Saved whole, and moved by a repair that ends after some steps.
        let other = try image(of: copy)
        try other.open().close()
        let fresh = copy.path + "/journal.repaired-1.db"
        try FileManager.default.moveItem(atPath: other.database, toPath: fresh)
        let replacement = try JournalReplacement(of: copy.files, by: fresh, stamp: "1")
        for step in JournalReplacement.Step.allCases.prefix(steps) { try replacement.make(step) }
        let isOver = steps > 4
        if !isOver {
            #expect(reason { _ = try copy.reader() } == .corrupt)
            await #expect(throws: JournalError.self) {
                try await copy.access.add(Silence(rule: "r", created: stamp(1)))
            }
        }
        try copy.open().close()
        #expect(try await copy.reader().lastSeq() == 201)
        #expect(try Data(contentsOf: URL(fileURLWithPath: replacement.kept + "-wal")) == log)
        #expect(try copy.access.repair(at: stamp(0)) == nil)
    }

    @Test("an interrupted repair is finished by the next one, which names the file that is kept")
    func interruptedTwice() async throws {
        try await fill()
        let other = try image()
        let fresh = scratch.path + "/journal.repaired-1.db"
        try FileManager.default.moveItem(atPath: other.database, toPath: fresh)
        let replacement = try JournalReplacement(of: scratch.files, by: fresh, stamp: "1")
        // A log that SQLite makes beside the damaged journal does not take the place of the one that is kept.
        for step in JournalReplacement.Step.allCases.prefix(2) { try replacement.make(step) }
        let log = try? Data(contentsOf: URL(fileURLWithPath: replacement.kept + "-wal"))
        try Data("new".utf8).write(to: URL(fileURLWithPath: scratch.database + "-wal"))
        #expect(try scratch.access.repair(at: stamp(0))?.kept == replacement.kept)
        let keptLog = try? Data(contentsOf: URL(fileURLWithPath: replacement.kept + "-wal"))
        #expect(keptLog == log)
        #expect(try await scratch.reader().damages().isEmpty)
    }

    @Test("a log that was cut off anywhere leaves the commits before the cut, whole")
    func cutLog() async throws {
        // Brings the tables from the log into the database.
        try scratch.open().close()
        let journal = try scratch.open()
        for number in 1...20 { _ = try await journal.commit(polls(number...number)) }
        let log = try Data(contentsOf: URL(fileURLWithPath: scratch.database + "-wal"))
        var seen = Set<Int>()
        for part in 0...24 {
            let copy = try image()
            let length = log.count * part / 24
            try log.prefix(length).write(to: URL(fileURLWithPath: copy.database + "-wal"))
            _ = try copy.access.repair(at: stamp(0))
            let again = try copy.open()
            let reader = try copy.reader()
            let events = try await reader.events(limit: 99)
            #expect(events.map(\.seq) == Array(1...20).prefix(events.count).map(Int64.init))
            #expect(try await reader.deliveries(limit: 99).map(\.delivery.message.event.seq) == events.map(\.seq))
            #expect(try await reader.damages().isEmpty)
            seen.insert(events.count)
            try again.close()
        }
        #expect(seen.contains(20) && seen.count > 10, "\(seen.sorted())")
        try journal.close()
    }

    @Test("a journal of an earlier version is repaired and brought up to date")
    func earlier() async throws {
        try await fill()
        let journal = try scratch.open()
        let page = try #require(try journal.number("select rootpage from sqlite_schema where name = 'event_item'"))
        try journal.close()
        try overwrite((page - 1) * 4096..<page * 4096, of: scratch)
        let repair = JournalRepair(scratch.files, at: stamp(0), steps: LaterVersion.steps)
        let report = try #require(try repair.run())
        #expect(report.tables.first { $0.name == "event" } == .init(name: "event", saved: 200, lost: 0))
        #expect(report.tables.first { $0.name == "delivery" } == .init(name: "delivery", saved: 200, lost: 0))
        let queue = try DatabaseQueue(path: scratch.database)
        let (version, notes) = try await queue.read { db in
            (try Migrations.version(db), try String.fetchAll(db, sql: "select note from source order by id"))
        }
        #expect(version == LaterVersion.steps.count && notes == ["of blog", "of lab", "of news"])
        try queue.close()
    }

    @Test("a source whose record is unreadable is forgotten, a delivery without its event is lost, and both are told")
    func unreadable() async throws {
        try await fill()
        let queue = try DatabaseQueue(path: scratch.database)
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    pragma foreign_keys = off;
                    update source set record = '{' where name = 'lab';
                    update event set body = '{' where seq = 7
                    """)
        }
        try queue.close()
        let report = try #require(try scratch.access.repair(at: stamp(0)))
        #expect(report.forgottenSources == ["lab"])
        #expect(report.tables.filter { ["event", "delivery", "source"].contains($0.name) }.map(\.lost) == [1, 1, 1])
        let reader = try scratch.reader()
        #expect(try await reader.sourceRecords().map(\.name) == ["blog", "news"])
        #expect(try await reader.items(of: "lab").isEmpty)
        #expect(try await reader.items(of: "news").count == 60)
        #expect(try await reader.events(limit: 999).count == 199)
        #expect(try await reader.deliveries(limit: 999).count == 199)
    }

    private func reason(_ body: () throws -> Void) -> JournalError.Reason? {
        do { try body() } catch { return (error as? JournalError)?.reason }
        return nil
    }

    @Test("a journal in use, of a later version, of another program, or none is refused and left as it is")
    func refused() async throws {
        #expect(reason { _ = try scratch.access.repair(at: stamp(0)) } == .missing)
        let journal = try scratch.open()
        #expect(reason { _ = try scratch.access.repair(at: stamp(0)) } == .locked(pid: getpid()))
        try journal.tamper("pragma user_version = 99")
        try journal.close()
        #expect(reason { _ = try scratch.access.repair(at: stamp(0)) } == .newer)
        for contents in [Data(repeating: 0x41, count: 8192), try other()] {
            try contents.write(to: file)
            #expect(reason { _ = try scratch.access.repair(at: stamp(0)) } == .corrupt)
            #expect(try Data(contentsOf: file) == contents)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(!names.contains { $0.contains("repaired") || $0.contains("damaged") })
    }

    /// Another program's database.
    private func other() throws -> Data {
        let path = scratch.path + "/other.db"
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "create table notes (text)") }
        try queue.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }
}
