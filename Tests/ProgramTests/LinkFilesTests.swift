// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import VedetteCore
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
            let files = LinkFiles(directory: directory, clock: DayClock(day: 100))
            #expect(await files.sign("x", day: 100, makesKey: false) == nil)
            let token = try await token(files, on: 100)
            #expect(await files.use(token) == .first)
            let mode = try FileManager.default.attributesOfItem(atPath: directory + "/key-100")[.posixPermissions]
            #expect(mode as? Int == 0o600)

            let next = LinkFiles(directory: directory, clock: DayClock(day: 101))
            #expect(await next.sign("x", day: 100, makesKey: false) == files.sign("x", day: 100, makesKey: false))
            #expect(await next.sign("x", day: 101, makesKey: true) != files.sign("x", day: 100, makesKey: false))
            #expect(await next.use(token) == .again)

            let later = LinkFiles(directory: directory, clock: DayClock(day: 102))
            #expect(await later.sign("x", day: 100, makesKey: true) == nil)
            #expect(await later.sign("x", day: 102, makesKey: true) != nil)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            #expect(left == ["key-101", "key-102"])
        }
    }

    @Test("a link whose action was not stored can be used again")
    func released() async throws {
        try await withDirectory { directory in
            let files = LinkFiles(directory: directory, clock: DayClock(day: 100))
            let token = try await token(files, on: 100)
            #expect(await files.use(token) == .first)
            await files.release(token)
            #expect(await files.use(token) == .first)
        }
    }
}
