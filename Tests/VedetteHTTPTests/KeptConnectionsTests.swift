// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Connections that are kept")
struct KeptConnectionsTests {
    @Test("a server that is asked again within a minute keeps its connection, any other closes it")
    func pause() {
        var kept = KeptConnections<String>(places: 10)
        func poll(_ server: String, at now: Int64) -> Bool {
            defer { kept.ended(server, keepAlive: nil, now: now + 10) }
            return kept.began(server, now: now)
        }
        #expect(poll("often", at: 1000) && poll("seldom", at: 1000))
        #expect(poll("often", at: 61_009) && !poll("seldom", at: 61_010))
        // A source that is polled more often than before.
        #expect(poll("seldom", at: 70_000))
    }

    @Test("what a server says of its idle connections decides for it")
    func keepAlive() {
        var kept = KeptConnections<String>(places: 10)
        func poll(at now: Int64, _ keepAlive: Int64?) -> Bool {
            defer { kept.ended("a", keepAlive: keepAlive, now: now) }
            return kept.began("a", now: now)
        }
        #expect(poll(at: 1, 5000) && !poll(at: 6000, nil) && poll(at: 10_000, 3_600_000) && poll(at: 127_000, nil))
        // libcurl would not use it.
        #expect(!poll(at: 245_001, nil))
    }

    @Test("while a server answers, the connections of further requests to it are kept")
    func busy() {
        var kept = KeptConnections<String>(places: 10)
        func begin(at now: Int64) -> Bool { kept.began("a", now: now) }
        #expect(begin(at: 1))
        kept.ended("a", keepAlive: nil, now: 2)
        #expect(!begin(at: 100_000) && begin(at: 100_001))
        kept.ended("a", keepAlive: nil, now: 100_002)
        #expect(begin(at: 100_003))
    }

    @Test("of more servers than places the first keep theirs, until they are asked no more")
    func places() {
        var kept = KeptConnections<String>(places: 2)
        func poll(_ server: String, at now: Int64) -> Bool {
            defer { kept.ended(server, keepAlive: nil, now: now) }
            return kept.began(server, now: now)
        }
        for round in Int64(1)...3 {
            #expect(["a", "b", "c"].map { poll($0, at: round * 20_000) } == [true, true, false])
        }
        #expect(poll("b", at: 119_000) && !poll("c", at: 119_000))
        #expect(kept.sweep(now: 130_000).servers == ["a"] && kept.sweep(now: 139_999).servers == [])
        #expect(poll("c", at: 130_000) && !poll("a", at: 130_000))
    }

    @Test("a server takes a place for each connection that is under way at once")
    func parallel() {
        var kept = KeptConnections<String>(places: 3)
        let taken = ["a", "a", "b", "a", "b"].map { kept.began($0, now: 1) }
        #expect(taken == [true, true, true, false, false])
    }

    @Test("places that a server needed once are given back when it needs them no more")
    func shrinks() {
        var kept = KeptConnections<String>(places: 2)
        func poll(_ server: String, _ count: Int, at now: Int64) -> [Bool] {
            let isKept = (0..<count).map { _ in kept.began(server, now: now) }
            for _ in 0..<count { kept.ended(server, keepAlive: nil, now: now) }
            return isKept
        }
        #expect(poll("a", 2, at: 1) == [true, true] && poll("a", 1, at: 2) == [true] && poll("b", 1, at: 3) == [false])
        #expect(poll("a", 1, at: 4) == [true] && poll("b", 1, at: 5) == [true])
    }

    @Test("the servers that are remembered are bounded, and those that answer stay")
    func bound() {
        var kept = KeptConnections<String>(places: 3, maximumKnown: 100)
        func begin(_ server: String, at now: Int64) -> Bool { kept.began(server, now: now) }
        #expect(begin("busy", at: 1))
        for number in 0...200 {
            _ = begin("\(number)", at: 2)
            kept.ended("\(number)", keepAlive: nil, now: 2)
        }
        // The others have closed their connections by then.
        #expect(Set(kept.sweep(now: 100_000).servers) == ["0", "1"])
        #expect(begin("busy", at: 100_000) && begin("another", at: 100_000))
    }

