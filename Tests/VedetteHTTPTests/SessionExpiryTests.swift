// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
import VedetteSystem

@testable import VedetteHTTP

@Suite("Unused sessions")
struct SessionExpiryTests {
    private static let day: Int64 = 86_400_000

    @Test("a session that was not used for a day is removed once")
    func old() {
        var expiry = SessionExpiry()
        #expect(expiry.markUsed("a", now: 0).isEmpty && expiry.markUsed("b", now: 0).isEmpty)
        #expect(expiry.markUsed("b", now: Self.day / 2).isEmpty)
        #expect(expiry.markUsed("b", now: Self.day - 1).isEmpty)
        #expect(expiry.markUsed("b", now: Self.day * 2 - 2) == ["a"])
        #expect(expiry.markUsed("b", now: Self.day * 3).isEmpty)
        #expect(expiry.markUsed("c", now: Self.day * 4 + 1) == ["b"])
    }

    @Test("beyond ten thousand the least recently used sessions are removed")
    func many() {
        var expiry = SessionExpiry()
        var forgotten: Set<String> = []
        for number in 0..<30_000 {
            let gone = expiry.markUsed("s\(number)", now: Int64(number))
            #expect(!gone.contains("s\(number)") && gone.allSatisfy { forgotten.insert($0).inserted })
            #expect(number + 1 - forgotten.count <= 10_000)
        }
        #expect(forgotten.contains("s0") && !forgotten.contains("s25000"))
    }

    @Test("the client removes the cookies of a removed session")
    func client() async throws {
        let server = try WireServer(.ok("", "Set-Cookie: id=1; Path=/"))
        defer { server.close() }
        try await withClient { client in
            for session in ["old", "new"] { _ = try await client.fetch(.get(server.url()) { $0.session = session }) }
            await client.use("new", at: KernelClock.monotonic.milliseconds + Self.day + 1)
            for session in ["old", "new"] { _ = try await client.fetch(.get(server.url()) { $0.session = session }) }
        }
        #expect(server.requests.map { $0.header("Cookie") } == [[], [], [], ["id=1"]])
    }
}

extension HTTPClient {
    fileprivate func use(_ session: String, at now: Int64) { cookies.markUsed(session, now: now) }
}
