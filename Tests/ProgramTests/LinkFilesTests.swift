// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore
import VedetteSystem
import VedetteTestSupport

@testable import vedette

@Suite("Keys of links")
struct LinkFilesTests {
    private struct DayClock: VedetteCore.Clock {
        let day: Int64

        func now() -> Moment {
            Moment(wall: Timestamp(milliseconds: day * 86_400_000), boot: BootTime(milliseconds: 1000))
        }

        func sleep(until deadline: BootTime) async throws(CancellationError) {}
    }

    private let log = LogLines()

    private func store(in directory: String, on day: Int64 = 100) -> LinkFiles {
        LinkFiles(directory: directory, clock: DayClock(day: day), log: log)
    }

    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "links-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    private func token(_ files: LinkFiles, on day: Int64) async throws -> ActionLink.Token {
        let link = ActionLink(
            .snooze, rule: "r", Subject(source: "s", key: "k"), match: "m",
            from: Timestamp(milliseconds: day * 86_400_000))
        return try #require(await ActionLink.Token(link) { await files.sign($0, day: link.day, makesKey: true) })
    }

    @Test("a key and a used link are there after a restart, for their owner alone, until the day after the next begins")
    func kept() async throws {
        try await withDirectory { directory in
            let files = store(in: directory)
            #expect(await files.sign("x", day: 100, makesKey: false) == nil)
            let token = try await token(files, on: 100)
            #expect(await files.use(token) == .first)
            let mode = try FileManager.default.attributesOfItem(atPath: directory + "/key-100")[.posixPermissions]
            #expect(mode as? Int == 0o600)

            let next = store(in: directory, on: 101)
            #expect(await next.sign("x", day: 100, makesKey: false) == files.sign("x", day: 100, makesKey: false))
            #expect(await next.sign("x", day: 101, makesKey: true) != files.sign("x", day: 100, makesKey: false))
            #expect(await next.use(token) == .again)

            let later = store(in: directory, on: 102)
            #expect(await later.sign("x", day: 100, makesKey: true) == nil)
            #expect(await later.sign("x", day: 102, makesKey: true) != nil)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            #expect(left == ["key-101", "key-102"])
        }
    }

    @Test("a link whose action was not stored can be used again")
    func released() async throws {
        try await withDirectory { directory in
            let files = store(in: directory)
            let token = try await token(files, on: 100)
            #expect(await files.use(token) == .first)
            await files.release(token)
            #expect(await files.use(token) == .first)
        }
    }

    @Test("of many requests at once with one link, to two processes, one is the first")
    func concurrent() async throws {
        try await withDirectory { directory in
            let processes = [store(in: directory), store(in: directory)]
            let token = try await token(processes[0], on: 100)
            let uses = await withTaskGroup(of: ActionLink.Use.self) { group in
                for number in 0..<40 { group.addTask { await processes[number % 2].use(token) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(uses.count { $0 == .first } == 1 && uses.count { $0 == .again } == 39)
        }
    }

    @Test("a used link is not valid again when the clock is set forward and back: its note is there as long as its key")
    func clockSetBack() async throws {
        try await withDirectory { directory in
            let token = try await token(store(in: directory), on: 100)
            #expect(await store(in: directory).use(token) == .first)
            let key = directory + "/key-100"
            try FileManager.default.removeItem(atPath: key)
            // It cannot be deleted as a file can.
            try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false)
            #expect(await store(in: directory, on: 102).sign("x", day: 102, makesKey: true) != nil)
            #expect(await store(in: directory).use(token) == .again)

            try FileManager.default.removeItem(atPath: key)
            #expect(await store(in: directory, on: 103).sign("x", day: 103, makesKey: true) != nil)
            #expect(await store(in: directory).sign(token.signed, day: 100, makesKey: false) == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["key-102", "key-103"])
        }
    }

    @Test("a key that others can read, or that was cut, signs nothing and is replaced", arguments: [true, false])
    func unfit(isCut: Bool) async throws {
        try await withDirectory { directory in
            let files = store(in: directory)
            let code = await files.sign("x", day: 100, makesKey: true)
            let path = directory + "/key-100"
            if isCut {
                #expect(truncate(path, 31) == 0)
            } else {
                #expect(chmod(path, 0o640) == 0)
            }
            #expect(await files.sign("x", day: 100, makesKey: false) == nil)
            #expect(log.all.isEmpty)
            let fresh = await files.sign("x", day: 100, makesKey: true)
            #expect(fresh != nil && fresh != code)
            #expect(await files.sign("x", day: 100, makesKey: false) == fresh)
            let reason = isCut ? "\(path) has not 32 bytes" : "others can read \(path) (mode 640)"
            #expect(log.all == ["replaced a key of links, which makes earlier links invalid: \(reason)"])
        }
    }

    @Test("where nothing can be written, messages have no links and no link acts, and the log says why")
    func unwritable() async throws {
        try await withDirectory { directory in
            let token = try await token(store(in: directory), on: 100)
            try FileManager.default.removeItem(atPath: directory)
            #expect(FileManager.default.createFile(atPath: directory, contents: nil))
            let files = store(in: directory)
            #expect(await files.sign("x", day: 100, makesKey: true) == nil)
            #expect(await files.use(token) == .failed)
            #expect(
                log.all == [
                    "failed to sign links, so a message has none: \(directory)/key-100: Not a directory",
                    "failed to note that a link is used, so it did nothing: "
                        + "\(directory)/used-100-\(token.signature): Not a directory",
                ])
        }
    }

    @Test("a note that is made after its time limit is taken back: the person was told that nothing was done")
    func late() async throws {
        try await withDirectory { directory in
            let token = try await token(store(in: directory), on: 100)
            let (queue, gate) = (BlockingQueue(), DispatchSemaphore(value: 0))
            let (begun, continuation) = AsyncStream<Void>.makeStream()
            let blocked = Task {
                try await queue.run {
                    continuation.finish()
                    gate.wait()
                }
            }
            for await _ in begun {}
            let slow = LinkFiles(
                directory: directory, clock: DayClock(day: 100), log: log, queue: queue, limit: .milliseconds(1))
            #expect(await slow.use(token) == .failed)
            gate.signal()
            try await blocked.value
            try await queue.run {}
            #expect(await store(in: directory).use(token) == .first)
        }
    }

    @Test("the state directory is created where a database has the journal")
    func created() async throws {
        try await withDirectory { directory in
            #expect(await store(in: directory + "/vedette/links").sign("x", day: 100, makesKey: true) != nil)
            let mode = try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions]
            #expect(mode as? Int == 0o700)
        }
    }
}