    @Test("of many servers that are asked no more, few are closed at a time, and the rest at once after them")
    func sweep() {
        var kept = KeptConnections<Int>(places: 1000)
        for server in 0..<200 {
            _ = kept.began(server, now: 1)
            kept.ended(server, keepAlive: nil, now: 1)
        }
        var sweeps: [Int] = []
        var (servers, hasMore) = kept.sweep(now: 70_000)
        while hasMore {
            sweeps.append(servers.count)
            (servers, hasMore) = kept.sweep(now: 70_000)
        }
        #expect(sweeps == [64, 64, 64] && servers.count == 8 && kept.sweep(now: 79_999).servers == [])
    }

    @Test("a server that closes one of its connections has a place for the other")
    func closesOne() {
        var kept = KeptConnections<String>(places: 2)
        #expect(kept.began("a", now: 1) && kept.began("a", now: 1))
        kept.ended("a", keepAlive: nil, closes: false, now: 2)
        kept.ended("a", keepAlive: nil, closes: true, now: 2)
        #expect(kept.sweep(now: 70_000).servers == ["a"])
    }

    @Test("a server that closes its connection has no place between two requests")
    func closes() {
        var kept = KeptConnections<String>(places: 1)
        func poll(_ server: String, closes: Bool, at now: Int64) -> Bool {
            defer { kept.ended(server, keepAlive: nil, closes: closes, now: now) }
            return kept.began(server, now: now)
        }
        #expect(poll("a", closes: true, at: 1) && poll("b", closes: true, at: 2))
        // Some close every thousandth connection.
        #expect(poll("a", closes: false, at: 3) && !poll("b", closes: false, at: 4) && poll("a", closes: false, at: 5))
    }
}

@Suite("Connections that are kept, on the wire")
struct KeptConnectionsWireTests {
    @Test("a connection that its server would have closed by the next request is closed")
    func short() async throws {
        let server = try WireServer { _ in .ok("ok", "Keep-Alive: max=9, timeout=0") }
        defer { server.close() }
        try await withClient { client async throws in
            for _ in 0..<4 { #expect(try await client.bodyText(.get(server.url())) == "ok") }
        }
        #expect(server.requests.map(\.connection) == [1, 1, 2, 3])
    }

    @Test("requests that need connections of their own take no place from those that are kept")
    func own() async throws {
        let (inspected, polled) = (try WireServer(.ok()), try WireServer(.ok()))
        defer { WireServer.close(inspected, polled) }
        try await using(try HTTPClient(connections: 1)) { client async throws in
            for _ in 0..<2 {
                _ = try await client.fetch(.get(inspected.url()) { $0.inspectsConnection = true })
                _ = try await client.fetch(.get(polled.url()))
            }
        }
        #expect(inspected.requests.map(\.connection) == [1, 2] && polled.requests.map(\.connection) == [1, 1])
    }

    @Test("connections under way to other servers close none that is kept")
    func underWay() async throws {
        let servers = try (0..<9).map { _ in try WireServer { $0.target == "/hang" ? .silence : .ok() } }
        defer { for server in servers { server.close() } }
        try await using(try HTTPClient(connections: 8)) { client async throws in
            for server in servers.prefix(8) { _ = try await client.fetch(.get(server.url())) }
            let last = servers[8]
            let hanging = Task { try await client.fetch(.get(last.url("/hang"))) }
            _ = await last.received(1)
            for _ in 0..<2 {
                for server in servers.prefix(8) { _ = try await client.fetch(.get(server.url())) }
            }
            hanging.cancel()
            _ = await hanging.result
        }
        for server in servers.prefix(8) { #expect(server.requests.map(\.connection) == [1, 1, 1]) }
    }
}
