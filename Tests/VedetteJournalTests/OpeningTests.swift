// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Testing
import VedetteCore

@testable import VedetteJournal

@Suite("Opening a journal")
struct OpeningTests {
    let scratch = Scratch()

    private func reason(_ body: () throws -> Void) -> JournalError.Reason? {
        do { try body() } catch { return (error as? JournalError)?.reason }
        return nil
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("the directory is 0700, the files are 0600")
    func modes() throws {
        let journal = try scratch.open()
        #expect(try mode(scratch.path) == 0o700)
        for name in ["/journal.db", "/journal.db-wal", "/journal.db-shm", "/vedette.lock"] {
            #expect(try mode(scratch.path + name) == 0o600, "\(name)")
        }
        try journal.close()
    }

    @Test("it is a WAL with synchronous=FULL whose files outlive close, written back")
    func settings() throws {
        let journal = try scratch.open()
        let (mode, level) = try journal.store.database.writeWithoutTransaction {
            (try String.fetchOne($0, sql: "pragma journal_mode"), try Int.fetchOne($0, sql: "pragma synchronous"))
        }
        #expect(mode == "wal")
        #expect(level == 2)
        try journal.close()
        let log = try FileManager.default.attributesOfItem(atPath: scratch.database + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    @Test("a second writer gets the pid of the lock's holder; after close it gets the lock")
    func locked() throws {
        let journal = try scratch.open()
        #expect(reason { _ = try scratch.open() } == .locked(pid: getpid()))
        try journal.close()
        try scratch.open().close()
    }

    @Test("a reader of what does not exist yet says so, also of an empty file")
    func missing() throws {
        #expect(reason { _ = try scratch.reader() } == .missing)
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        #expect(reason { _ = try scratch.reader() } == .missing)
        #expect(FileManager.default.createFile(atPath: scratch.database, contents: nil))
        #expect(reason { _ = try scratch.reader() } == .missing)
    }

    @Test("a path on which no directory can be is one where the journal cannot be written")
    func impossible() {
        for path in ["/dev/null", "/dev/null/x", scratch.path + "/" + String(repeating: "x", count: 300)] {
            #expect(reason { _ = try SQLiteJournal.open(directory: path) } == .readOnly, "\(path)")
        }
    }

    @Test("a newer schema is refused by writer and reader, and left as it is")
    func newer() throws {
        let journal = try scratch.open()
        try journal.tamper("pragma user_version = 99")
        try journal.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.database))
        for open in [{ _ = try scratch.open() }, { _ = try scratch.reader() }] as [() throws -> Void] {
            let error = #expect(throws: JournalError.self) { try open() }
            #expect(error?.reason == .newer)
            #expect(
                error?.detail
                    == "the journal \(scratch.database) was written by a later Vedette (schema 99, known: \(Migrations.steps.count)): "
                    + "use that version, or another --state")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.database)) == before)
    }

    @Test(
        "tables of an earlier build are refused by writer, reader and repair, in one sentence that says what to do",
        arguments: [1, 2])
    func unreleased(version: Int) throws {
        let journal = try scratch.open()
        try journal.tamper(
            "drop index delivery_subject; drop index if exists delivery_told; alter table delivery drop column subject; pragma user_version = \(version)"
        )
        try journal.close()
        for open in [{ _ = try scratch.open() }, { _ = try scratch.reader() }] as [() throws -> Void] {
            let error = #expect(throws: JournalError.self) { try open() }
            #expect(error?.reason == .corrupt)
            #expect(error?.detail.contains("it lacks delivery.subject): move the file away") == true)
        }
    }

    @Test("what is no database, or another program's, is refused and left as it is")
    func stranger() throws {
        try FileManager.default.createDirectory(atPath: scratch.path, withIntermediateDirectories: true)
        let garbage = Data(repeating: 0x41, count: 8192)
        try garbage.write(to: URL(fileURLWithPath: scratch.database))
        #expect(reason { _ = try scratch.open() } == .corrupt)
        #expect(reason { _ = try scratch.reader() } == .corrupt)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.database)) == garbage)

        try FileManager.default.removeItem(atPath: scratch.database)
        let other = try DatabaseQueue(path: scratch.database)
        try other.writeWithoutTransaction { try $0.execute(sql: "create table notes (text)") }
        try other.close()
        #expect(reason { _ = try scratch.open() } == .corrupt)
    }

    @Test("a damaged page is found at start, and the error says what to do")
    func damaged() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...200))
        try journal.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.database))
        try file.seek(toOffset: 8 * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        let error = #expect(throws: JournalError.self) { _ = try scratch.open() }
        #expect(error?.reason == .corrupt)
        #expect(error?.detail.contains(scratch.database) == true)
        #expect(error?.detail.contains("vedette journal repair") == true)
    }

    @Test("a journal that is too large to be checked at start is checked beside the watch, and damage is found then")
    func background() async throws {
        let journal = try scratch.open()
        _ = try await journal.commit(polls(1...200))
        try await journal.checkInBackground()
        try journal.close()
        let sound = try SQLiteJournal.open(directory: scratch.path, checkingUpTo: 0)
        try await sound.checkInBackground()
        let page = try #require(try sound.number("select rootpage from sqlite_schema where name = 'event_time'"))
        try sound.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.database))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        let torn = try SQLiteJournal.open(directory: scratch.path, checkingUpTo: 0)
        let error = await #expect(throws: JournalError.self) { try await torn.checkInBackground() }
        #expect(error?.reason == .corrupt)
        try torn.close()
    }

    @Test("steps are done in order, once, and an older file is brought up from where it stands")
    func migrations() throws {
        let queue = try DatabaseQueue()
        let steps = ["create table a (x)", "alter table a add column y", "insert into a values (1, 2)"]
        try queue.writeWithoutTransaction { db in
            try Migrations.migrate(db, steps: Array(steps[..<1]))
            #expect(try Migrations.version(db) == 1)
            try Migrations.migrate(db, steps: steps)
            try Migrations.migrate(db, steps: steps)
            #expect(try Migrations.version(db) == 3)
            #expect(try Int.fetchOne(db, sql: "select count(*) from a") == 1)
        }
    }

    @Test("a failed migration leaves the file as it was: a reader never finds a part of a journal")
    func failedMigration() throws {
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db in
            #expect(throws: DatabaseError.self) {
                try Migrations.migrate(db, steps: ["create table a (x)", "create table b (x); create table a (x)"])
            }
            #expect(try Migrations.version(db) == 0)
            for table in ["a", "b"] {
                let exists = try db.tableExists(table)
                #expect(!exists)
            }
        }
    }
}
