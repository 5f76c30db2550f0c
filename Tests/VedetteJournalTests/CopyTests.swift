// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Synchronization
import Testing
import VedetteCore
import VedettePostgres

@testable import VedetteJournal

@Suite("Copies of journals", .timeLimit(.minutes(10)))
struct CopyTests {
    /// Where a journal is in a test.
    private enum Place: Sendable {
        case sqlite(Scratch)
        case postgres(PostgresServer)

        init(_ backend: Backend) throws {
            self = backend == .postgres ? .postgres(try PostgresLab.shared.get().schema()) : .sqlite(Scratch())
        }

        var access: any JournalAccess {
            switch self {
            case .sqlite(let scratch): scratch.access
            case .postgres(let server): PostgresJournalAccess(server)
            }
        }

        func open() async throws(JournalError) -> Store.AnyJournal {
            switch self {
            case .sqlite(let scratch): try scratch.open()
            case .postgres(let server): try await PostgresJournal.open(server)
            }
        }

        func snapshot(isExclusive: Bool = true) async throws(JournalError) -> any JournalRows {
            switch self {
            case .sqlite(let scratch):
                try await SQLiteSnapshot.open(directory: scratch.path, isExclusive: isExclusive)
            case .postgres(let server): try await PostgresJournalAccess(server).snapshot(isExclusive: isExclusive)
            }
        }

        func target() async throws(JournalError) -> any JournalTarget {
            switch self {
            case .sqlite(let scratch): try SQLiteCopy.open(directory: scratch.path)
            case .postgres(let server): try await PostgresJournalAccess(server).beginCopy()
            }
        }

        /// Changes the record of a source without a trace in any other table.
        func commit(_ record: SourceRecord) async throws {
            let journal = try await open()
            try await journal.write(deferred: [DeferredWrite(record)])
            try await journal.close()
        }
    }

    private static let ways: [(Backend, Backend)] = [
        (.sqlite, .postgres), (.postgres, .sqlite), (.sqlite, .sqlite), (.postgres, .postgres),
    ]

    /// A journal with rows in every table, whose last numbers belong to rows that are gone.
    private func fill(_ place: Place) async throws {
        let journal = try await place.open()
        let hard = "é\u{10FFFF}0 \u{1F600}"
        let first = PollRecord(
            record: fullRecord(), isNewBaseline: true, writes: (0..<150).map { item("\(hard)\($0)", digest: .max) })
        _ = try await journal.commit([first] + polls(1...80) + polls(81...90, sink: "hook"))
        var remembered = poll("second", writes: [item("1"), item("2")])
        let memory = RuleMemory(key: .init(rule: "r", slot: .tally, name: hard), identity: .max, since: stamp(1))
        remembered.memories = [memory.key: memory]
        _ = try await journal.commit([remembered])
        let dead = Attempt(delivery: 1, state: .dead, attempts: 2, due: stamp(0), at: stamp(9), reason: "404 \(hard)")
        let sent = Attempt(delivery: 2, state: .sent, attempts: 1, due: stamp(0), at: stamp(10), reason: nil)
        let retried = Attempt(delivery: 3, state: .retry, attempts: 1, due: stamp(50), at: stamp(10), reason: "503")
        _ = try await journal.record([dead, sent, retried])
        await journal.keep(Array(#"[{"é":1}]"#.utf8), of: "lab")
        let stop = StoppedSink(sink: hard, kind: .disabled, reason: hard, since: stamp(1), fingerprint: .max)
        _ = try await journal.commit([PollRecord(record: nil, sinkChange: .stopped(stop))])
        try await journal.store(PollLateness.Report(p99: 0.025, polls: 9, at: stamp(1)), of: "")
        let access = place.access
        _ = try await access.add(Silence(rule: "ready", sink: "hook", drops: true, created: stamp(2)))
        let ended = try await access.add(Silence(source: "lab", created: stamp(2)))
        #expect(try await access.endSilences([ended], at: stamp(3)) == 1)
        try await access.accept(source: "lab", at: stamp(4))
        let requests = try await journal.controlRequests()
        try await journal.finish(requests[requests.count - 1])
        _ = try await access.clear(.ids([1]), at: stamp(5))
        try await journal.close()
    }

    private func copy(
        _ from: Place, _ to: Place, through wrap: (any JournalTarget) -> any JournalTarget = { $0 }
    ) async throws -> [JournalCopy.Table] {
        let source = try await from.snapshot()
        let target: any JournalTarget
        do {
            target = wrap(try await to.target())
        } catch {
            await source.close()
            throw error
        }
        let tables = Mutex<[JournalCopy.Table]>([])
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await JournalCopy(from: source, to: target).run { table in tables.withLock { $0.append(table) } })
        } catch {
            result = .failure(error)
        }
        await target.close()
        await source.close()
        try result.get()
        return tables.withLock { $0 }
    }

