// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Sessions that begin with a refusal", .timeLimit(.minutes(10)))
struct HandshakeTests {
    /// Accepts the session that it gave last; each session is good for two requests.
    private static func answer(_ request: WireServer.Request) -> WireServer.Answer {
        let session = "s\(request.number / 3)"
        guard request.header("X-Session") == [session] else {
            return .reply("409 Conflict", "no session", ["X-Session: \(session)"])
        }
        return .ok("good")
    }

    private static func request(_ url: String) -> Request {
        .get(url) { $0.handshake = SessionHandshake(header: "X-Session", status: 409) }
    }

    @Test("the header of the refusal is repeated by every further request, until the server gives another")
    func session() async throws {
        let server = try WireServer { Self.answer($0) }
        defer { WireServer.close(server) }
        try await withClient { client async throws in
            for _ in 0..<4 { #expect(try await client.bodyText(Self.request(server.url())) == "good") }
        }
        #expect(
            server.requests.map { $0.header("X-Session").first } == [nil, "s0", "s0", "s0", "s1", "s1"])
    }

    @Test(
        "a refusal without the header, or with the one that was sent, is the response; another origin gets no session")
    func refused() async throws {
        let server = try WireServer(.reply("409 Conflict", "no", ["X-Session: same"]))
        let bare = try WireServer(.reply("409 Conflict", "no"))
        let mover = try WireServer(.redirect(302, to: server.url("/other")))
        defer { WireServer.close(server, bare, mover) }
        try await withClient { client async throws in
            #expect(try await client.status(Self.request(server.url())) == 409)
            #expect(server.requests.count == 2)
            #expect(try await client.status(Self.request(bare.url())) == 409)
            #expect(bare.requests.count == 1)
            #expect(try await client.status(Self.request(mover.url())) == 409)
            #expect(server.requests.last?.header("X-Session") == [] && mover.requests.count == 1)
        }
    }
}
