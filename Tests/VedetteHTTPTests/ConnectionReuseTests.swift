// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteHTTP

@Suite("Connections that are not reused", .timeLimit(.minutes(10)))
struct ConnectionReuseTests {
    @Test("a server whose connections are unclean is remembered for an hour, and of many the last thousand")
    func unclean() {
        var reuse = ConnectionReuse()
        func needsOwn(_ server: String, now: Int64) -> Bool {
            reuse.needsOwnConnection(to: server, now: now)
        }
        reuse.foundUnclean("http://a", now: 1000)
        #expect(needsOwn("http://a", now: 3_600_999) && !needsOwn("http://b", now: 1000))
        #expect(!needsOwn("http://a", now: 3_601_000) && !needsOwn("http://a", now: 1000))
        for number in 0...2000 { reuse.foundUnclean("\(number)", now: Int64(number)) }
        #expect((0...2000).filter { needsOwn("\($0)", now: 2000) } == Array(977...2000))
    }

    private static let head = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\n"
    private static let late = "late body"

    /// A server that sends the head of a 304, and its body before the next response of the connection.
    private static func late304() throws -> WireServer {
        try WireServer { request in
            guard request.number > 0 else { return .text(head) }
            return .text((request.connection == 1 ? late : "") + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright")
        }
    }

    private static func conditional(_ server: WireServer) -> Request {
        .get(server.url("/news")) { $0.validators = Validators(etag: "\"1\"") }
    }

    @Test("a body that comes after its 304 fails no other request: that is sent again, on a connection of its own")
    func lateBody() async throws {
        let server = try Self.late304()
        defer { server.close() }
        try await withClient { client async throws in
            #expect(try await client.fetch(Self.conditional(server)).isUnchanged)
            for path in ["/a", "/b", "/c"] {
                #expect(try await client.bodyText(.get(server.url(path))) == "right", "\(path)")
            }
        }
        #expect(server.requests.map(\.target) == ["/news", "/a", "/a", "/b", "/c"])
        #expect(server.requests.map(\.connection) == [1, 1, 2, 3, 4])
    }

    @Test(
        "a delivery is not sent again by itself then, since its receiver may have read it; the next one has a new connection"
    )
    func lateBodyBeforeDelivery() async throws {
        let server = try Self.late304()
        defer { server.close() }
        try await withClient { client async throws in
            #expect(try await client.fetch(Self.conditional(server)).isUnchanged)
            let error = await client.failed(.delivery(server.url("/hook")))
            #expect(error?.failure == .protocol && error?.detail.contains("sent more than its last answer has") == true)
            #expect(server.requests.count { $0.method == "POST" } == 1)
            #expect(try await client.status(.delivery(server.url("/hook"))) == 200)
        }
        #expect(server.requests.map(\.connection) == [1, 1, 2])
    }

    @Test("a request whose first answer on a new connection is no HTTP is sent once")
    func garbage() async throws {
        let server = try WireServer(.lastText("nonsense\r\n\r\n"))
        defer { server.close() }
        try await withClient { client async throws in
            #expect(await client.failed(.get(server.url()))?.detail.hasSuffix("does not answer in HTTP") == true)
        }
        #expect(server.requests.count == 1)
    }
}