    /// Returns the tables that differ.
    private func differences(_ one: Place, _ other: Place) async throws -> [String] {
        let (first, second) = (try await one.snapshot(), try await other.snapshot())
        let names = Mutex<[String]>([])
        let isSame = try await JournalComparison(first, second).run { table in
            if table.first != table.second { names.withLock { $0.append(table.name) } }
        }
        await first.close()
        await second.close()
        let differing = names.withLock { $0 }
        #expect(isSame == differing.isEmpty)
        return differing
    }

    @Test("a copy has every row, id and number, and a watcher goes on with it where the other ended", arguments: ways)
    func whole(_ from: Backend, _ to: Backend) async throws {
        let (original, copied) = (try Place(from), try Place(to))
        try await fill(original)
        let tables = try await copy(original, copied)
        #expect(tables.map(\.name) == JournalTable.all.map(\.name))
        #expect(tables.allSatisfy { $0.digest.rows > 0 && $0.present == 0 }, "\(tables)")
        #expect(try await differences(original, copied) == [])
        let (before, after) = (try await original.access.reader(), try await copied.access.reader())
        #expect(try await before.events(limit: 999) == after.events(limit: 999))
        #expect(try await before.deliveries(limit: 999) == after.deliveries(limit: 999))
        #expect(try await before.attempts(of: 3) == after.attempts(of: 3))
        #expect(try await before.items(of: fullRecord().name) == after.items(of: fullRecord().name))
        #expect(try await before.sourceRecords() == after.sourceRecords())
        #expect(try await before.sinkCounts() == after.sinkCounts())
        #expect(try await before.stoppedSinks() == after.stoppedSinks())
        #expect(try await before.lateness() == after.lateness())
        #expect(try await before.silences() == after.silences())
        #expect(try await before.ruleMemories() == after.ruleMemories())
        #expect(try await after.damages() == [])
        let journal = try await copied.open()
        #expect(try await journal.size() > 0)
        #expect(
            try await journal.controlRequests().map(\.request) == [
                .reloadSilences, .reloadSilences, .reloadSilences, .reloadQueue(sink: "team"),
            ])
        let next = try await journal.commit(polls(500...500))
        #expect(next.first?.events.first?.seq == 91 && next.first?.deliveries.first?.id == 91)
        // The second silence is gone, and its number is not given again.
        #expect(try await copied.access.add(Silence(rule: "x", created: stamp(6))) == 3)
        try await journal.close()
        #expect(try await differences(original, copied).contains("event"))
    }

    /// Passes a number of pages on, and fails then, as a connection that ends does.
    private final class Interrupted: JournalTarget {
        private let target: any JournalTarget
        private let left: Mutex<Int>

        init(_ target: any JournalTarget, after pages: Int) {
            self.target = target
            left = Mutex(pages)
        }

        var location: String { target.location }

        func numbers() async throws(JournalError) -> JournalNumbers { try await target.numbers() }

        func rows(
            of table: JournalTable, after last: JournalRow?, limit: Int
        ) async throws(JournalError) -> [JournalRow] {
            try await target.rows(of: table, after: last, limit: limit)
        }

        func insert(_ rows: [JournalRow], into table: JournalTable) async throws(JournalError) {
            let isOver = left.withLock { left in
                left -= 1
                return left < 0
            }
            if isOver { throw JournalError(.unavailable, "interrupted") }
            try await target.insert(rows, into: table)
        }

        func finish(_ numbers: JournalNumbers) async throws(JournalError) { try await target.finish(numbers) }

        func close() async { await target.close() }
    }

    @Test(
        "a copy that was interrupted is no journal, and goes on where it ended",
        arguments: [Backend.sqlite, .postgres], [1, 2, 3, 5, 8])
    func interrupted(_ backend: Backend, _ pages: Int) async throws {
        let (original, copied) = (try Place(.sqlite), try Place(backend))
        try await fill(original)
        let error = await #expect(throws: JournalError.self) {
            try await copy(original, copied) { Interrupted($0, after: pages) }
        }
        #expect(error?.detail == "interrupted")
        let refused = await #expect(throws: JournalError.self) { try await copied.open() }
        #expect(refused?.detail.contains("repeat 'vedette journal copy'") == true)
        let unread = await #expect(throws: JournalError.self) { try await copied.access.reader() }
        #expect(unread?.reason == .missing)
        let tables = try await copy(original, copied)
        #expect(tables.contains { $0.present > 0 })
        #expect(try await differences(original, copied) == [])
        try await copied.open().close()
    }

    @Test("a copy does not go on after its journal changed", arguments: [Backend.sqlite, .postgres])
    func changed(_ backend: Backend) async throws {
        let (original, copied) = (try Place(.sqlite), try Place(backend))
        try await fill(original)
        await #expect(throws: JournalError.self) { try await copy(original, copied) { Interrupted($0, after: 4) } }
        var record = fullRecord()
        record.due = stamp(1_000_000)
        try await original.commit(record)
        let error = await #expect(throws: JournalError.self) { try await copy(original, copied) }
        #expect(error?.reason == .corrupt && error?.detail.contains("'source'") == true)
        await #expect(throws: JournalError.self) { try await copied.open() }
    }

    /// Loses the last row of one table.
    private struct Lossy: JournalTarget {
        let target: any JournalTarget

        var location: String { target.location }

        func numbers() async throws(JournalError) -> JournalNumbers { try await target.numbers() }

        func rows(
            of table: JournalTable, after last: JournalRow?, limit: Int
        ) async throws(JournalError) -> [JournalRow] {
            try await target.rows(of: table, after: last, limit: limit)
        }

        func insert(_ rows: [JournalRow], into table: JournalTable) async throws(JournalError) {
            try await target.insert(table.name == "memory" ? rows.dropLast() : rows, into: table)
        }

        func finish(_ numbers: JournalNumbers) async throws(JournalError) { try await target.finish(numbers) }

        func close() async { await target.close() }
    }

    @Test("a copy with another row than its journal is found, and never used", arguments: [Backend.sqlite, .postgres])
    func lossy(_ backend: Backend) async throws {
        let (original, copied) = (try Place(.sqlite), try Place(backend))
        try await fill(original)
        let error = await #expect(throws: JournalError.self) {
            try await copy(original, copied) { Lossy(target: $0) }
        }
        #expect(error?.reason == .corrupt && error?.detail.contains("'memory'") == true)
        await #expect(throws: JournalError.self) { try await copied.open() }
    }

    @Test("a place that has a journal, and a journal that is in use, are refused", arguments: ways)
    func refusals(_ from: Backend, _ to: Backend) async throws {
        let (original, taken) = (try Place(from), try Place(to))
        for place in [original, taken] { try await place.open().close() }
        let occupied = await #expect(throws: JournalError.self) { try await copy(original, taken) }
        #expect(occupied?.reason == .readOnly && occupied?.detail.contains("holds a journal already") == true)
        let watching = try await original.open()
        let used = await #expect(throws: JournalError.self) { try await copy(original, try Place(to)) }
        guard case .locked = used?.reason else { throw Failure(description: "\(String(describing: used))") }
        try await watching.close()
        let missing = await #expect(throws: JournalError.self) { try await copy(try Place(from), try Place(to)) }
        #expect(missing?.reason == .missing)
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    @Test("a copy is not begun twice at a time", arguments: [Backend.sqlite, .postgres])
    func twice(_ backend: Backend) async throws {
        let place = try Place(backend)
        let first = try await place.target()
        await #expect(throws: JournalError.self) { try await place.target() }
        await first.close()
        try await place.target().close()
    }

    @Test("a journal on PostgreSQL is backed up while its watcher commits: the copy is of one moment")
    func running() async throws {
        let server = try PostgresLab.shared.get().schema()
        let journal = try await PostgresJournal.open(server)
        _ = try await journal.commit(polls(1...5))
        let source = try await PostgresJournalAccess(server).snapshot(isExclusive: false)
        _ = try await journal.commit(polls(6...9))
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        let target = try SQLiteCopy.open(file: scratch.database)
        try await JournalCopy(from: source, to: target).run { _ in }
        await target.close()
        await source.close()
        #expect(try await scratch.reader().events(limit: 99).map(\.seq) == [1, 2, 3, 4, 5])
        #expect(throws: JournalError.self) { try SQLiteCopy.open(file: scratch.database) }
        try await journal.close()
    }

    @Test("a backup that does not end leaves no file")
    func unfinished() async throws {
        let scratch = Scratch()
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        try await SQLiteCopy.open(file: scratch.database).close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test("every column of a journal is copied, except those that repeat others")
    func columns() throws {
        let scratch = Scratch()
        let journal = try scratch.open()
        let columns = """
            select m.name, c.name from sqlite_schema m join pragma_table_info(m.name) c
            where m.type = 'table' and m.name not like 'sqlite%'
            """
        var found: [String: Set<String>] = [:]
        for row in try journal.store.database.read({ try Row.fetchAll($0, sql: columns) }) {
            found[row[0], default: []].insert(row[1])
        }
        found["queue_total"] = nil
        found["source"]?.subtract(["id", "due", "polled_at", "good_at", "count", "failing"])
        let copied = JournalTable.all.map { ($0.name, Set($0.columns.map(\.name))) }
        #expect(found == Dictionary(uniqueKeysWithValues: copied))
        try journal.close()
    }
}
