// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Stored cookies")
struct CookieStoreTests {
    private func journal(_ url: String, _ session: String = "s") -> Request {
        .get(url) { ($0.session, $0.cookies) = (session, .journal) }
    }

    private func server() throws -> WireServer {
        try WireServer { $0.target == "/login" ? .ok("", "Set-Cookie: id=\($0.number); Path=/") : .ok() }
    }

    @Test("cookies that one run received are sent by the next, per session, also those without an expiry")
    func restart() async throws {
        let (server, shelf) = (try server(), Shelf())
        defer { server.close() }
        try await using(try HTTPClient(cookies: shelf)) { client in
            _ = try await client.fetch(journal(server.url("/login")))
            _ = try await client.fetch(journal(server.url("/a")))
        }
        try await using(try HTTPClient(cookies: shelf)) { client in
            for session in ["s", "other"] { _ = try await client.fetch(journal(server.url("/b"), session)) }
        }
        #expect(server.requests.map { $0.header("Cookie") } == [[], ["id=0"], ["id=0"], []])
    }

    @Test("a jar is read once, at the first request of its session, and written only when a cookie has changed")
    func sparing() async throws {
        let shelf = Shelf()
        let server = try WireServer(.ok("", "Set-Cookie: id=same"))
        defer { server.close() }
        try await using(try HTTPClient(cookies: shelf)) { client in
            #expect(shelf.reads == 0)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try await client.fetch(journal(server.url())) } }
                try await group.waitForAll()
            }
            for _ in 0..<5 { _ = try await client.fetch(journal(server.url())) }
        }
        #expect(shelf.reads == 1 && shelf.writes == 1)
    }

    @Test("cookies are stored only with the policy journal, and kept at all only without the policy none")
    func policies() async throws {
        let (server, shelf) = (try server(), Shelf())
        defer { server.close() }
        try await using(try HTTPClient(cookies: shelf)) { client in
            for policy in [CookiePolicy.none, .memory] {
                for path in ["/login", "/x"] {
                    _ = try await client.fetch(
                        .get(server.url(path)) { ($0.session, $0.cookies) = (policy.rawValue, policy) })
                }
            }
        }
        #expect(server.requests.map { $0.header("Cookie") } == [[], [], [], ["id=2"]])
        #expect(shelf.reads == 0 && shelf.writes == 0)
    }

    @Test("a damaged jar is an empty jar")
    func damaged() async throws {
        let (server, shelf) = (try server(), Shelf(["s": Array("{".utf8)]))
        defer { server.close() }
        try await using(try HTTPClient(cookies: shelf)) { client in
            for path in ["/a", "/login", "/b"] { _ = try await client.fetch(journal(server.url(path))) }
        }
        #expect(server.requests.map { $0.header("Cookie") } == [[], [], ["id=1"]])
    }

    @Test("shutdown waits for jars that are being written, and the last jar is stored")
    func last() async throws {
        let (server, shelf) = (try server(), Shelf(isSlow: true))
        defer { server.close() }
        try await using(try HTTPClient(cookies: shelf)) { client in
            for _ in 0..<20 { _ = try await client.fetch(journal(server.url("/login"))) }
        }
        #expect(shelf.text("s").contains(#""value":"19""#))
    }
}

private final class Shelf: CookieStore {
    private struct State {
        var jars: [String: [UInt8]]
        var reads = 0
        var writes = 0
        var begun = 0
    }

    private let state: Mutex<State>
    private let isSlow: Bool

    init(_ jars: [String: [UInt8]] = [:], isSlow: Bool = false) {
        state = Mutex(State(jars: jars))
        self.isSlow = isSlow
    }

    var reads: Int { state.withLock { $0.reads } }
    var writes: Int { state.withLock { $0.writes } }
    func text(_ session: String) -> String {
        String(decoding: state.withLock { $0.jars[session] ?? [] }, as: UTF8.self)
    }

    func cookies(of session: String) async -> [UInt8]? {
        state.withLock {
            $0.reads += 1
            return $0.jars[session]
        }
    }

    func keep(_ jar: [UInt8], of session: String) async {
        // The first write takes longest: without waiting, it would end last.
        let begun = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        if isSlow { for _ in 0..<max(0, 5000 - 250 * begun) { await Task.yield() } }
        state.withLock {
            $0.writes += 1
            $0.jars[session] = jar
        }
    }
}
