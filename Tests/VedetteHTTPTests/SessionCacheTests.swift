// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Sessions that nobody uses any more")
struct SessionLedgerTests {
    private static let day: Int64 = 86_400_000

    @Test("one that was not used for a day is forgotten, once, and one that was is not")
    func old() {
        var ledger = SessionCache()
        #expect(ledger.used("a", now: 0).isEmpty && ledger.used("b", now: 0).isEmpty)
        #expect(ledger.used("b", now: Self.day / 2).isEmpty)
        #expect(ledger.used("b", now: Self.day - 1).isEmpty)
        #expect(ledger.used("b", now: Self.day * 2 - 2) == ["a"])
        #expect(ledger.used("b", now: Self.day * 3).isEmpty)
        #expect(ledger.used("c", now: Self.day * 4 + 1) == ["b"])
    }

    @Test("beyond ten thousand the longest unused go, never the one that is used now")
    func many() {
        var ledger = SessionCache()
        var forgotten: Set<String> = []
        for number in 0..<30_000 {
            let gone = ledger.used("s\(number)", now: Int64(number))
            #expect(!gone.contains("s\(number)") && gone.allSatisfy { forgotten.insert($0).inserted })
            #expect(number + 1 - forgotten.count <= 10_000)
        }
        #expect(forgotten.contains("s0") && !forgotten.contains("s25000"))
    }

    @Test("the client lets go of the cookies with the session")
    func client() async throws {
        let server = try WireServer(.ok("", "Set-Cookie: id=1; Path=/"))
        defer { server.close() }
        try await withClient { client in
            for session in ["old", "new"] { _ = try await client.fetch(.get(server.url()) { $0.session = session }) }
            await client.use("new", now: SystemTime.monotonic() + Self.day + 1)
            for session in ["old", "new"] { _ = try await client.fetch(.get(server.url()) { $0.session = session }) }
        }
        #expect(server.requests.map { $0.header("Cookie") } == [[], [], [], ["id=1"]])
    }
}
