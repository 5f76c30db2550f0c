// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("A Connections window read by increments")
struct ConnectionsIncrementTests {
    private static let start: Int64 = 1_795_000_000_123
    private static let minute: Int64 = 60_000

    @Test("an entry that becomes visible later than its time is found within the margin, and not requested beyond it")
    func late() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls()
        server.add(5)
        _ = try polls.poll(&server)
        server.now += 120 * Self.minute
        server.add(1)
        #expect(try polls.poll(&server).count == 1)
        let newest = server.now
        // A quiet poll sees nothing but that entry; then one comes that is five minutes older.
        #expect(try polls.poll(&server).isEmpty)
        server.addLate(updated: newest - 5 * Self.minute)
        #expect(try polls.poll(&server).map(\.kind) == [.appeared])
        server.addLate(updated: newest - 30 * Self.minute)
        #expect(try polls.poll(&server).isEmpty)
    }

    @Test("entries outside an increment are kept; entries deleted within it are not")
    func shown() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls()
        server.add(90)
        _ = try polls.poll(&server)
        server.now += 120 * Self.minute
        server.add(3)
        _ = try polls.poll(&server)
        #expect(polls.shown.count == 93 && polls.count == 93)
        server.delete(at: 1)
        #expect(try polls.poll(&server).isEmpty)
        #expect(polls.shown.count == 92 && polls.count == 92)
        for _ in 0..<5 {
            server.now += 120 * Self.minute
            server.add(60)
            #expect(try polls.poll(&server).count == 60)
        }
        #expect(polls.shown.count == 200 && polls.count == 200)
        #expect(polls.shown.isSuperset(of: server.stories.prefix(200).map(\.key)))
    }

    @Test("a reading that stops at known pages claims nothing about later pages")
    func busy() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls(["page_size": .integer(10)])
        server.add(50)
        _ = try polls.poll(&server)
        #expect(try polls.poll(&server).isEmpty)
        // What slides into the first page was there all the time.
        for _ in 0..<5 { server.delete(at: 0) }
        #expect(try polls.poll(&server).isEmpty)
    }
}
