// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteSources

@Suite("A burst on a Connections server")
struct ConnectionsBurstTests {
    private static let start: Int64 = 1_795_000_000_123

    private func originLimits(_ dice: inout SplitMix64) -> ConnectionsServer.OriginLimits {
        ConnectionsServer.OriginLimits(
            hasLinks: .random(using: &dice), linksDropSize: .random(using: &dice),
            linksNameOtherHost: .random(using: &dice), heedsBefore: true,
            sinceIsInclusive: .random(using: &dice), shortPages: .random(using: &dice), showsWholeSeconds: false)
    }

    /// New stories, deletions and edits anywhere, as they may come between two requests.
    private func drift(_ server: inout ConnectionsServer, _ dice: inout SplitMix64, deletes: Bool) {
        for _ in 0..<Int.random(in: 0...4, using: &dice) {
            let at = Int.random(in: 0..<max(1, server.stories.count), using: &dice)
            switch Int.random(in: 0...2, using: &dice) {
            case 0 where deletes && !server.stories.isEmpty: server.delete(at: at)
            case 1 where !server.stories.isEmpty: server.edit(at: at)
            default: server.add(Int.random(in: 1...7, using: &dice))
            }
            server.now += Int64.random(in: 0...2500, using: &dice)
        }
    }

    @Test("250 new entries between two polls are 250 events, in order, none twice")
    func burst() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls()
        server.add(30)
        #expect(try polls.poll(&server).isEmpty)
        server.now += 60_000
        server.add(250)
        let events = try polls.poll(&server)
        let expected = (30..<280).map { "urn:lsid:ibm.com:news:story-\($0)" }
        #expect(events.map { $0.item?.key } == expected)
        #expect(events.allSatisfy { $0.kind == .appeared })
        #expect(try polls.poll(&server).isEmpty && polls.gaps.isEmpty)
    }

    @Test("while stories come, go and change between the pages: each once, in order, none lost", arguments: 0..<40)
    func drifting(seed: Int) throws {
        var dice = SplitMix64(UInt64(seed))
        var server = ConnectionsServer(now: Self.start)
        server.manners = originLimits(&dice)
        var polls = try ConnectionsPolls()
        let before = Int.random(in: 0...60, using: &dice)
        server.add(before)
        _ = try polls.poll(&server)
        var appeared: [String] = []
        for round in 0..<4 {
            server.now += Int64.random(in: 1...3_000_000, using: &dice)
            if round == 1 { server.add(250) }
            // The last poll is quiet: what moved during the one before is found then.
            let events = try polls.poll(&server) { if round < 3 { drift(&$0, &dice, deletes: true) } }
            let times = events.compactMap { $0.item?.time }
            #expect(times == times.sorted())
            appeared += events.filter { $0.kind == .appeared }.compactMap { $0.item?.key }
        }
        #expect(Set(appeared).count == appeared.count, "an entry came twice")
        #expect(polls.gaps.isEmpty)
        let left = Set(server.stories.filter { $0.number >= before }.map(\.key))
        #expect(left.subtracting(appeared).isEmpty, "lost")
        #expect(!appeared.contains { key in (0..<before).contains { key == "urn:lsid:ibm.com:news:story-\($0)" } })
    }

    @Test("a server that ignores the upper bound is read by page numbers", arguments: 0..<12)
    func withoutBefore(seed: Int) throws {
        var dice = SplitMix64(UInt64(seed))
        var server = ConnectionsServer(now: Self.start)
        server.manners = originLimits(&dice)
        server.manners.heedsBefore = false
        var polls = try ConnectionsPolls()
        server.add(20)
        _ = try polls.poll(&server)
        server.add(250)
        var appeared: [String] = []
        for round in 0..<3 {
            let events = try polls.poll(&server) { if round < 2 { drift(&$0, &dice, deletes: false) } }
            appeared += events.filter { $0.kind == .appeared }.compactMap { $0.item?.key }
        }
        #expect(appeared.count == server.made - 20 && Set(appeared).count == appeared.count && polls.gaps.isEmpty)
    }

    @Test("a page full of entries of one instant is followed by page numbers")
    func oneInstant() throws {
        var server = ConnectionsServer(now: Self.start)
        server.manners.showsWholeSeconds = true
        var polls = try ConnectionsPolls(["page_size": .integer(40)])
        server.add(10)
        _ = try polls.poll(&server)
        server.now += 5000
        server.add(250)
        #expect(try polls.poll(&server).count == 250 && polls.gaps.isEmpty)
    }

    @Test("an entry edited in place is changed, wherever it stood, and new ones around it appear")
    func edited() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls()
        server.add(40)
        _ = try polls.poll(&server)
        server.now += 3_600_000
        server.add(1)
        server.edit(at: 35)
        server.add(1)
        let events = try polls.poll(&server)
        #expect(events.map(\.kind) == [.appeared, .changed, .appeared])
        #expect(events[1].changes == [FieldChange(field: "content", from: "edit 0", to: "edit 1")])
    }

    @Test("nothing new costs one small request to an address that stays the same")
    func quiet() throws {
        var server = ConnectionsServer(now: Self.start)
        var polls = try ConnectionsPolls()
        server.add(90)
        _ = try polls.poll(&server)
        for _ in 0..<3 {
            server.now += 60_000
            #expect(try polls.poll(&server).isEmpty)
        }
        #expect(server.addresses.count == 4)
        #expect(Set(server.addresses.dropFirst()).count == 1)
        #expect(server.addresses[1].contains("since="))
    }
}
