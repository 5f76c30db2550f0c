// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore
@testable import VedetteHTTP

@Suite("Repeated requests", .timeLimit(.minutes(10)))
struct RepetitionTests {
    private typealias Change = (String, @Sendable (inout Request) -> Void)

    private static let changes: [Change] = [
        ("url", { $0.url += "?1" }), ("header", { $0.headers[0] = Header("A", "2") }),
        ("name", { $0.headers[0] = Header("B", "1") }), ("own", { $0.headers[0].isOwn = true }),
        ("more headers", { $0.headers.append(Header("B", "1")) }), ("no header", { $0.headers = [] }),
        ("etag", { $0.validators.etag = "\"2\"" }), ("date", { $0.validators.lastModified = "x" }),
        ("digest", { $0.knownDigest = 1 }), ("session", { $0.session = "s" }), ("lane", { $0.lane = .slowHosts }),
        ("group", { $0.group = "g" }), ("limits", { $0.limits.total = .seconds(1) }),
        ("tls", { $0.tls.insecure = true }), ("proxy", { $0.proxy = .none }), ("cookies", { $0.cookies = .journal }),
        ("origin", { $0.originLimits.concurrency = 1 }), ("redirects", { $0.redirects = 0 }),
        ("reach", { $0.reach = .anywhere }), ("inspects", { $0.inspectsConnection = true }),
        ("method", { $0.method = "HEAD" }), ("body", { $0.body = [1] }),
        ("credentials", { $0.credentials = .bearer(Secret("t")) }),
        ("secret", { $0.headers[0] = Header("A", Secret("1")) }),
        ("token", { $0.tokenLogin = TokenLogin(url: "http://a.example/login") }),
        ("handshake", { $0.handshake = SessionHandshake(header: "X", status: 409) }),
        ("stream", { $0.stream = StreamSettings() }),
        ("proxy with a secret", { $0.proxy = .url("http://p:1", user: "u", password: Secret("p")) }),
    ]

    private func request(_ url: String = "http://a.example/") -> Request {
        Request(url: url, headers: [Header("A", "1")], validators: Validators(etag: "\"1\""))
    }

    @Test("a request repeats another one when nothing differs that is sent or that decides how")
    func differences() {
        #expect(request().repeats(request()))
        for (name, change) in Self.changes {
            var other = request()
            change(&other)
            #expect(!other.repeats(request()) && !request().repeats(other), "\(name)")
        }
    }

    @Test("texts that only look alike are different ones: a validator is sent byte for byte")
    func normalForms() {
        var (composed, decomposed) = (request(), request())
        (composed.validators.etag, decomposed.validators.etag) = ("\"\u{E9}\"", "\"e\u{301}\"")
        #expect(composed.validators == decomposed.validators && !composed.repeats(decomposed))
        #expect(composed.repeats(composed))
        (composed, decomposed) = (request(), request())
        (composed.headers, decomposed.headers) = ([Header("A", "\u{E9}")], [Header("A", "e\u{301}")])
        #expect(!composed.repeats(decomposed))
        composed.headers = [Header("A", "")]
        #expect(composed.repeats(composed) && !composed.repeats(decomposed))
    }

    @Test("a request with a secret is prepared each time, since its value may change")
    func secrets() async throws {
        let server = try WireServer(.ok())
        defer { server.close() }
        let token = Secret("old") { "new" }
        try await withClient { client in
            let request = Request(url: server.url(), headers: [Header("X-Token", token)])
            for _ in 0..<3 { _ = try await client.fetch(request) }
            #expect(await token.refresh())
            _ = try await client.fetch(request)
        }
        #expect(server.requests.flatMap { $0.header("X-Token") } == ["old", "old", "old", "new"])
    }

    @Test("the validators of the last response and the cookies that came meanwhile are sent with the next request")
    func additions() async throws {
        let server = try WireServer { $0.number == 2 ? .ok("c", "Set-Cookie: id=1") : .ok() }
        defer { server.close() }
        try await withClient { client in
            var request = request(server.url())
            request.session = "s"
            for _ in 0..<4 { _ = try await client.fetch(request) }
            request.validators = Validators(etag: "\"2\"")
            for _ in 0..<2 { _ = try await client.fetch(request) }
            request.headers = [Header("A", "2")]
            _ = try await client.fetch(request)
        }
        let requests = server.requests
        #expect(
            requests.flatMap { $0.header("If-None-Match") } == Array(repeating: "\"1\"", count: 4)
                + Array(repeating: "\"2\"", count: 3))
        #expect(requests.map { $0.header("Cookie") } == [[], [], [], ["id=1"], ["id=1"], ["id=1"], ["id=1"]])
        #expect(requests.flatMap { $0.header("A") } == ["1", "1", "1", "1", "1", "1", "2"])
    }
}
